package golang

import (
	"bufio"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"
)

// A Race is one transfer in virtual time.
type Race struct {
	Request *Request
	// Client and Server are the two ends of the path.
	Client, Server *Conn

	// Leaves, if set, sees every packet of the client.
	Leaves func(data []byte)

	started  time.Time
	received atomic.Int64
	sent     int64 // by the client

	mutex   sync.Mutex
	packets [1 << 16]packet
	count   uint64
	fresh   strings.Builder
	wake    chan struct{}
}

type packet struct {
	data    []byte
	to      *Conn
	from    *Conn
	arrived bool
}

// Ends gives what the stack itself counted. It is asked once, at the end.
type Ends func() End

// Main is the whole of a driver: `manifest` as the only argument prints stack.toml; otherwise it races. `begin`
// starts both ends inside the bubble, and returns; `header` is the number of octets of an IP packet that the
// stack does not write.
func Main(m *testing.M, stack *Stack) {
	if len(os.Args) == 2 && os.Args[1] == "manifest" {
		os.Stdout.WriteString(stack.Manifest())
		os.Exit(0)
	}
	// One goroutine at a time, garbage collected only between two answers: what happens at one instant then
	// happens in the same order in every run.
	runtime.GOMAXPROCS(1)
	runtime.MemProfileRate = 0
	debug.SetGCPercent(-1)
	m.Run()
}

// Virtual races in virtual time until the bench writes `end`.
func Virtual(t *testing.T, stack *Stack, header int, begin func(*Race) Ends) {
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	request := stack.ReadRequest(lines)
	cryptotest.SetGlobalRandom(t, request.Seed)
	synctest.Test(t, func(t *testing.T) {
		race := &Race{Request: request, started: time.Now(), wake: make(chan struct{}, 1)}
		race.Client, race.Server = race.conns(header)
		ends := begin(race)
		stack.Ready(request)
		race.answer(lines, ends)
	})
}

func (r *Race) answer(lines *bufio.Reader, ends Ends) {
	collected := time.Now()
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			os.Exit(0)
		}
		words := strings.Split(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case words[0] == "run" && len(words) >= 2:
			r.run(words[1], words[2:])
		case words[0] == "end" && len(words) == 1:
			end := ends()
			end.Received = r.received.Load()
			end.Sent = r.sent
			Finish(end)
		default:
			Fail("%q: expected `run UNTIL [ID…]` or `end`", line)
		}
		if time.Since(collected) >= time.Second {
			runtime.GC()
			synctest.Wait()
			collected = time.Now()
		}
	}
}

func (r *Race) run(text string, ids []string) {
	until, err := strconv.ParseInt(text, 10, 64)
	left := time.Duration(until) - time.Since(r.started)
	if err != nil || left < 0 {
		Fail("run %s: expected a time from %d on", text, time.Since(r.started))
	}
	for _, text := range ids {
		id, err := strconv.ParseUint(text, 10, 64)
		if err != nil || id >= r.count || r.count-id > uint64(len(r.packets)) {
			Fail("packet %s: expected one of the last %d of %d", text, len(r.packets), r.count)
		}
		packet := &r.packets[id%uint64(len(r.packets))]
		if !packet.arrived && packet.to.Arrives != nil {
			packet.to.Arrives(packet.data)
		}
		packet.arrived = true
		packet.to.arrive(packet)
	}
	synctest.Wait()
	if r.fresh.Len() == 0 && left > 0 {
		select {
		case <-r.wake: // by a packet that has been answered
		default:
		}
		timer := time.NewTimer(left)
		select {
		case <-r.wake:
		case <-timer.C:
		}
		timer.Stop()
		synctest.Wait()
	}
	r.mutex.Lock()
	answer := make([]byte, 0, 64+r.fresh.Len())
	answer = append(answer, "at "...)
	answer = strconv.AppendInt(answer, int64(time.Since(r.started)), 10)
	answer = append(answer, ' ')
	answer = strconv.AppendInt(answer, r.received.Load(), 10)
	answer = append(answer, r.fresh.String()...)
	answer = append(answer, '\n')
	r.fresh.Reset()
	r.mutex.Unlock()
	if _, err := os.Stdout.Write(answer); err != nil {
		os.Exit(0)
	}
}

// Received counts octets that the receiving application has read.
func (r *Race) Received(octets int64) {
	r.received.Add(octets)
}

// send numbers a packet, for the next answer.
func (r *Race) send(from *Conn, data []byte) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.packets[r.count%uint64(len(r.packets))] = packet{data: append([]byte(nil), data...), to: from.peer, from: from}
	r.count++
	if from == r.Client {
		r.sent++
		if r.Leaves != nil {
			r.Leaves(data)
		}
	}
	r.fresh.WriteString(from.mark)
	r.fresh.WriteString(strconv.Itoa(len(data) + from.header))
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

package golang

import (
	"bufio"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A Race is one transfer in virtual time.
type Race struct {
	Request *Request
	// Client and Server are the two ends of the path, for a stack that takes a net.PacketConn.
	Client, Server *Conn
	// ClientSends and ServerGets, if set, see the packets of the client: when they are sent, and when they arrive for
	// the first time.
	ClientSends, ServerGets func(data []byte)

	world World

	received atomic.Int64
	sent     int64 // by the client

	mutex   sync.Mutex
	packets [1 << 16]packet
	count   uint64
	fresh   strings.Builder
}

// A World is the two ends and their clock.
type World interface {
	// Now gives the time since the start.
	Now() time.Duration
	// Deliver hands over a packet that arrives.
	Deliver(fromClient bool, data []byte)
	// Pass handles what has arrived, and lets time pass until `until`, or until something is sent.
	Pass(until time.Duration)
	// Settle waits until nothing more happens at this instant.
	Settle()
	// End gives what the stack itself counted. It is asked once, at the end.
	End() End
}

type packet struct {
	data       []byte
	fromClient bool
	arrived    bool
}

// Quiet makes runs repeat: one goroutine at a time, and garbage collected only between two answers.
func Quiet() {
	runtime.GOMAXPROCS(1)
	runtime.MemProfileRate = 0
	debug.SetGCPercent(-1)
}

// Virtual races in a world that keeps its own time.
func (s *Stack) Virtual(begin func(*Race) World) {
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	race := &Race{Request: s.ReadRequest(lines)}
	race.world = begin(race)
	s.Ready(race.Request)
	race.serve(lines)
}

var runnable = []metrics.Sample{{Name: "/sched/goroutines/runnable:goroutines"}}

// Settle waits until no other goroutine has anything to do.
func Settle() {
	for {
		runtime.Gosched()
		if metrics.Read(runnable); runnable[0].Value.Uint64() == 0 {
			return
		}
	}
}

// Received counts octets that the receiving application has read.
func (r *Race) Received(octets int64) { r.received.Add(octets) }

// Send numbers a packet, for the next answer. `header` octets of the IP packet are not in `data`.
func (r *Race) Send(fromClient bool, data []byte, header int) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	data = append([]byte(nil), data...)
	r.packets[r.count%uint64(len(r.packets))] = packet{data: data, fromClient: fromClient}
	r.count++
	if fromClient {
		r.sent++
		r.fresh.WriteString(" c")
		if r.ClientSends != nil {
			r.ClientSends(data)
		}
	} else {
		r.fresh.WriteString(" s")
	}
	r.fresh.WriteString(strconv.Itoa(len(data) + header))
}

// HasSent tells whether packets wait for the next answer.
func (r *Race) HasSent() bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.fresh.Len() > 0
}

// serve answers the bench until it writes `end`.
func (r *Race) serve(lines *bufio.Reader) {
	collected := r.world.Now()
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
			end := r.world.End()
			end.Received = r.received.Load()
			end.Sent = r.sent
			Finish(end)
		default:
			Fail("%q: expected `run UNTIL [ID…]` or `end`", line)
		}
		if r.world.Now()-collected >= time.Second {
			runtime.GC()
			r.world.Settle()
			collected = r.world.Now()
		}
	}
}

func (r *Race) run(text string, ids []string) {
	until, err := strconv.ParseInt(text, 10, 64)
	if err != nil || time.Duration(until) < r.world.Now() {
		Fail("run %s: expected a time from %d on", text, r.world.Now())
	}
	for _, text := range ids {
		r.arrive(text)
	}
	r.world.Pass(time.Duration(until))
	r.mutex.Lock()
	answer := make([]byte, 0, 64+r.fresh.Len())
	answer = append(answer, "at "...)
	answer = strconv.AppendInt(answer, int64(r.world.Now()), 10)
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

func (r *Race) arrive(text string) {
	id, err := strconv.ParseUint(text, 10, 64)
	if err != nil || id >= r.count || r.count-id > uint64(len(r.packets)) {
		Fail("packet %s: expected one of the last %d of %d", text, len(r.packets), r.count)
	}
	packet := &r.packets[id%uint64(len(r.packets))]
	if !packet.arrived {
		packet.arrived = true
		if packet.fromClient && r.ServerGets != nil {
			r.ServerGets(packet.data)
		}
	}
	r.world.Deliver(packet.fromClient, packet.data)
}

package golang

import (
	"bufio"
	"net"
	"os"
	"sync"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"
)

// Main is the whole of a driver whose clock is that of testing/synctest: `manifest` as the only argument prints
// stack.toml; otherwise the one test races.
func Main(m *testing.M, stack *Stack) {
	stack.MaybeManifest()
	Quiet()
	m.Run()
}

// Virtual races in a bubble until the bench writes `end`. `begin` starts both ends, and gives what counts for the
// end; `header` is the number of octets of an IP packet that the stack does not write.
func Virtual(t *testing.T, stack *Stack, header int, begin func(*Race) func() End) {
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	request := stack.ReadRequest(lines)
	cryptotest.SetGlobalRandom(t, request.Seed)
	synctest.Test(t, func(t *testing.T) {
		bubble := &bubble{race: &Race{Request: request}, started: time.Now(), wake: make(chan struct{}, 1)}
		bubble.race.world = bubble
		bubble.race.Client, bubble.race.Server = bubble.conns(header)
		bubble.ends = begin(bubble.race)
		stack.Ready(request)
		bubble.race.serve(lines)
	})
}

// A bubble is a world on the clock of testing/synctest.
type bubble struct {
	race    *Race
	started time.Time
	ends    func() End
	// wake gets something whenever a packet is sent.
	wake chan struct{}
}

func (b *bubble) Now() time.Duration { return time.Since(b.started) }
func (b *bubble) Settle()            { synctest.Wait() }
func (b *bubble) End() End           { return b.ends() }

func (b *bubble) Deliver(fromClient bool, data []byte) {
	if fromClient {
		b.race.Server.arrive(data)
	} else {
		b.race.Client.arrive(data)
	}
}

func (b *bubble) Pass(until time.Duration) {
	synctest.Wait()
	if b.race.HasSent() || b.Now() == until {
		return
	}
	select {
	case <-b.wake: // by a packet that has been answered
	default:
	}
	timer := time.NewTimer(until - b.Now())
	select {
	case <-b.wake:
	case <-timer.C:
	}
	timer.Stop()
	synctest.Wait()
}

func (b *bubble) conns(header int) (client, server *Conn) {
	near := &net.UDPAddr{IP: net.IPv4(10, 0, 0, 1).To4(), Port: 40000}
	far := &net.UDPAddr{IP: net.IPv4(10, 0, 0, 2).To4(), Port: 443}
	client = &Conn{race: b.race, header: header, wake: b.wake, isClient: true, local: near, remote: far}
	server = &Conn{race: b.race, header: header, wake: b.wake, local: far, remote: near}
	for _, end := range []*Conn{client, server} {
		end.changed = sync.NewCond(&end.mutex)
	}
	return client, server
}

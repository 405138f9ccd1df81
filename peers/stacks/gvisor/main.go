// The driver of gVisor's netstack, in virtual time: two stacks in one process, on a clock of the driver's.
package main

import (
	"time"

	"unruffled/peers/stacks/golang"
)

var driver = golang.Stack{
	Name:     "gvisor",
	Title:    "gvisor",
	About:    "TCP of gVisor's netstack, in Go; RACK, without undo",
	Time:     "virtual",
	Controls: []string{"reno", "cubic"},
	Settings: settings,
}

const port = 5001

func main() {
	driver.MaybeManifest()
	golang.Quiet()
	driver.Virtual(begin)
}

func begin(race *golang.Race) golang.World {
	clock := &clock{}
	seed := int64(race.Request.Seed) * 2
	w := &world{
		race:   race,
		clock:  clock,
		client: newEnd(race.Request, clock, "10.0.0.1", seed),
		server: newEnd(race.Request, clock, "10.0.0.2", seed+1),
	}
	w.sender = golang.NewSender(race.Request.Octets)
	// How the losses at the end of slow start fall decides on minutes to come, see
	// findings/gvisor-rack-repairs-two-segments-a-timeout.sh. Seeds show the spread.
	w.sender.Vary(race.Request.Seed)
	w.reader = golang.NewReader()
	w.server.listen(port)
	w.client.connect("10.0.0.2", port)
	return w
}

// A world is both hosts.
type world struct {
	race           *golang.Race
	clock          *clock
	client, server *end
	sender         *golang.Sender
	reader         *golang.Reader
}

// Now gives the time since the start.
func (w *world) Now() time.Duration { return w.clock.elapsed() }

// Deliver hands over a packet.
func (w *world) Deliver(fromClient bool, data []byte) {
	if fromClient {
		w.server.arrive(data)
	} else {
		w.client.arrive(data)
	}
}

// Pass lets time pass.
func (w *world) Pass(until time.Duration) {
	w.instant()
	for w.clock.elapsed() <= until {
		// Whatever else is due at an instant at which something was sent is part of that instant.
		at, ok := w.clock.next()
		if w.race.HasSent() && (!ok || at > w.clock.elapsed()) {
			return
		}
		if !w.clock.advance(until) {
			return
		}
		w.instant()
	}
}

// instant lets the applications and the stacks do what they can do without time.
func (w *world) instant() {
	for {
		golang.Settle()
		moved := w.send(w.client, true)
		moved = w.send(w.server, false) || moved
		moved = w.applications() || moved
		if !moved {
			return
		}
	}
}

func (w *world) send(from *end, fromClient bool) (moved bool) {
	for data := from.leave(); data != nil; data = from.leave() {
		w.race.Send(fromClient, data, 0)
		moved = true
	}
	return moved
}

func (w *world) applications() (moved bool) {
	if w.server.accept(); w.server.endpoint != nil {
		if n := w.reader.ReadFrom(w.server); n > 0 {
			w.race.Received(n)
			moved = true
		}
	}
	return w.sender.WriteTo(w.client) || moved
}

// Settle waits for the stacks' goroutines.
func (w *world) Settle() { golang.Settle() }

// End gives the client's counts. The stack counts recoveries that proved needless, but not their segments, and its
// server takes every segment that it has not had.
func (w *world) End() golang.End {
	return golang.End{Lost: int64(w.client.stack.Stats().TCP.Retransmits.Value())}
}

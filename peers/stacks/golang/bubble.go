package golang

import (
	"bufio"
	"os"
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

// Virtual races in a bubble until the bench writes `end`. `begin` starts both ends, and returns; `header` is the
// number of octets of an IP packet that the stack does not write.
func Virtual(t *testing.T, stack *Stack, header int, begin func(*Race) Ends) {
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	request := stack.ReadRequest(lines)
	cryptotest.SetGlobalRandom(t, request.Seed)
	synctest.Test(t, func(t *testing.T) {
		started := time.Now()
		race := &Race{Request: request, settle: synctest.Wait}
		race.now = func() time.Duration { return time.Since(started) }
		wake := make(chan struct{}, 1)
		race.conns(header, wake)
		race.pass = func(until time.Duration) {
			synctest.Wait()
			if race.HasSent() || race.now() == until {
				return
			}
			select {
			case <-wake: // by a packet that has been answered
			default:
			}
			timer := time.NewTimer(until - race.now())
			select {
			case <-wake:
			case <-timer.C:
			}
			timer.Stop()
			synctest.Wait()
		}
		ends := begin(race)
		stack.Ready(request)
		race.serve(lines, ends)
	})
}

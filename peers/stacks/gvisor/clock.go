package main

import (
	"container/heap"
	"sync"
	"time"

	"gvisor.dev/gvisor/pkg/tcpip"
)

// A clock moves only when it is told to. Timers of one instant fire in the order in which they were set.
type clock struct {
	mutex sync.Mutex
	now   time.Duration
	due   timers
	count uint64
}

// The clock of the wall, at the start of a run.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Now gives the time of the wall.
func (c *clock) Now() time.Time { return epoch.Add(c.elapsed()) }

// NowMonotonic gives the time since the start, and an hour: zero means never to the stack.
func (c *clock) NowMonotonic() tcpip.MonotonicTime {
	return (tcpip.MonotonicTime{}).Add(time.Hour + c.elapsed())
}

func (c *clock) elapsed() time.Duration {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.now
}

// AfterFunc sets a timer.
func (c *clock) AfterFunc(after time.Duration, f func()) tcpip.Timer {
	timer := &timer{clock: c, f: f, index: -1}
	timer.Reset(after)
	return timer
}

// next gives the time of the next timer.
func (c *clock) next() (time.Duration, bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if len(c.due) == 0 {
		return 0, false
	}
	return c.due[0].at, true
}

// advance moves to a time, at which or before which no timer is due, or fires the next timer if one is.
func (c *clock) advance(to time.Duration) (fired bool) {
	c.mutex.Lock()
	if len(c.due) == 0 || c.due[0].at > to {
		c.now = to
		c.mutex.Unlock()
		return false
	}
	timer := heap.Pop(&c.due).(*timer)
	c.now = max(c.now, timer.at)
	c.mutex.Unlock()
	go timer.f()
	return true
}

type timer struct {
	clock *clock
	f     func()
	at    time.Duration
	order uint64
	index int // in the heap; -1 if not set
}

// Stop unsets the timer.
func (t *timer) Stop() bool {
	t.clock.mutex.Lock()
	defer t.clock.mutex.Unlock()
	if t.index < 0 {
		return false
	}
	heap.Remove(&t.clock.due, t.index)
	return true
}

// Reset sets the timer anew.
func (t *timer) Reset(after time.Duration) {
	t.Stop()
	t.clock.mutex.Lock()
	defer t.clock.mutex.Unlock()
	t.clock.count++
	t.at, t.order = t.clock.now+max(after, 0), t.clock.count
	heap.Push(&t.clock.due, t)
}

type timers []*timer

func (t timers) Len() int { return len(t) }
func (t timers) Less(i, j int) bool {
	return t[i].at < t[j].at || t[i].at == t[j].at && t[i].order < t[j].order
}
func (t timers) Swap(i, j int) {
	t[i], t[j] = t[j], t[i]
	t[i].index, t[j].index = i, j
}
func (t *timers) Push(value any) {
	timer := value.(*timer)
	timer.index = len(*t)
	*t = append(*t, timer)
}
func (t *timers) Pop() any {
	last := len(*t) - 1
	timer := (*t)[last]
	timer.index = -1
	*t = (*t)[:last]
	return timer
}

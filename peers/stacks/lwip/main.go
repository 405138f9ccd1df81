// The driver of lwIP as Debian builds it, in virtual time: two interfaces of one stack, on a clock of the driver's.
package main

/*
#cgo CFLAGS: -O2 -Wall
#cgo pkg-config: lwip
#include <stdlib.h>
#include "ends.h"
*/
import "C"

import (
	"context"
	"encoding/binary"
	"runtime"
	"time"
	"unsafe"

	"unruffled/peers/stacks/golang"
)

var driver = golang.Stack{
	Name:     "lwip",
	Title:    "lwip",
	About:    "TCP of lwIP in C, as Debian builds it: 64 KiB of window, no SACK; nothing can be set when it runs",
	Time:     "virtual",
	Controls: []string{"reno"},
	Settings: []string{},
}

func main() {
	driver.MaybeManifest()
	golang.Quiet()
	runtime.LockOSThread()
	driver.Virtual(begin)
}

func begin(race *golang.Race) golang.World {
	w := &world{race: race, sender: golang.NewSender(race.Request.Octets), reader: golang.NewReader()}
	race.ClientSends = w.count
	if race.Request.MTU < 576 || race.Request.MTU > 65535 {
		golang.Fail("mtu: %d: expected 576 to 65535", race.Request.MTU)
	}
	if err := C.ends_start(C.uint(race.Request.Seed), C.uint16_t(race.Request.MTU)); err != 0 {
		golang.Fail("connect: error %d of lwIP", int(err))
	}
	return w
}

// A world is both hosts.
type world struct {
	race   *golang.Race
	now    time.Duration
	sender *golang.Sender
	reader *golang.Reader

	lost    int64
	started bool
	// highest is the first octet that was not sent yet.
	highest uint32
}

// Now gives the time since the start.
func (w *world) Now() time.Duration { return w.now }

// Deliver hands over a packet.
func (w *world) Deliver(fromClient bool, data []byte) {
	from := C.int(0)
	if fromClient {
		from = 1
	}
	C.ends_arrive(from, unsafe.Pointer(&data[0]), C.uint16_t(len(data)))
}

// Pass lets time pass. The stack knows whole milliseconds only.
func (w *world) Pass(until time.Duration) {
	w.instant()
	for !w.race.HasSent() && w.now < until {
		next := until
		if sleep := C.ends_sleep(); sleep != C.UINT32_MAX {
			due := w.now.Truncate(time.Millisecond) + time.Duration(sleep)*time.Millisecond
			next = min(until, max(w.now, due))
		}
		w.now = next
		C.ends_clock(C.uint32_t(w.now / time.Millisecond))
		w.instant()
	}
}

// instant lets the stack and the applications do what they can do without time.
func (w *world) instant() {
	C.ends_timers()
	for moved := true; moved; {
		n := w.reader.ReadFrom(w)
		w.race.Received(n)
		moved = w.sender.WriteTo(w) || n > 0
	}
	for sent := C.ends_sent(); sent != nil; sent = C.ends_sent() {
		data := C.GoBytes(unsafe.Add(unsafe.Pointer(sent), C.sizeof_struct_sent), C.int(sent.length))
		w.race.Send(sent.from_client != 0, data, 0)
		C.free(unsafe.Pointer(sent))
	}
}

// Read reads what is there, or gives context.DeadlineExceeded if there is nothing.
func (w *world) Read(buffer []byte) (int, error) {
	n := C.ends_read(unsafe.Pointer(&buffer[0]), C.int(len(buffer)))
	if n == 0 {
		return 0, context.DeadlineExceeded
	}
	return int(n), nil
}

// Write writes as much as the stack takes.
func (w *world) Write(data []byte) (int, error) {
	return int(C.ends_write(unsafe.Pointer(&data[0]), C.int(len(data)))), nil
}

// count counts the segments that are sent again: the stack keeps no counts as Debian builds it.
func (w *world) count(packet []byte) {
	segment := packet[int(packet[0]&15)*4:]
	length := len(segment) - int(segment[12]>>4)*4
	first := binary.BigEndian.Uint32(segment[4:])
	if length == 0 {
		return
	}
	if w.started && int32(first-w.highest) < 0 {
		w.lost++
	}
	if end := first + uint32(length); !w.started || int32(end-w.highest) > 0 {
		w.highest, w.started = end, true
	}
}

// Settle has nothing to wait for.
func (w *world) Settle() {}

// End gives the counts.
func (w *world) End() golang.End { return golang.End{Lost: w.lost} }

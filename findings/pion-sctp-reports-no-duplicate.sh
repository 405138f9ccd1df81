#!/bin/sh
# pion/sctp 1.12.1 (the data channels of WebRTC in Go): the receiver never reports a duplicate.
#
# Guess:     a chunk that arrives twice is named in the next SACK ("Duplicate TSN", RFC 9260, section 3.3.4), and
#            the sender's reordering window grows with it, as association.go says (RACK, "DSACK-style inflation").
# Behaviour: of 20 chunks of which each arrives twice, no SACK names one. handleData asks canPush, which is false for
#            a TSN that is there, before it calls push, which alone records duplicates. Between two ends of pion/sctp
#            the reordering window so stays a quarter of the shortest RTT, and a path that is later than that is
#            sent everything late again for ever.
# Seen:      20 chunks twice, 0 duplicates reported
# Go 1.24 or newer is needed.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > go.mod <<'MOD'
module duplicates

go 1.24

require (
	github.com/pion/logging v0.2.4
	github.com/pion/sctp v1.12.1
)
MOD
cat > main.go <<'GO'
// Two associations over a pair of connections in memory.
package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/pion/logging"
	"github.com/pion/sctp"
)

// An end is a net.Conn over two channels.
type end struct {
	net.Conn
	in, out chan []byte
	sends   func(packet []byte) (copies int)
}

func (e *end) Read(b []byte) (int, error) { return copy(b, <-e.in), nil }
func (e *end) Write(b []byte) (int, error) {
	for range e.sends(b) {
		e.out <- append([]byte(nil), b...)
	}
	return len(b), nil
}
func (e *end) Close() error { return nil }

// chunks calls back with the type and the value of each chunk of a packet.
func chunks(packet []byte, each func(kind byte, value []byte)) {
	for rest := packet[12:]; len(rest) >= 4; {
		length := int(binary.BigEndian.Uint16(rest[2:]))
		each(rest[0], rest[4:length])
		rest = rest[min((length+3)&^3, len(rest)):]
	}
}

func main() {
	there, back := make(chan []byte, 1000), make(chan []byte, 1000)
	twice, reported := 0, 0
	sender := &end{in: back, out: there, sends: func(packet []byte) int {
		copies := 1
		chunks(packet, func(kind byte, _ []byte) {
			if kind == 0 || kind == 64 { // DATA, I-DATA
				twice++
				copies = 2
			}
		})
		return copies
	}}
	receiver := &end{in: there, out: back, sends: func(packet []byte) int {
		chunks(packet, func(kind byte, value []byte) {
			if kind == 3 { // SACK
				reported += int(binary.BigEndian.Uint16(value[10:]))
			}
		})
		return 1
	}}
	quiet := logging.NewDefaultLoggerFactory()
	quiet.DefaultLogLevel = logging.LogLevelDisabled
	go func() {
		association, err := sctp.Server(sctp.Config{NetConn: receiver, LoggerFactory: quiet})
		if err != nil {
			panic(err)
		}
		stream, _ := association.AcceptStream()
		io.Copy(io.Discard, stream)
	}()
	association, err := sctp.Client(sctp.Config{NetConn: sender, LoggerFactory: quiet})
	if err != nil {
		panic(err)
	}
	stream, _ := association.OpenStream(1, sctp.PayloadTypeWebRTCBinary)
	for range 20 {
		stream.Write(make([]byte, 1000))
		time.Sleep(50 * time.Millisecond)
	}
	time.Sleep(time.Second)
	fmt.Printf("%d chunks twice, %d duplicates reported\n", twice, reported)
}
GO
go mod tidy 2> /dev/null
seen=$(go run .)
echo "$seen"
[ "$seen" = "20 chunks twice, 0 duplicates reported" ]

#!/bin/sh
# quic-go 0.65.0: a late packet is discarded as a duplicate if it is older than an ACK that was acknowledged.
#
# Guess:     of the packets of a transfer, every 20th comes 100 ms late over an RTT of 50 ms. The receiver remembers 64
#            ranges, of which a few are open at any time, so it takes every one of them.
# Behaviour: the sender acknowledges an ACK now and then (every 20th asks for it). The receiver then forgets all numbers
#            up to the largest of that ACK (IgnoreBelow in internal/ackhandler/received_packet_tracker.go), and takes
#            whatever is older as a duplicate, also what it has never had.
# Seen:      of 64 late packets, 27 discarded as duplicates
# RFC 9000, section 13.2.4, describes this, and grants one RTT of reordering. What is later than that may as well be
# lost, and no threshold of the sender helps. The numbers vary by a few from run to run.
# Go 1.26 or newer is needed.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > go.mod <<'MOD'
module late

go 1.26

require github.com/quic-go/quic-go v0.65.0
MOD
cat > late_test.go <<'GO'
// Both ends in one process, in the virtual time of testing/synctest.
package late

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/qlog"
	"github.com/quic-go/quic-go/qlogwriter"
)

// An end is a net.PacketConn in memory.
type end struct {
	net.PacketConn
	address, peer *net.UDPAddr
	in            chan []byte
	send          func(packet []byte)
}

func (e *end) ReadFrom(b []byte) (int, net.Addr, error) { return copy(b, <-e.in), e.peer, nil }
func (e *end) WriteTo(b []byte, _ net.Addr) (int, error) {
	e.send(append([]byte(nil), b...))
	return len(b), nil
}
func (e *end) LocalAddr() net.Addr             { return e.address }
func (e *end) SetReadDeadline(time.Time) error { return nil }
func (e *end) SetReadBuffer(int) error         { return nil }
func (e *end) SetWriteBuffer(int) error        { return nil }

// A recorder takes the events of a connection.
type recorder func(qlogwriter.Event)

func (r recorder) AddProducer() qlogwriter.Recorder   { return r }
func (r recorder) RecordEvent(event qlogwriter.Event) { r(event) }
func (r recorder) Close() error                       { return nil }

func certificate() tls.Certificate {
	public, private, _ := ed25519.GenerateKey(rand.Reader)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, _ := x509.CreateCertificate(rand.Reader, template, template, public, private)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}
}

func TestLate(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1)
	synctest.Test(t, race)
}

func race(t *testing.T) {
	near, far := &net.UDPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 1}, &net.UDPAddr{IP: net.IPv4(10, 0, 0, 2), Port: 2}
	client := &end{address: near, peer: far, in: make(chan []byte, 10000)}
	server := &end{address: far, peer: near, in: make(chan []byte, 10000)}
	count, late := 0, 0
	client.send = func(packet []byte) {
		delay := 25 * time.Millisecond
		if count++; count%20 == 0 {
			late++
			delay += 100 * time.Millisecond
		}
		time.AfterFunc(delay, func() { server.in <- packet })
	}
	server.send = func(packet []byte) { time.AfterFunc(25*time.Millisecond, func() { client.in <- packet }) }
	had, discarded := map[int64]bool{}, 0
	config := &quic.Config{Tracer: func(context.Context, bool, quic.ConnectionID) qlogwriter.Trace {
		return recorder(func(event qlogwriter.Event) {
			switch event := event.(type) {
			case qlog.PacketReceived:
				if event.Header.PacketType == qlog.PacketType1RTT {
					had[int64(event.Header.PacketNumber)] = true
				}
			case qlog.PacketDropped:
				if event.Trigger == qlog.PacketDropDuplicate && !had[int64(event.Header.PacketNumber)] {
					discarded++
				}
			}
		})
	}}
	listener, err := (&quic.Transport{Conn: server}).Listen(
		&tls.Config{Certificates: []tls.Certificate{certificate()}, NextProtos: []string{"late"}}, config)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		conn, err := (&quic.Transport{Conn: client}).Dial(context.Background(), far,
			&tls.Config{InsecureSkipVerify: true, NextProtos: []string{"late"}}, &quic.Config{})
		if err != nil {
			panic(err)
		}
		stream, _ := conn.OpenUniStream()
		stream.Write(make([]byte, 1500000))
		stream.Close()
	}()
	conn, err := listener.Accept(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	stream, err := conn.AcceptUniStream(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, stream)
	fmt.Printf("of %d late packets, %d discarded as duplicates\n", late, discarded)
	os.Exit(0) // a bubble ends only with all its goroutines
}
GO
go mod tidy 2> /dev/null
seen=$(GOMAXPROCS=1 go test -run TestLate . 2> /dev/null | grep '^of ' || true)
echo "$seen"
# shellcheck disable=SC2086
set -- $seen
[ "${5:-0}" -ge $((${2:-0} / 4)) ] && [ "${5:-0}" -gt 0 ]

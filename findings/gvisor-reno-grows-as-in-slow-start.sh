#!/bin/sh
# gVisor netstack (module gvisor.dev/gvisor v0.0.0-20260905035102-160fafc42237): Reno, the default congestion control,
# grows by one segment for each acknowledged segment in congestion avoidance, as in slow start.
#
# Guess:     after a fast recovery, the window grows by one segment in each round trip (RFC 5681, section 3.1).
# Behaviour: updateCongestionAvoidance (pkg/tcpip/transport/tcp/reno.go) counts acknowledged segments. Once they are as
#            many as the window, it adds one to the window, and keeps the remainder of the count by the *new* window.
#            A count of 14 in a window of 14 makes the window 15, and 14 mod 15 = 14 remain. The next acknowledged
#            segment makes it 16, and so on, as long as each acknowledgement covers one segment: the window doubles
#            in a round trip. One that covers two ends it until the count meets the window again. A loss does not
#            reset the count.
# Seen:      ssthresh 34: from 34 to 61 by 300 acknowledgements, with some that cover two; 8 would be right
# In virtual time, where each covers one: from 14 to 25 by 13 acknowledgements (peers/stacks, 5 % late by 20 ms).
# The remainder has to be taken by the window before it grows.
# Go 1.26.3 or newer is needed.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > go.mod <<'MOD'
module growth

go 1.26.3

require gvisor.dev/gvisor v0.0.0-20260905035102-160fafc42237
MOD
cat > main.go <<'GO'
// Two stacks in one process, in real time, over a path of 10 ms each way.
package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"gvisor.dev/gvisor/pkg/buffer"
	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/adapters/gonet"
	"gvisor.dev/gvisor/pkg/tcpip/header"
	"gvisor.dev/gvisor/pkg/tcpip/link/channel"
	"gvisor.dev/gvisor/pkg/tcpip/network/ipv4"
	"gvisor.dev/gvisor/pkg/tcpip/stack"
	"gvisor.dev/gvisor/pkg/tcpip/transport/tcp"
)

const (
	size = 1420 // of a segment: 1500 less 80 for headers and options
	// Lost the first time:
	lost, segments = 60, 2000
	counted = 300 // acknowledgements
)

// The window when recovery ended, and after some acknowledgements.
var (
	recovering               bool
	before, threshold, since int
)

func probe(state *tcp.TCPEndpointState) {
	sender := state.Sender
	switch {
	case sender.FastRecovery.Active:
		recovering = true
		return
	case recovering:
		recovering, before, threshold = false, sender.SndCwnd, sender.Ssthresh
	case before > 0 && since == counted:
		fmt.Printf("ssthresh %d: from %d to %d by %d acknowledgements\n", threshold, before, sender.SndCwnd, counted)
	}
	if before > 0 {
		since++
	}
}

func host(address tcpip.Address, protocol stack.TransportProtocolFactory) (*stack.Stack, *channel.Endpoint) {
	link := channel.New(10000, 1500, "")
	host := stack.New(stack.Options{
		NetworkProtocols:   []stack.NetworkProtocolFactory{ipv4.NewProtocol},
		TransportProtocols: []stack.TransportProtocolFactory{protocol},
	})
	host.CreateNIC(1, link)
	host.AddProtocolAddress(1, tcpip.ProtocolAddress{
		Protocol: ipv4.ProtocolNumber, AddressWithPrefix: address.WithPrefix()}, stack.AddressProperties{})
	host.SetRouteTable([]tcpip.Route{{Destination: header.IPv4EmptySubnet, NIC: 1}})
	return host, link
}

// path carries packets in order, one in a millisecond, 10 ms later, and loses those that `loses` names.
func path(from, to *channel.Endpoint, loses func(data []byte) bool) {
	type packet struct {
		data []byte
		at   time.Time
	}
	way := make(chan packet, 10000)
	go func() {
		var free time.Time
		for {
			sent := from.ReadContext(context.Background())
			view := sent.ToView()
			data := append([]byte(nil), view.AsSlice()...)
			sent.DecRef()
			if !loses(data) {
				if now := time.Now(); free.Before(now) {
					free = now
				}
				free = free.Add(time.Millisecond)
				way <- packet{data, free.Add(10 * time.Millisecond)}
			}
		}
	}()
	go func() {
		for packet := range way {
			time.Sleep(time.Until(packet.at))
			to.InjectInbound(ipv4.ProtocolNumber, stack.NewPacketBuffer(stack.PacketBufferOptions{
				Payload: buffer.MakeWithData(packet.data)}))
		}
	}()
}

func main() {
	here, there := tcpip.AddrFrom4([4]byte{10, 0, 0, 1}), tcpip.AddrFrom4([4]byte{10, 0, 0, 2})
	sender, near := host(here, tcp.NewProtocolProbe(probe))
	receiver, far := host(there, tcp.NewProtocol)
	// The number of a segment is that of the first octet behind the SYN, in segments.
	var start uint32
	done := false
	path(near, far, func(data []byte) bool {
		segment := header.TCP(header.IPv4(data).Payload())
		if segment.Flags()&header.TCPFlagSyn != 0 {
			start = segment.SequenceNumber() + 1
		}
		number := 1 + int(segment.SequenceNumber()-start)/size
		if len(segment.Payload()) == 0 || number != lost || done {
			return false
		}
		done = true
		return true
	})
	path(far, near, func([]byte) bool { return false })
	server := tcpip.FullAddress{Addr: there, Port: 80}
	listener, _ := gonet.ListenTCP(receiver, server, ipv4.ProtocolNumber)
	conn, err := gonet.DialTCP(sender, server, ipv4.ProtocolNumber)
	if err != nil {
		panic(err)
	}
	accepted, _ := listener.Accept()
	go conn.Write(make([]byte, segments*size))
	io.ReadFull(accepted, make([]byte, segments*size))
}
GO
go mod tidy 2> /dev/null
go build -o growth .
seen=$(timeout 120 ./growth)
echo "$seen"
# One for each window is 8.
from=${seen#*from }
to=${seen#*to }
[ $((${to%% *} - ${from%% *})) -gt 16 ]

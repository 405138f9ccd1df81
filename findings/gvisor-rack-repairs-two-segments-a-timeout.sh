#!/bin/sh
# gVisor netstack (module gvisor.dev/gvisor v0.0.0-20260905035102-160fafc42237): with RACK, which is the default, a
# burst of losses is repaired two segments per retransmission timeout.
#
# Guess:     of 200 segments, 100 to 199 are lost once, as a full queue loses them after slow start. All are repaired
#            within some round trips of 20 ms behind one timeout of 200 ms, with RACK and without.
# Behaviour: with TCPRecovery 1, every timeout repairs two segments: 48 timeouts, 11.8 s. RACK marks what is lost, but
#            the number of segments in flight (SetPipe in snd.go, after RFC 6675) counts as lost only what three
#            segments SACKed above show. The rest of the hole counts as in flight, more than the window, and nothing
#            more is sent until the next timeout. With TCPRecovery 0, one timeout.
# Seen:      TCPRecovery 1: 48 timeouts, 100 segments sent again, 11.8 s
#            TCPRecovery 0: 1 timeouts, 100 segments sent again, 0.4 s
# If two segments or more arrive above the hole, all is well.
# A sender that overflows a queue at the end of slow start can so fall to a twentieth of the path for minutes.
# Go 1.26.3 or newer is needed.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > go.mod <<'MOD'
module burst

go 1.26.3

require gvisor.dev/gvisor v0.0.0-20260905035102-160fafc42237
MOD
cat > main.go <<'GO'
// Two stacks in one process, in real time: 200 segments over a path of 10 ms each way.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
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
	first, last, segments = 100, 199, 200
)

func host(address tcpip.Address, recovery int) (*stack.Stack, *channel.Endpoint) {
	link := channel.New(10000, 1500, "")
	host := stack.New(stack.Options{
		NetworkProtocols:   []stack.NetworkProtocolFactory{ipv4.NewProtocol},
		TransportProtocols: []stack.TransportProtocolFactory{tcp.NewProtocol},
	})
	option := tcpip.TCPRecovery(recovery)
	host.SetTransportProtocolOption(tcp.ProtocolNumber, &option)
	host.CreateNIC(1, link)
	host.AddProtocolAddress(1, tcpip.ProtocolAddress{
		Protocol: ipv4.ProtocolNumber, AddressWithPrefix: address.WithPrefix()}, stack.AddressProperties{})
	host.SetRouteTable([]tcpip.Route{{Destination: header.IPv4EmptySubnet, NIC: 1}})
	return host, link
}

// path carries packets in order, 10 ms later, and loses those that `loses` names.
func path(from, to *channel.Endpoint, loses func(data []byte) bool) {
	type packet struct {
		data []byte
		at   time.Time
	}
	way := make(chan packet, 10000)
	go func() {
		for {
			sent := from.ReadContext(context.Background())
			view := sent.ToView()
			data := append([]byte(nil), view.AsSlice()...)
			sent.DecRef()
			if !loses(data) {
				way <- packet{data, time.Now().Add(10 * time.Millisecond)}
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
	recovery, _ := strconv.Atoi(os.Args[1])
	here, there := tcpip.AddrFrom4([4]byte{10, 0, 0, 1}), tcpip.AddrFrom4([4]byte{10, 0, 0, 2})
	sender, near := host(here, recovery)
	receiver, far := host(there, recovery)
	// The number of a segment is that of the first octet behind the SYN, in segments.
	var start uint32
	lost := map[int]bool{}
	path(near, far, func(data []byte) bool {
		segment := header.TCP(header.IPv4(data).Payload())
		if segment.Flags()&header.TCPFlagSyn != 0 {
			start = segment.SequenceNumber() + 1
		}
		number := 1 + int(segment.SequenceNumber()-start)/size
		if len(segment.Payload()) == 0 || number < first || number > last || lost[number] {
			return false
		}
		lost[number] = true
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
	began := time.Now()
	io.ReadFull(accepted, make([]byte, segments*size))
	stats := sender.Stats().TCP
	fmt.Printf("%d timeouts, %d segments sent again, %.1f s\n", stats.Timeouts.Value(),
		stats.Retransmits.Value(), time.Since(began).Seconds())
}
GO
go mod tidy 2> /dev/null
go build -o burst .
rack=$(timeout 120 ./burst 1)
none=$(timeout 120 ./burst 0)
echo "TCPRecovery 1: $rack"
echo "TCPRecovery 0: $none"
# In real time, one timeout more or less.
[ "${rack%% *}" -ge 30 ] && [ "${none%% *}" -le 5 ]

package main

import (
	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/transport/tcp"

	"time"

	"unruffled/peers/stacks/golang"
)

// settings are the names of the options of the stack's TCP.
var settings = []string{"TCPSACKEnabled", "TCPRecovery", "TCPMinRTO", "TCPMaxRTO", "TCPModerateReceiveBuffer",
	"TCPSendBufferSizeRange", "TCPReceiveBufferSizeRange"}

func (e *end) set(request *golang.Request) {
	// Ten times what 100 Mb/s over 300 ms need.
	const buffer = 32 << 20
	option := func(name string, value tcpip.SettableTransportProtocolOption) {
		must(name, e.stack.SetTransportProtocolOption(tcp.ProtocolNumber, value))
	}
	control := tcpip.CongestionControlOption(*request.Control)
	option("the congestion control", &control)
	send := int(request.Number("TCPSendBufferSizeRange", tcp.MinBufferSize, buffer))
	option("TCPSendBufferSizeRange", &tcpip.TCPSendBufferSizeRangeOption{Min: tcp.MinBufferSize, Default: send, Max: send})
	receive := int(request.Number("TCPReceiveBufferSizeRange", tcp.MinBufferSize, buffer))
	option("TCPReceiveBufferSizeRange",
		&tcpip.TCPReceiveBufferSizeRangeOption{Min: tcp.MinBufferSize, Default: receive, Max: receive})
	sack := tcpip.TCPSACKEnabled(request.Bool("TCPSACKEnabled", true))
	option("TCPSACKEnabled", &sack)
	moderate := tcpip.TCPModerateReceiveBufferOption(request.Bool("TCPModerateReceiveBuffer", true))
	option("TCPModerateReceiveBuffer", &moderate)
	// The bits of net.ipv4.tcp_recovery: 1 RACK, 2 with a window that stays, 4 without a window.
	recovery := tcpip.TCPRecovery(request.Number("TCPRecovery", 0, int64(tcpip.TCPRACKLossDetection)))
	option("TCPRecovery", &recovery)
	// In milliseconds.
	if _, ok := request.Settings["TCPMaxRTO"]; ok {
		most := tcpip.TCPMaxRTOOption(time.Duration(request.Number("TCPMaxRTO", 1, 0)) * time.Millisecond)
		option("TCPMaxRTO", &most)
	}
	if _, ok := request.Settings["TCPMinRTO"]; ok {
		least := tcpip.TCPMinRTOOption(time.Duration(request.Number("TCPMinRTO", 1, 0)) * time.Millisecond)
		option("TCPMinRTO", &least)
	}
}

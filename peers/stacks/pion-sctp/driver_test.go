// The driver of pion/sctp (the data channels of WebRTC in Go), in virtual time. It is a test binary because
// testing/synctest asks for one. SCTP goes over UDP here, without the DTLS that WebRTC puts between.
package driver

import (
	"testing"
	"time"
	_ "unsafe" // for the linker's name of the generator

	"github.com/pion/logging"
	"github.com/pion/randutil"
	"github.com/pion/sctp"

	"unruffled/peers/stacks/golang"
)

var stack = golang.Stack{
	Name:     "pion-sctp",
	Title:    "pion/sctp",
	About:    "SCTP of WebRTC's data channels, in Go; RACK beside three misses",
	Time:     "virtual",
	Controls: []string{"reno"}, // RFC 9260
	Settings: []string{
		"MTU", "MaxReceiveBufferSize", "RTOMax", "MinCwnd", "FastRtxWnd", "CwndCAStep",
		"RackMinRTTWnd", "RackReoWndFloor", "RackWCDelAck",
	},
}

func TestMain(m *testing.M) { golang.Main(m, &stack) }

func TestRace(t *testing.T) { golang.Virtual(t, &stack, 28, begin) }

// The stack seeds its generator of tags and first TSNs before main, from the system's random numbers.
//
//go:linkname generator github.com/pion/sctp.globalMathRandomGenerator
var generator randutil.MathRandomGenerator

func begin(race *golang.Race) func() golang.End {
	generator = randutil.NewMathRandomGenerator()
	counts := newCounts()
	race.ClientSends = counts.leaves
	shared := options(race.Request)
	go receive(race, shared)
	go send(race, shared)
	return counts.end
}

func options(request *golang.Request) []sctp.AssociationOption {
	// Ten times what 100 Mb/s over 300 ms need.
	const buffer = 32 << 20
	quiet := logging.NewDefaultLoggerFactory()
	quiet.DefaultLogLevel = logging.LogLevelDisabled
	options := []sctp.AssociationOption{
		sctp.WithLoggerFactory(quiet),
		sctp.WithMaxReceiveBufferSize(uint32(request.Number("MaxReceiveBufferSize", 1, buffer))),
	}
	number := func(name string, least int64, option func(int64) sctp.AssociationOption) {
		if _, ok := request.Settings[name]; ok {
			options = append(options, option(request.Number(name, least, 0)))
		}
	}
	number("MTU", 100, func(n int64) sctp.AssociationOption { return sctp.WithMTU(uint32(n)) })
	number("RTOMax", 1, func(n int64) sctp.AssociationOption { return sctp.WithRTOMax(float64(n)) })
	number("MinCwnd", 0, func(n int64) sctp.AssociationOption { return sctp.WithMinCwnd(uint32(n)) })
	number("FastRtxWnd", 0, func(n int64) sctp.AssociationOption { return sctp.WithFastRtxWnd(uint32(n)) })
	number("CwndCAStep", 0, func(n int64) sctp.AssociationOption { return sctp.WithCwndCAStep(uint32(n)) })
	duration := func(name string, option func(time.Duration) sctp.AssociationRACKOption) {
		if text, ok := request.Settings[name]; ok {
			value, err := time.ParseDuration(text)
			if err != nil || value <= 0 {
				golang.Fail("settings: %s: %s: expected a duration, such as 100ms", name, text)
			}
			options = append(options, sctp.WithRACKOptions(option(value)))
		}
	}
	duration("RackMinRTTWnd", sctp.WithRackMinRTTWnd)
	duration("RackReoWndFloor", sctp.WithRackReoWndFloor)
	duration("RackWCDelAck", sctp.WithRackWCDelAck)
	return options
}

func receive(race *golang.Race, shared []sctp.AssociationOption) {
	options := []sctp.ServerOption{sctp.WithNetConn(race.Server)}
	for _, option := range shared {
		options = append(options, option)
	}
	association, err := sctp.ServerWithOptions(options...)
	if err != nil {
		golang.Fail("the server: %v", err)
	}
	stream, err := association.AcceptStream()
	if err != nil {
		golang.Fail("accept a stream: %v", err)
	}
	golang.Receive(stream, race.Received)
}

func send(race *golang.Race, shared []sctp.AssociationOption) {
	options := []sctp.ClientOption{sctp.WithNetConn(race.Client)}
	for _, option := range shared {
		options = append(options, option)
	}
	association, err := sctp.ClientWithOptions(options...)
	if err != nil {
		golang.Fail("the client: %v", err)
	}
	stream, err := association.OpenStream(1, sctp.PayloadTypeWebRTCBinary)
	if err != nil {
		golang.Fail("open a stream: %v", err)
	}
	messages := &messages{stream: stream, low: make(chan struct{}, 1)}
	stream.SetBufferedAmountLowThreshold(low)
	stream.OnBufferedAmountLow(func() {
		select {
		case messages.low <- struct{}{}:
		default:
		}
	})
	if err := golang.Send(messages, race.Request.Octets); err != nil {
		golang.Fail("send: %v", err)
	}
}

const (
	// The size of a message that applications of WebRTC keep to.
	message = 16 << 10
	// The stack takes any amount: as with WebRTC's bufferedAmount, more is written while less than this
	// waits, which is twice what 100 Mb/s over 300 ms need.
	low  = 8 << 20
	high = 2 * low
)

// messages cuts what is sent into messages.
type messages struct {
	stream *sctp.Stream
	low    chan struct{}
}

func (m *messages) Write(data []byte) (int, error) {
	for at := 0; at < len(data); at += message {
		for m.stream.BufferedAmount() > high {
			<-m.low
		}
		if _, err := m.stream.Write(data[at:min(at+message, len(data))]); err != nil {
			return at, err
		}
	}
	return len(data), nil
}

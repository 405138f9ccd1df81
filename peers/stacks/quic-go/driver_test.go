// The driver of quic-go, in virtual time. It is a test binary because testing/synctest asks for one.
package driver

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/qlogwriter"

	"unruffled/peers/stacks/golang"
)

var stack = golang.Stack{
	Name:     "quic-go",
	Title:    "quic-go",
	About:    "QUIC in Go; nothing of its loss detection, pacing or congestion control can be set",
	Time:     "virtual",
	Controls: []string{"reno"},
	Settings: []string{
		"InitialPacketSize", "DisablePathMTUDiscovery", "InitialStreamReceiveWindow", "MaxStreamReceiveWindow",
		"InitialConnectionReceiveWindow", "MaxConnectionReceiveWindow",
	},
}

func TestMain(m *testing.M) { golang.Main(m, &stack) }

func TestRace(t *testing.T) { golang.Virtual(t, &stack, 28, begin) }

func begin(race *golang.Race) func() golang.End {
	serverTLS, clientTLS := golang.TLS()
	counts := &counts{had: map[int64]bool{}}
	listener, err := (&quic.Transport{Conn: newConn(race.Server)}).Listen(serverTLS, config(race, counts.server))
	if err != nil {
		golang.Fail("listen: %v", err)
	}
	go receive(race, listener)
	go send(race, &quic.Transport{Conn: newConn(race.Client)}, clientTLS, config(race, counts.client))
	return counts.end
}

func config(race *golang.Race, record func(qlogwriter.Event)) *quic.Config {
	// Ten times what 100 Mb/s over 300 ms need.
	const window = 32 << 20
	number := func(name string, otherwise int64) uint64 { return uint64(race.Request.Number(name, 0, otherwise)) }
	size := number("InitialPacketSize", 0)
	if size != 0 && size < 1200 || size > 65535 {
		golang.Fail("settings: InitialPacketSize: %d: expected 0, or 1200 to 65535", size)
	}
	return &quic.Config{
		InitialPacketSize:              uint16(size),
		DisablePathMTUDiscovery:        race.Request.Bool("DisablePathMTUDiscovery", false),
		InitialStreamReceiveWindow:     number("InitialStreamReceiveWindow", window),
		MaxStreamReceiveWindow:         number("MaxStreamReceiveWindow", window),
		InitialConnectionReceiveWindow: number("InitialConnectionReceiveWindow", window),
		MaxConnectionReceiveWindow:     number("MaxConnectionReceiveWindow", window),
		HandshakeIdleTimeout:           time.Minute,
		MaxIdleTimeout:                 10 * time.Minute,
		Tracer: func(context.Context, bool, quic.ConnectionID) qlogwriter.Trace {
			return recorder(record)
		},
	}
}

func receive(race *golang.Race, listener *quic.Listener) {
	conn, err := listener.Accept(context.Background())
	if err != nil {
		golang.Fail("accept: %v", err)
	}
	stream, err := conn.AcceptUniStream(context.Background())
	if err != nil {
		golang.Fail("accept a stream: %v", err)
	}
	golang.Receive(stream, race.Received)
}

func send(race *golang.Race, transport *quic.Transport, tls *tlsConfig, config *quic.Config) {
	conn, err := transport.Dial(context.Background(), race.Server.LocalAddr(), tls, config)
	if err != nil {
		golang.Fail("dial: %v", err)
	}
	stream, err := conn.OpenUniStream()
	if err != nil {
		golang.Fail("open a stream: %v", err)
	}
	if err := golang.Send(stream, race.Request.Octets); err != nil {
		golang.Fail("send: %v", err)
	}
	stream.Close()
}

// A conn is a socket on which Don't Fragment can be set: without it, quic-go does not look for the path's MTU. The
// socket itself is not used.
type conn struct{ *golang.Conn }

func newConn(inner *golang.Conn) conn { return conn{inner} }

func (conn) SyscallConn() (syscall.RawConn, error) { return socket{}, nil }

// quic-go wants to enlarge buffers, and prints a warning where it cannot.
func (conn) SetReadBuffer(int) error  { return nil }
func (conn) SetWriteBuffer(int) error { return nil }

type socket struct{}

var descriptor, descriptorError = syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM, 0)

func (socket) Control(f func(fd uintptr)) error {
	if descriptorError != nil {
		return descriptorError
	}
	f(uintptr(descriptor))
	return nil
}
func (socket) Read(func(uintptr) bool) error  { return syscall.ENOTSUP }
func (socket) Write(func(uintptr) bool) error { return syscall.ENOTSUP }

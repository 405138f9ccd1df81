// The driver of golang.org/x/net/quic, in virtual time. It is a test binary because testing/synctest asks for one.
package driver

import (
	"context"
	"crypto/tls"
	"log/slog"
	"testing"
	"time"

	"golang.org/x/net/quic"

	"unruffled/peers/stacks/golang"
)

var stack = golang.Stack{
	Name:     "x-net-quic",
	Title:    "golang.org/x/net/quic",
	About:    "QUIC of the Go project; nothing of its loss detection, pacing or congestion control can be set",
	Time:     "virtual",
	Controls: []string{"reno"},
	Settings: []string{"MaxStreamReadBufferSize", "MaxStreamWriteBufferSize", "MaxConnReadBufferSize"},
}

func TestMain(m *testing.M) { golang.Main(m, &stack) }

func TestRace(t *testing.T) { golang.Virtual(t, &stack, 28, begin) }

func begin(race *golang.Race) func() golang.End {
	serverTLS, clientTLS := golang.TLS()
	counts := &counts{}
	race.ClientSends, race.ServerGets = counts.leaves, counts.arrives
	server, err := quic.NewEndpoint(race.Server, config(race, serverTLS, counts.server))
	if err != nil {
		golang.Fail("the server's endpoint: %v", err)
	}
	client, err := quic.NewEndpoint(race.Client, nil)
	if err != nil {
		golang.Fail("the client's endpoint: %v", err)
	}
	go receive(race, server)
	go send(race, client, config(race, clientTLS, counts.client))
	return counts.end
}

func config(race *golang.Race, tls *tls.Config, record func(slog.Record)) *quic.Config {
	// Ten times what 100 Mb/s over 300 ms need.
	const buffer = 32 << 20
	number := func(name string) int64 { return race.Request.Number(name, 1, buffer) }
	return &quic.Config{
		TLSConfig:                tls,
		MaxStreamReadBufferSize:  number("MaxStreamReadBufferSize"),
		MaxStreamWriteBufferSize: number("MaxStreamWriteBufferSize"),
		MaxConnReadBufferSize:    number("MaxConnReadBufferSize"),
		HandshakeTimeout:         time.Minute,
		MaxIdleTimeout:           10 * time.Minute,
		QLogLogger:               slog.New(handler(record)),
	}
}

func receive(race *golang.Race, endpoint *quic.Endpoint) {
	conn, err := endpoint.Accept(context.Background())
	if err != nil {
		golang.Fail("accept: %v", err)
	}
	stream, err := conn.AcceptStream(context.Background())
	if err != nil {
		golang.Fail("accept a stream: %v", err)
	}
	golang.Receive(stream, race.Received)
}

func send(race *golang.Race, endpoint *quic.Endpoint, config *quic.Config) {
	conn, err := endpoint.Dial(context.Background(), "udp", race.Server.LocalAddr().String(), config)
	if err != nil {
		golang.Fail("dial: %v", err)
	}
	stream, err := conn.NewSendOnlyStream(context.Background())
	if err != nil {
		golang.Fail("open a stream: %v", err)
	}
	if err := golang.Send(stream, race.Request.Octets); err != nil {
		golang.Fail("send: %v", err)
	}
	stream.CloseWrite()
}

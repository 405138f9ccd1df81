package driver

import (
	"context"
	"log/slog"

	"golang.org/x/net/quic"

	"unruffled/peers/stacks/golang"
)

// counts is what the stack's own events say. It logs nothing when its server discards a packet: these are the
// packets of 1-RTT that arrived, less those that it says it received. All goroutines of a race run one at a time.
type counts struct {
	lost, arrived, received int64
	// sent is the number of the last packet of 1-RTT. The first ones share a datagram with the handshake, and
	// are not counted: those up to shared.
	sent, shared int64
}

func (c *counts) client(event slog.Record) {
	switch event.Message {
	case "recovery:packet_lost":
		c.lost++
	case "transport:packet_sent":
		if kind, number := header(event); kind == "1RTT" {
			c.sent = number
		}
	}
}

func (c *counts) server(event slog.Record) {
	if event.Message == "transport:packet_received" {
		if kind, number := header(event); kind == "1RTT" && number > c.shared {
			c.received++
		}
	}
}

// isLong tells whether a datagram begins with a packet of the handshake.
func isLong(data []byte) bool { return data[0]&0x80 != 0 }

func (c *counts) leaves(data []byte) {
	if isLong(data) {
		c.shared = c.sent
	}
}

func (c *counts) arrives(data []byte) {
	if !isLong(data) {
		c.arrived++
	}
}

func (c *counts) end() golang.End {
	discarded := c.arrived - c.received
	return golang.End{Lost: c.lost, Discarded: &discarded}
}

// header gives the type and the number of the packet of an event.
func header(event slog.Record) (kind string, number int64) {
	event.Attrs(func(attribute slog.Attr) bool {
		if attribute.Key != "header" {
			return true
		}
		for _, field := range attribute.Value.Group() {
			switch field.Key {
			case "packet_type":
				kind = field.Value.String()
			case "packet_number":
				number = int64(field.Value.Uint64())
			}
		}
		return false
	})
	return kind, number
}

// A handler takes the events of one connection.
type handler func(slog.Record)

func (h handler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= quic.QLogLevelPacket
}
func (h handler) WithAttrs([]slog.Attr) slog.Handler { return h }
func (h handler) WithGroup(string) slog.Handler      { return h }
func (h handler) Handle(_ context.Context, event slog.Record) error {
	h(event)
	return nil
}

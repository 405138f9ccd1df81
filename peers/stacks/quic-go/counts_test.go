package driver

import (
	"crypto/tls"

	"github.com/quic-go/quic-go/qlog"
	"github.com/quic-go/quic-go/qlogwriter"

	"unruffled/peers/stacks/golang"
)

type tlsConfig = tls.Config

// counts is what quic-go's own events say. All goroutines of a race run one at a time.
type counts struct {
	lost, spurious, discarded int64
	// had holds the numbers of the packets of 1-RTT that the server has taken.
	had map[int64]bool
}

func (c *counts) client(event qlogwriter.Event) {
	switch event := event.(type) {
	case qlog.PacketLost:
		// A lost probe for the path's MTU is not a loss to quic-go.
		if !event.IsMTUProbePacket {
			c.lost++
		}
	case qlog.SpuriousLoss:
		c.spurious++
	}
}

func (c *counts) server(event qlogwriter.Event) {
	switch event := event.(type) {
	case qlog.PacketReceived:
		if event.Header.PacketType == qlog.PacketType1RTT {
			c.had[int64(event.Header.PacketNumber)] = true
		}
	case qlog.PacketDropped:
		number := int64(event.Header.PacketNumber)
		if event.Trigger == qlog.PacketDropDuplicate && event.Header.PacketType == qlog.PacketType1RTT && !c.had[number] {
			c.discarded++
			c.had[number] = true
		}
	}
}

func (c *counts) end() golang.End {
	return golang.End{Lost: c.lost, Spurious: &c.spurious, Discarded: &c.discarded}
}

// A recorder takes the events of one connection.
type recorder func(qlogwriter.Event)

func (r recorder) AddProducer() qlogwriter.Recorder   { return r }
func (r recorder) RecordEvent(event qlogwriter.Event) { r(event) }
func (r recorder) Close() error                       { return nil }

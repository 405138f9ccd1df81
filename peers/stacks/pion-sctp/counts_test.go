package driver

import (
	"encoding/binary"

	"unruffled/peers/stacks/golang"
)

// counts is read from the packets, which are in clear: the stack keeps its own counts to itself. It cannot know which
// losses were spurious, since its receiver reports no duplicates. All goroutines of a race run one at a time.
type counts struct {
	lost int64
	// sent holds how often each chunk of data was sent, by its TSN.
	sent map[uint32]int
}

func newCounts() *counts { return &counts{sent: map[uint32]int{}} }

// The types of chunks, RFC 9260, section 3.2, and RFC 8260, section 2.1.
const (
	data  = 0
	iData = 64
)

// leaves counts the chunks of data that the client sends again.
func (c *counts) leaves(packet []byte) {
	chunks(packet, func(kind byte, body []byte) {
		if (kind == data || kind == iData) && len(body) >= 4 {
			tsn := binary.BigEndian.Uint32(body)
			if c.sent[tsn]++; c.sent[tsn] > 1 {
				c.lost++
			}
		}
	})
}

// chunks goes through a packet, behind its common header.
func chunks(packet []byte, each func(kind byte, body []byte)) {
	for rest := packet[min(12, len(packet)):]; len(rest) >= 4; {
		length := int(binary.BigEndian.Uint16(rest[2:]))
		if length < 4 || length > len(rest) {
			return
		}
		each(rest[0], rest[4:length])
		rest = rest[min((length+3)&^3, len(rest)):]
	}
}

func (c *counts) end() golang.End { return golang.End{Lost: c.lost} }

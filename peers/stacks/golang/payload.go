package golang

import (
	"bytes"
	"io"
	"math/rand/v2"
)

// What is sent: the octet at each position follows from the position, with a period that divides no packet.
const period = 65521

var pattern = func() []byte {
	octets := make([]byte, period+piece)
	for i := range octets {
		at := uint32(i % period)
		octets[i] = byte((at*2654435761 + 12345) >> 13)
	}
	return octets
}()

// So much is written and read at once: a stack that takes less is asked again at once.
const piece = 64 << 10

// Send writes as much as the stack takes: `octets`, or without end.
func Send(to io.Writer, octets *int64) error {
	sender := NewSender(octets)
	for {
		next := sender.next()
		if len(next) == 0 {
			return nil
		}
		n, err := to.Write(next)
		if err != nil {
			return err
		}
		sender.taken(n)
	}
}

// A Sender is the same for a stack that does not wait.
type Sender struct {
	position int64
	left     *int64
	// pieces, if set, draws the sizes of what is written at once.
	pieces *rand.Rand
	drawn  int64
}

// NewSender gives the sender of `octets`, or of octets without end.
func NewSender(octets *int64) *Sender { return &Sender{left: octets, drawn: piece} }

// Vary draws how much is written at once, from 8 to 64 KiB, for a stack whose fate depends on it.
func (s *Sender) Vary(seed uint64) { s.pieces = rand.New(rand.NewPCG(seed, 0)) }

func (s *Sender) next() []byte {
	length := s.drawn
	if s.left != nil {
		length = min(length, *s.left-s.position)
	}
	start := s.position % period
	return pattern[start : start+length]
}

func (s *Sender) taken(n int) {
	s.position += int64(n)
	if s.pieces != nil {
		s.drawn = piece/8 + s.pieces.Int64N(piece-piece/8+1)
	}
}

// WriteTo writes until the stack takes nothing, and tells whether it took something.
func (s *Sender) WriteTo(to io.Writer) (moved bool) {
	for {
		n := 0
		if next := s.next(); len(next) > 0 {
			n, _ = to.Write(next)
		}
		if n == 0 {
			return moved
		}
		s.taken(n)
		moved = true
	}
}

// Receive reads everything at once, compares it with what was sent, and tells how much it read each time.
func Receive(from io.Reader, read func(octets int64)) error {
	reader := NewReader()
	for {
		n, err := reader.read(from)
		read(n)
		if err != nil {
			return err
		}
	}
}

// A Reader is the same for a stack that does not wait.
type Reader struct {
	position int64
	buffer   []byte
}

// NewReader gives a reader at the first octet.
func NewReader() *Reader { return &Reader{buffer: make([]byte, piece)} }

// ReadFrom reads until nothing is there, or an error, and gives how many octets it read.
func (r *Reader) ReadFrom(from io.Reader) (octets int64) {
	for {
		n, err := r.read(from)
		octets += n
		if err != nil {
			return octets
		}
	}
}

func (r *Reader) read(from io.Reader) (int64, error) {
	n, err := from.Read(r.buffer)
	start := r.position % period
	if expected := pattern[start : start+int64(n)]; !bytes.Equal(r.buffer[:n], expected) {
		Fail("octets %d to %d differ from what was sent", r.position, r.position+int64(n)-1)
	}
	r.position += int64(n)
	return int64(n), err
}

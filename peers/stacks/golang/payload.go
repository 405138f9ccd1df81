package golang

import "io"

// What is sent: the octet at each position follows from the position, with a period that divides no packet.
const period = 65521

var pattern = func() []byte {
	octets := make([]byte, period+chunk)
	for i := range octets {
		at := uint32(i % period)
		octets[i] = byte((at*2654435761 + 12345) >> 13)
	}
	return octets
}()

// The sender writes so much at once: a stack that takes less is asked again at once.
const chunk = 1 << 20

// Send writes as much as the stack takes: `octets`, or without end.
func Send(to io.Writer, octets *int64) error {
	for position := int64(0); ; {
		length := int64(chunk)
		if octets != nil {
			length = min(length, *octets-position)
		}
		if length == 0 {
			return nil
		}
		start := position % period
		n, err := to.Write(pattern[start : start+length])
		if err != nil {
			return err
		}
		position += int64(n)
	}
}

// Receive reads everything at once, compares it with what was sent, and tells how much it read each time.
func Receive(from io.Reader, read func(octets int64)) error {
	buffer := make([]byte, 64<<10)
	for position := int64(0); ; {
		n, err := from.Read(buffer)
		start := position % period
		for i, octet := range buffer[:n] {
			if octet != pattern[start+int64(i)] {
				Fail("octet %d differs from what was sent", position+int64(i))
			}
		}
		position += int64(n)
		read(int64(n))
		if err != nil {
			return err
		}
	}
}

package golang

import (
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// A Conn is one end of the path: a net.PacketConn in memory, with one peer.
type Conn struct {
	race     *Race
	isClient bool
	header   int
	local    net.Addr
	remote   net.Addr
	wake     chan struct{}

	mutex    sync.Mutex
	changed  *sync.Cond
	arrived  [][]byte
	deadline time.Time
	alarm    *time.Timer
	closed   bool
}

func (c *Conn) arrive(data []byte) {
	c.mutex.Lock()
	c.arrived = append(c.arrived, data)
	c.mutex.Unlock()
	c.changed.Broadcast()
}

// ReadFrom waits for the next packet.
func (c *Conn) ReadFrom(buffer []byte) (int, net.Addr, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for {
		switch {
		case c.closed:
			return 0, nil, net.ErrClosed
		case !c.deadline.IsZero() && !time.Now().Before(c.deadline):
			return 0, nil, os.ErrDeadlineExceeded
		case len(c.arrived) > 0:
			data := c.arrived[0]
			c.arrived = c.arrived[1:]
			return copy(buffer, data), c.remote, nil
		}
		c.changed.Wait()
	}
}

// WriteTo sends a packet, or refuses it as a socket does if it is larger than the path carries.
func (c *Conn) WriteTo(data []byte, _ net.Addr) (int, error) {
	if len(data)+c.header > c.race.Request.MTU {
		return 0, syscall.EMSGSIZE
	}
	c.race.Send(c.isClient, data, c.header)
	select {
	case c.wake <- struct{}{}:
	default:
	}
	return len(data), nil
}

// Read, Write and RemoteAddr make a net.Conn of it.
func (c *Conn) Read(buffer []byte) (int, error) {
	n, _, err := c.ReadFrom(buffer)
	return n, err
}

// Write sends a packet to the peer.
func (c *Conn) Write(data []byte) (int, error) { return c.WriteTo(data, nil) }

// LocalAddr gives the address of this end.
func (c *Conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr gives the address of the other end.
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

// Close wakes who reads.
func (c *Conn) Close() error {
	c.mutex.Lock()
	c.closed = true
	c.mutex.Unlock()
	c.changed.Broadcast()
	return nil
}

// SetReadDeadline wakes who reads when the time has come.
func (c *Conn) SetReadDeadline(at time.Time) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.deadline = at
	if c.alarm != nil {
		c.alarm.Stop()
	}
	if !at.IsZero() {
		c.alarm = time.AfterFunc(time.Until(at), c.changed.Broadcast)
	}
	return nil
}

// SetWriteDeadline does nothing: a write does not wait.
func (c *Conn) SetWriteDeadline(time.Time) error { return nil }

// SetDeadline is SetReadDeadline.
func (c *Conn) SetDeadline(at time.Time) error { return c.SetReadDeadline(at) }

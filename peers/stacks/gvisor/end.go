package main

import (
	"bytes"
	"context"
	"io"
	"math/rand"
	"sync"

	"gvisor.dev/gvisor/pkg/buffer"
	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/header"
	"gvisor.dev/gvisor/pkg/tcpip/link/channel"
	"gvisor.dev/gvisor/pkg/tcpip/network/ipv4"
	"gvisor.dev/gvisor/pkg/tcpip/stack"
	"gvisor.dev/gvisor/pkg/tcpip/transport/tcp"
	"gvisor.dev/gvisor/pkg/waiter"

	"unruffled/peers/stacks/golang"
)

const nic = 1

// An end is one host with a stack of its own.
type end struct {
	stack *stack.Stack
	link  *channel.Endpoint
	queue waiter.Queue
	// endpoint is the connection; for a server, listener takes it.
	endpoint, listener tcpip.Endpoint
}

func newEnd(request *golang.Request, clock tcpip.Clock, address string, seed int64) *end {
	source := &lockedSource{source: rand.NewSource(seed).(rand.Source64)}
	e := &end{
		stack: stack.New(stack.Options{
			NetworkProtocols:   []stack.NetworkProtocolFactory{ipv4.NewProtocol},
			TransportProtocols: []stack.TransportProtocolFactory{tcp.NewProtocol},
			Clock:              clock,
			RandSource:         source,
			SecureRNG:          rand.New(source),
		}),
		link: channel.New(1<<16, uint32(request.MTU), ""),
	}
	must("create the interface", e.stack.CreateNIC(nic, e.link))
	must("add the address", e.stack.AddProtocolAddress(nic, tcpip.ProtocolAddress{
		Protocol:          ipv4.ProtocolNumber,
		AddressWithPrefix: parse(address).WithPrefix(),
	}, stack.AddressProperties{}))
	e.stack.SetRouteTable([]tcpip.Route{{Destination: header.IPv4EmptySubnet, NIC: nic}})
	e.set(request)
	return e
}

func parse(address string) tcpip.Address {
	var octets [4]byte
	at := 0
	for _, c := range address {
		if c == '.' {
			at++
		} else {
			octets[at] = octets[at]*10 + byte(c-'0')
		}
	}
	return tcpip.AddrFrom4(octets)
}

// listen waits for a connection.
func (e *end) listen(port uint16) {
	listener, err := e.stack.NewEndpoint(tcp.ProtocolNumber, ipv4.ProtocolNumber, &e.queue)
	must("make a socket", err)
	must("bind", listener.Bind(tcpip.FullAddress{Port: port}))
	// With a backlog of 1 the first connection already gets a SYN cookie, which keeps neither SACK nor a scale.
	must("listen", listener.Listen(16))
	e.listener = listener
}

// connect opens a connection.
func (e *end) connect(address string, port uint16) {
	endpoint, err := e.stack.NewEndpoint(tcp.ProtocolNumber, ipv4.ProtocolNumber, &e.queue)
	must("make a socket", err)
	err = endpoint.Connect(tcpip.FullAddress{Addr: parse(address), Port: port})
	if _, started := err.(*tcpip.ErrConnectStarted); !started {
		must("connect", err)
	}
	e.endpoint = endpoint
}

// accept takes the connection when it is there.
func (e *end) accept() {
	if e.endpoint == nil {
		endpoint, _, err := e.listener.Accept(nil)
		if waits(err) {
			return
		}
		must("accept", err)
		e.endpoint = endpoint
	}
}

// Read reads what is there, or gives context.DeadlineExceeded if there is nothing.
func (e *end) Read(buffer []byte) (int, error) {
	writer := tcpip.SliceWriter(buffer)
	result, err := e.endpoint.Read(&writer, tcpip.ReadOptions{})
	if waits(err) {
		return 0, context.DeadlineExceeded
	}
	if _, closed := err.(*tcpip.ErrClosedForReceive); closed {
		return 0, io.EOF
	}
	must("read", err)
	e.endpoint.ModerateRecvBuf(result.Count)
	return result.Count, nil
}

// Write writes as much as the stack takes.
func (e *end) Write(data []byte) (int, error) {
	n, err := e.endpoint.Write(bytes.NewReader(data), tcpip.WriteOptions{})
	if _, connecting := err.(*tcpip.ErrConnectStarted); connecting || waits(err) {
		return 0, nil
	}
	must("write", err)
	return int(n), nil
}

// arrive hands a packet to the stack.
func (e *end) arrive(data []byte) {
	packet := stack.NewPacketBuffer(stack.PacketBufferOptions{Payload: buffer.MakeWithData(data)})
	e.link.InjectInbound(ipv4.ProtocolNumber, packet)
	packet.DecRef()
}

// leave gives the next packet that the stack sends, or nil.
func (e *end) leave() []byte {
	packet := e.link.Read()
	if packet == nil {
		return nil
	}
	defer packet.DecRef()
	view := packet.ToView()
	defer view.Release()
	return bytes.Clone(view.AsSlice())
}

func waits(err tcpip.Error) bool {
	_, waits := err.(*tcpip.ErrWouldBlock)
	return waits
}

func must(what string, err tcpip.Error) {
	if err != nil {
		golang.Fail("%s: %s", what, err)
	}
}

// A lockedSource gives the stack its random numbers, from the seed.
type lockedSource struct {
	mutex  sync.Mutex
	source rand.Source64
}

func (s *lockedSource) Int63() int64 {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.source.Int63()
}

func (s *lockedSource) Uint64() uint64 {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.source.Uint64()
}

func (s *lockedSource) Seed(seed int64) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.source.Seed(seed)
}

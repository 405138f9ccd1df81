// Package golang is what the drivers in Go share: the protocol of ../PROTOCOL.md, and a race in a bubble of
// testing/synctest, where time passes only as the bench permits.
package golang

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

// A Stack is what a driver says about itself.
type Stack struct {
	Name string
	// Title is the stack's name in the manifest, before its version.
	Title string
	About string
	// Time is "virtual", "udp" or "tun".
	Time string
	// Controls holds the names of the congestion controls; the first is the stack's default.
	Controls []string
	// Settings holds the names of what a user of the stack can set.
	Settings []string
}

// A Request is the first line that the bench writes.
type Request struct {
	Protocol int               `json:"protocol"`
	Control  *string           `json:"control"`
	Seed     uint64            `json:"seed"`
	Octets   *int64            `json:"octets"`
	MTU      int               `json:"mtu"`
	Settings map[string]string `json:"settings"`
	// Seconds is the length of a transfer in real time.
	Seconds float64 `json:"seconds"`
	Tun     *Tun    `json:"tun"`
}

// A Tun is the device through which a TCP stack reaches the path.
type Tun struct {
	Name    string `json:"name"`
	Address string `json:"address"`
	Gateway string `json:"gateway"`
}

// An End is the last line of a driver.
type End struct {
	Received  int64  `json:"received"`
	Sent      int64  `json:"sent"`
	Lost      int64  `json:"lost"`
	Spurious  *int64 `json:"spurious"`
	Discarded *int64 `json:"discarded"`
	// Slices holds the octets that a receiver in real time read in each half second.
	Slices []int64 `json:"slices,omitempty"`
}

// The linker sets it: a test binary does not know the versions of its modules.
var version = "unknown"

// Version gives the stack's title and its version, as `quic-go 0.65.0`.
func (s *Stack) Version() string {
	return s.Title + " " + strings.TrimPrefix(version, "v")
}

// MaybeManifest prints stack.toml and ends, if `manifest` is the only argument.
func (s *Stack) MaybeManifest() {
	if len(os.Args) != 2 || os.Args[1] != "manifest" {
		return
	}
	text := &strings.Builder{}
	fmt.Fprintf(text, "name = %q\nversion = %q\nabout = %q\ntime = %q\n", s.Name, s.Version(), s.About, s.Time)
	fmt.Fprintf(text, "controls = %s\nsettings = %s\n", list(s.Controls), list(s.Settings))
	fmt.Fprintf(text, "command = [%q]\n", "./"+s.Name)
	os.Stdout.WriteString(text.String())
	os.Exit(0)
}

func list(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = strconv.Quote(name)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// ReadRequest reads the first line, and refuses what the stack cannot serve.
func (s *Stack) ReadRequest(lines *bufio.Reader) *Request {
	line, err := lines.ReadBytes('\n')
	if err == io.EOF && len(line) == 0 {
		os.Exit(0)
	}
	request := &Request{MTU: 1500}
	if err := json.Unmarshal(line, request); err != nil {
		Fail("the first line: %v", err)
	}
	if request.Protocol != 1 {
		Fail("protocol: %d: expected 1", request.Protocol)
	}
	if request.Control == nil {
		request.Control = &s.Controls[0]
	}
	if !slices.Contains(s.Controls, *request.Control) {
		Fail("control: %s: expected %s", *request.Control, strings.Join(s.Controls, " or "))
	}
	for name := range request.Settings {
		if !slices.Contains(s.Settings, name) {
			Fail("settings: %s: expected %s", name, strings.Join(s.Settings, ", "))
		}
	}
	return request
}

// Number gives a setting as a number of at least `least`, or the value that holds without it.
func (r *Request) Number(name string, least, otherwise int64) int64 {
	text, ok := r.Settings[name]
	if !ok {
		return otherwise
	}
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil || number < least {
		Fail("settings: %s: %s: expected a whole number from %d on", name, text, least)
	}
	return number
}

// Bool gives a setting as true or false.
func (r *Request) Bool(name string, otherwise bool) bool {
	text, ok := r.Settings[name]
	if !ok {
		return otherwise
	}
	value, err := strconv.ParseBool(text)
	if err != nil {
		Fail("settings: %s: %s: expected true or false", name, text)
	}
	return value
}

// Ready writes the line that answers the request.
func (s *Stack) Ready(request *Request) {
	answer(struct {
		Protocol int    `json:"protocol"`
		Stack    string `json:"stack"`
		Version  string `json:"version"`
		Control  string `json:"control"`
	}{1, s.Name, s.Version(), *request.Control})
}

// Finish writes the last line, and ends the driver.
func Finish(end End) {
	answer(end)
	os.Exit(0)
}

// Fail writes one line with what went wrong, and ends the driver.
func Fail(format string, arguments ...any) {
	answer(map[string]string{"error": fmt.Sprintf(format, arguments...)})
	os.Exit(1)
}

func answer(value any) {
	line, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	os.Stdout.Write(append(line, '\n'))
}

package apart

import (
	"io"
	"sync"

	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/internal/frames"
	"github.com/noren-privacy/noren/internal/meter"
)

// settings are what an operation is run with, beside its request.
type settings struct {
	// Form is the print of the types of the program that asks.
	Form string
	// Name is that of the operation.
	Name string
	// Tool is the program, as a page names it.
	Tool certificate.Tool
	// Limits bound the reading of files.
	Limits meter.Limits
}

// What a frame holds follows its first byte.
const (
	isProgress = 'p'
	isNote     = 'n'
	isPoint    = 'c'
	isPart     = 'r' // of the result
	isError    = 'e'
)

type progress struct {
	Stage       string
	Done, Total int64
}

// part is the most bytes of a request or result in one frame.
const part = 1 << 20

// sender writes frames for several goroutines.
type sender struct {
	mu  sync.Mutex
	out *frames.Writer
	err error
}

func newSender(out io.Writer) *sender { return &sender{out: frames.NewWriter(out)} }

// send writes a value with what it is.
func (s *sender) send(is byte, v any) {
	data, err := encode(v)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep(err)
	s.write([]byte{is}, data)
	s.flush()
}

// parts writes bytes as several frames, each of which begins with head.
func (s *sender) parts(head, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(data) > 0 {
		n := min(part, len(data))
		s.write(head, data[:n])
		data = data[n:]
	}
}

func (s *sender) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	return s.out.Close()
}

func (s *sender) write(parts ...[]byte) {
	if s.err == nil {
		s.err = s.out.Write(parts...)
	}
}

func (s *sender) flush() {
	if s.err == nil {
		s.err = s.out.Flush()
	}
}

func (s *sender) keep(err error) {
	if s.err == nil {
		s.err = err
	}
}

// most is the most bytes of a request or result: what an operation may hold, for a release tells the
// class of each record.
func most(l meter.Limits) int64 { return max(l.Held, meter.DefaultHeld) }

// gather reads the parts of a request, to the end of its frames.
func gather(in *frames.Reader, most int64) (out []byte, err error) {
	for {
		frame, err := in.Next()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		if int64(len(out)+len(frame)) > most {
			return nil, errLarge
		}
		out = append(out, frame...)
	}
}

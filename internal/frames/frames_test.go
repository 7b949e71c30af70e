package frames_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/frames"
	"github.com/noren-privacy/noren/internal/meter/metertest"
)

func write(t interface{ Fatal(...any) }, all ...[]byte) []byte {
	var out bytes.Buffer
	w := frames.NewWriter(&out)
	for _, f := range all {
		if err := w.Write(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func read(text []byte) (all [][]byte, err error) {
	for r := frames.NewReader(bytes.NewReader(text)); ; {
		f, err := r.Next()
		if err != nil {
			return all, err
		}
		all = append(all, bytes.Clone(f))
	}
}

// What is written is read, and every beginning of it is cut off.
func TestFrames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 1, 50), 0, 5).Draw(t, "frames")
		text := write(t, in...)
		out, err := read(text)
		if err != io.EOF || len(out) != len(in) {
			t.Fatalf("%d frames of %d: %v", len(out), len(in), err)
		}
		for i := range in {
			if !bytes.Equal(in[i], out[i]) {
				t.Fatalf("frame %d differs", i)
			}
		}
		at := rapid.IntRange(0, len(text)-1).Draw(t, "cut at")
		if _, err := read(text[:at]); !errors.Is(err, frames.ErrCut) || noren.KindOf(err) != noren.Internal {
			t.Fatalf("cut at %d of %d: %v", at, len(text), err)
		}
	})
}

func TestFramesOfAnyLength(t *testing.T) {
	long := bytes.Repeat([]byte{1, 2, 3}, 2<<20)
	out, err := read(write(t, long, []byte{7}))
	if err != io.EOF || len(out) != 2 || !bytes.Equal(out[0], long) || !bytes.Equal(out[1], []byte{7}) {
		t.Fatalf("%d frames: %v", len(out), err)
	}
	_, err = read([]byte{1, 0, 0, 4})
	if noren.KindOf(err) != noren.BadData || noren.CodeOf(err) != "too-large" || errors.Is(err, frames.ErrCut) {
		t.Fatalf("a frame above the limit: %v", err)
	}
	w := frames.NewWriter(io.Discard)
	for _, f := range [][]byte{nil, make([]byte, frames.Most+1)} {
		if err := w.Write(f); err == nil {
			t.Errorf("a frame of %d bytes is written", len(f))
		}
	}
}

func FuzzFrames(f *testing.F) {
	f.Add(write(f, []byte("one"), []byte{0}))
	f.Add([]byte{255, 255, 255, 0, 1})
	f.Fuzz(func(t *testing.T, text []byte) {
		metertest.Hold(t, len(text))
		all, err := read(text)
		if err == nil {
			t.Fatal("no end")
		}
		total := 0
		for _, f := range all {
			total += 4 + len(f)
		}
		if total > len(text) {
			t.Fatalf("%d bytes from %d", total, len(text))
		}
	})
}

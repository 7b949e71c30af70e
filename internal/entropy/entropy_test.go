package entropy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func TestSeededRepeatsAndSeedsDiffer(t *testing.T) {
	a, b, c := Seeded(7), Seeded(7), Seeded(8)
	same := 0
	for range 3 * bufferSize {
		x, err1 := a.Uint64()
		y, err2 := b.Uint64()
		z, err3 := c.Uint64()
		if err := errors.Join(err1, err2, err3); err != nil {
			t.Fatal(err)
		}
		if x != y {
			t.Fatal("one seed gave two streams")
		}
		if x == z {
			same++
		}
	}
	if same > 0 {
		t.Errorf("seeds 7 and 8 agreed in %d words", same)
	}
}

func TestSecretDoesNotRepeat(t *testing.T) {
	seen := make(map[uint64]bool)
	for range 4 {
		s := Secret()
		for range 300 {
			x, err := s.Uint64()
			if err != nil {
				t.Fatal(err)
			}
			if seen[x] {
				t.Fatal("a 64-bit word came twice in 1,200 draws")
			}
			seen[x] = true
		}
	}
}

// The words of a source are the bytes of its reader, in order, each once.
func TestWordsAreTheReadersBytes(t *testing.T) {
	raw := make([]byte, 4*bufferSize)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range raw {
		raw[i] = byte(rng.Uint32())
	}
	// One byte at a time: short reads are no failure.
	s := FromReader(oneByte{bytes.NewReader(raw)})
	for i := 0; i < len(raw); i += 8 {
		got, err := s.Uint64()
		if err != nil {
			t.Fatal(err)
		}
		if want := binary.LittleEndian.Uint64(raw[i:]); got != want {
			t.Fatalf("word %d is %#x, want %#x", i/8, got, want)
		}
	}
	if _, err := s.Uint64(); err == nil {
		t.Fatal("a source went on past its reader's end")
	}
}

type oneByte struct{ r io.Reader }

func (o oneByte) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	return o.r.Read(p[:1])
}

// Drawn in any pieces, the bits are the words' bits, the lowest first, and none
// is returned twice.
func TestBitsAreEachReturnedOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		sizes := rapid.SliceOfN(rapid.UintRange(0, 64), 1, 60).Draw(t, "sizes")
		pieces, words := Seeded(seed), Seeded(seed)
		var pending []bool
		for _, n := range sizes {
			got, err := pieces.Bits(n)
			if err != nil {
				t.Fatal(err)
			}
			for uint(len(pending)) < n {
				w, err := words.Uint64()
				if err != nil {
					t.Fatal(err)
				}
				for i := range 64 {
					pending = append(pending, w>>i&1 == 1)
				}
			}
			var want uint64
			for i := range n {
				if pending[i] {
					want |= 1 << i
				}
			}
			pending = pending[n:]
			if got != want {
				t.Fatalf("Bits(%d) = %#x, want %#x", n, got, want)
			}
		}
	})
	if _, err := Seeded(1).Bits(65); err == nil {
		t.Error("65 bits of one draw were not refused")
	}
}

func TestFailureIsStickyAndNeverAnAnswer(t *testing.T) {
	cause := errors.New("no entropy")
	for _, works := range []int{0, 1, bufferSize - 1, bufferSize, 2*bufferSize - 3} {
		r := &failing{good: works, err: cause}
		s := FromReader(r)
		draws := 0
		var err error
		for {
			if _, err = s.Uint64(); err != nil {
				break
			}
			draws++
		}
		if want := works / bufferSize * bufferSize / 8; draws != want {
			t.Errorf("%d good bytes gave %d words, want %d", works, draws, want)
		}
		if !errors.Is(err, cause) {
			t.Errorf("the cause is lost: %v", err)
		}
		// The reader works again; the source does not.
		r.good = 1 << 20
		for range 3 {
			if _, err := s.Uint64(); !errors.Is(err, cause) {
				t.Fatal("a failed source answered")
			}
			if _, err := s.Uint64n(6); !errors.Is(err, cause) {
				t.Fatal("a failed source answered")
			}
			if _, err := s.Bits(3); !errors.Is(err, cause) {
				t.Fatal("a failed source answered")
			}
			if _, err := s.Bool(); !errors.Is(err, cause) {
				t.Fatal("a failed source answered")
			}
		}
		if !errors.Is(s.Err(), cause) {
			t.Error("Err does not tell the failure")
		}
	}
	var zero Source
	if _, err := zero.Uint64(); err == nil {
		t.Error("the zero value answered")
	}
	if _, err := new(Source).Bits(1); err == nil {
		t.Error("the zero value answered")
	}
}

type failing struct {
	good int
	err  error
}

func (f *failing) Read(p []byte) (int, error) {
	if f.good <= 0 {
		return 0, f.err
	}
	n := min(len(p), f.good)
	f.good -= n
	return n, nil
}

func TestUint64nIsUniform(t *testing.T) {
	if _, err := Seeded(1).Uint64n(0); err == nil {
		t.Error("a draw below 0 was not refused")
	}
	// 3 * 2^62 is the worst case for bias: without rejection every third value
	// would come twice as often. Fold it to three thirds.
	for _, n := range []uint64{1, 2, 3, 7, 10, 3 << 62} {
		s := Seeded(n)
		cells := min(n, 12)
		if n == 3<<62 {
			cells = 3
		}
		width := n / cells
		counts := make([]float64, cells)
		const draws = 120_000
		for range draws {
			v, err := s.Uint64n(n)
			if err != nil {
				t.Fatal(err)
			}
			if v >= n {
				t.Fatalf("Uint64n(%d) = %d", n, v)
			}
			if n == 3<<62 {
				counts[v%3]++
			} else {
				counts[v/width]++
			}
		}
		chi := 0.0
		want := draws / float64(cells)
		for _, c := range counts {
			chi += (c - want) * (c - want) / want
		}
		// Mean cells-1, variance 2(cells-1): five deviations and a bit.
		if df := float64(cells - 1); chi > df+6*math.Sqrt(2*df)+1e-9 {
			t.Errorf("Uint64n(%d): chi-squared %.1f for %v degrees of freedom", n, chi, df)
		}
	}
}

func BenchmarkSecretUint64(b *testing.B) {
	s := Secret()
	b.SetBytes(8)
	for b.Loop() {
		if _, err := s.Uint64(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSeededUint64(b *testing.B) {
	s := Seeded(1)
	b.SetBytes(8)
	for b.Loop() {
		if _, err := s.Uint64(); err != nil {
			b.Fatal(err)
		}
	}
}

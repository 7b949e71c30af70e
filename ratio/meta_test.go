package ratio

import (
	"context"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/entropy"
	"github.com/noren-privacy/noren/internal/meter/metertest"
)

func sampleMeta(t testing.TB) []byte {
	t.Helper()
	x, e, _ := settingOne(1, 500, 20)
	m, err := New(context.Background(), Options{Public: e, Cost: milli(1000), Centres: 4})
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.Release(context.Background(), x, entropy.Seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	w, err := m.Weights(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	text, err := w.Meta.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestDecodeMetaRefuses(t *testing.T) {
	good := string(sampleMeta(t))
	for _, c := range [][2]string{
		{`"noren.ratio-weights/3"`, `"noren.ratio-weights/4"`},
		{`"distribution"`, `"former"`},
		{`"plain"`, `"other"`},
		{`"estimated"`, `"guessed"`},
		{`"lambda": `, `"lambda": -`},
		{`"sigma": `, `"sigma": -`},
		{`"add-remove"`, `"none"`},
		{`"centres": [`, `"centres": [[1,2],`},
		{`"mechanism"`, `"mechanisms"`},
		{`"noise": "rkhs-pure"`, `"noise": "sampled-centres"`},
		{`"scale": `, `"scale": -`},
	} {
		bad := strings.Replace(good, c[0], c[1], 1)
		if bad == good {
			t.Fatalf("%s is not there", c[0])
		}
		if _, err := DecodeMeta([]byte(bad)); noren.KindOf(err) != noren.BadData {
			t.Errorf("%s: %v", c[1], err)
		}
	}
	if _, err := DecodeMeta([]byte(good + "{}")); noren.KindOf(err) != noren.BadData {
		t.Error("what follows the meta data was not seen")
	}
}

// In the older forms the distribution has another name.
func TestDecodeMetaOlder(t *testing.T) {
	good := string(sampleMeta(t))
	want, err := DecodeMeta([]byte(good))
	if err != nil {
		t.Fatal(err)
	}
	older := strings.Replace(strings.Replace(good, "ratio-weights/3", "ratio-weights/2", 1), `"distribution"`, `"former"`, 1)
	got, err := DecodeMeta([]byte(older))
	if err != nil {
		t.Fatal(err)
	}
	want.Format = "noren.ratio-weights/2"
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v, expected %+v", got, want)
	}
	for _, bad := range []string{older + "{}", strings.Replace(older, `"sigmas"`, `"others"`, 1)} {
		if _, err := DecodeMeta([]byte(bad)); noren.KindOf(err) != noren.BadData {
			t.Errorf("%.40q: %v", bad, err)
		}
	}
}

// Whatever the file, reading it ends in meta data that can be worked with, or an error.
func FuzzDecodeMeta(f *testing.F) {
	f.Add(sampleMeta(f))
	f.Add([]byte(`{"format":"noren.ratio-weights/1","centres":[[0]],"sums":[1e300],"sigma":1e-150,"lambda":1e-300,"records":1e-300}`))
	e := gaussian(3, 20, 1, 1, 1)
	both, err := New(context.Background(), Options{Public: e, Cost: milli(1000), Features: MarginalFeatures})
	if err != nil {
		f.Fatal(err)
	}
	r, err := both.Release(context.Background(), e, entropy.Seeded(1))
	if err != nil {
		f.Fatal(err)
	}
	w, err := both.Weights(context.Background(), r)
	if err != nil {
		f.Fatal(err)
	}
	text, err := w.Meta.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Fuzz(func(t *testing.T, text []byte) {
		metertest.Hold(t, len(text))
		m, err := DecodeMeta(text)
		if err != nil {
			return
		}
		if _, err := m.Frame(); err != nil && noren.KindOf(err) != noren.BadData {
			t.Errorf("frame: %v", err)
		}
		if len(m.Centres) > 50 || m.Distribution.Shape > 1000 || len(m.Cells) > 50 {
			return
		}
		w, err := Open(context.Background(), m, e)
		if err != nil {
			return
		}
		for _, v := range w.W {
			if math.IsNaN(v) || v < 0 {
				t.Fatalf("a weight of %g", v)
			}
		}
		if a, err := w.Mean(e.Data); err == nil && math.IsNaN(a.Value) {
			t.Error("a mean that is no number")
		}
	})
}

func FuzzDecodeReleased(f *testing.F) {
	m, err := New(context.Background(), Options{Public: gaussian(3, 20, 1, 1, 1), Cost: milli(1000), Centres: 3})
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(`{"sums":[[1,2,3]]}`))
	f.Add([]byte(`{"sums":[[0,0,0]],"records":5}`))
	f.Add([]byte(`{"sums":[[-1e308,1e308,1e308]]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		metertest.Hold(t, len(text))
		r, err := m.Decode(text)
		if err != nil {
			if noren.KindOf(err) != noren.BadData {
				t.Errorf("%v", err)
			}
			return
		}
		w, err := m.Weights(context.Background(), r)
		if err != nil {
			return
		}
		for _, v := range w.W {
			if math.IsNaN(v) || v < 0 {
				t.Fatalf("a weight of %g", v)
			}
		}
	})
}

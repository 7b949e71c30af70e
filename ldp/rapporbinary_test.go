package ldp_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter/metertest"
	"github.com/noren-privacy/noren/ldp"
)

func binaryRappor(t interface{ Fatal(...any) }) *ldp.Rappor {
	r, err := ldp.NewRappor(ldp.Params{K: 8, H: 2, M: 3, P: 0.25, Q: 0.75, F: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func binaryReports(t *rapid.T) []ldp.RapporReport {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) ldp.RapporReport {
		return ldp.RapporReport{Cohort: rapid.Uint32Range(0, 4).Draw(t, "cohort"), Bits: rapid.Uint32Range(0, 300).Draw(t, "bits")}
	}), 0, 700).Draw(t, "reports")
}

// Reports in binary form count as the same reports do one by one, in any parts, and their
// counts are read as they were written.
func TestBinaryReports(t *testing.T) {
	r := binaryRappor(t)
	rapid.Check(t, func(t *rapid.T) {
		reports := binaryReports(t)
		cut := rapid.IntRange(0, len(reports)).Draw(t, "cut")
		whole, err := r.NewCollector()
		if err != nil {
			t.Fatal(err)
		}
		whole.AddAll(reports)
		var sum *ldp.RapporCounts
		for _, part := range [][]ldp.RapporReport{reports[:cut], reports[cut:]} {
			var text []byte
			for _, p := range part {
				text = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(text, p.Cohort), p.Bits)
			}
			c, err := r.NewCollector()
			if err != nil {
				t.Fatal(err)
			}
			if err := c.AddBinary(context.Background(), bytes.NewReader(text)); err != nil {
				t.Fatal(err)
			}
			counts, err := r.DecodeCounts(c.Counts().AppendBinary(nil))
			if err != nil {
				t.Fatal(err)
			}
			if sum == nil {
				sum = counts
			} else if err := sum.Merge(counts); err != nil {
				t.Fatal(err)
			}
		}
		if !reflect.DeepEqual(sum, whole.Counts()) {
			t.Fatalf("parts %+v, whole %+v", sum, whole.Counts())
		}
	})
}

func TestBinaryFaults(t *testing.T) {
	r := binaryRappor(t)
	c, err := r.NewCollector()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.AddBinary(context.Background(), bytes.NewReader(make([]byte, 12))); noren.KindOf(err) != noren.BadData {
		t.Errorf("a report that is cut off: %v", err)
	}
	text := c.Counts().AppendBinary(nil)
	other, err := ldp.NewRappor(ldp.Params{K: 8, H: 2, M: 3, P: 0.25, Q: 0.75, F: 0.25})
	if err != nil {
		t.Fatal(err)
	}
	counts, err := other.NewCollector()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Counts().Merge(counts.Counts()); noren.KindOf(err) != noren.Usage {
		t.Errorf("counts of other parameters: %v", err)
	}
	more := bytes.Clone(text)
	more[len(more)-1] = 1 // a bit without a report
	for name, bad := range map[string][]byte{
		"nothing": nil, "of another version": append([]byte("NRC2"), text[4:]...), "cut off": text[:len(text)-1],
		"longer": append(bytes.Clone(text), 0), "a bit above its cohort": more, "of other parameters": counts.Counts().AppendBinary(nil),
	} {
		if _, err := r.DecodeCounts(bad); noren.KindOf(err) != noren.BadData {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzDecodeCounts(f *testing.F) {
	r := binaryRappor(f)
	c, err := r.NewCollector()
	if err != nil {
		f.Fatal(err)
	}
	c.AddAll([]ldp.RapporReport{{Cohort: 1, Bits: 5}, {Cohort: 2, Bits: 255}, {Cohort: 9}})
	f.Add(c.Counts().AppendBinary(nil))
	f.Fuzz(func(t *testing.T, text []byte) {
		metertest.Hold(t, len(text))
		counts, err := r.DecodeCounts(text)
		if err != nil {
			return
		}
		again, err := r.DecodeCounts(counts.AppendBinary(nil))
		if err != nil || !reflect.DeepEqual(counts, again) {
			t.Fatalf("%+v read again is %+v, %v", counts, again, err)
		}
	})
}

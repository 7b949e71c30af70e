package ldp

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"
)

// keyOf is the secret of device i, another one in every test that names itself.
func keyOf(test string, i int) []byte {
	return binary.BigEndian.AppendUint64(append([]byte("secret of "), test...), uint64(i))
}

// dependence is the chi-squared statistic of independence of two answers of many keys,
// and its degrees of freedom.
func dependence(pairs [][2]uint32) (statistic float64, freedom int) {
	rows, columns, cells := map[uint32]float64{}, map[uint32]float64{}, map[[2]uint32]float64{}
	for _, p := range pairs {
		rows[p[0]]++
		columns[p[1]]++
		cells[p]++
	}
	n := float64(len(pairs))
	for r, in := range rows {
		for c, down := range columns {
			expected := in * down / n
			d := cells[[2]uint32{r, c}] - expected
			statistic += d * d / expected
		}
	}
	return statistic, (len(rows) - 1) * (len(columns) - 1)
}

// independent tells whether the statistic is one that independent answers have: its
// distribution is about normal, and 8 standard deviations above the mean are far beyond
// chance. Answers from one stream have statistics of thousands.
func independent(statistic float64, freedom int) bool {
	return freedom > 0 && statistic < float64(freedom)+8*math.Sqrt(2*float64(freedom))
}

// streamCase is a keyed stream with all its parameters, as a function of a key.
type streamCase struct {
	change string
	answer func(secret []byte) (uint32, error)
}

// longitudinalCase is the permanent answer of a longitudinal mechanism to label 1.
func longitudinalCase(t *testing.T, change string, grr bool, k int, lifetime, report float64, question string, domain []string, label int,
	old bool,
) streamCase {
	t.Helper()
	construct := NewLongitudinalOUE
	if grr {
		construct = NewLongitudinalGRR
	}
	m, err := construct(k, lifetime, report)
	if err != nil {
		t.Fatal(err)
	}
	return streamCase{change, func(secret []byte) (uint32, error) {
		d, err := m.Device(secret, question, domain...)
		if old {
			d, err = m.Finishing(secret, question)
		}
		if err != nil {
			return 0, err
		}
		r, err := d.permanent(label)
		if r.Bits != nil {
			return uint32(r.Bits[0]), err
		}
		return r.Value, err
	}}
}

func longitudinalCases(t *testing.T, grr, old bool) []streamCase {
	one := func(change string, k int, lifetime float64, question string, domain []string, label int) streamCase {
		return longitudinalCase(t, change, grr, k, lifetime, lifetime/2, question, domain, label, old)
	}
	return []streamCase{
		one("", 3, 1, "q", []string{"a", "b", "c"}, 1),
		one("question", 3, 1, "p", []string{"a", "b", "c"}, 1),
		one("number of labels", 4, 1, "q", []string{"a", "b", "c"}, 1),
		one("names of the domain", 3, 1, "q", []string{"a", "c", "b"}, 1),
		one("border between names", 3, 1, "q", []string{"a", "b", "", "c"}, 1),
		one("lifetime", 3, 2, "q", []string{"a", "b", "c"}, 1),
		one("label", 3, 1, "q", []string{"a", "b", "c"}, 0),
		longitudinalCase(t, "mechanism", !grr, 3, 1, 0.5, "q", []string{"a", "b", "c"}, 1, old),
	}
}

// rapporCase is the permanent response to Bloom bits, or the cohort.
func rapporCase(t *testing.T, change string, p Params, rule Rule, encoder, question string, domain []string, bloom uint32, cohort,
	old bool,
) streamCase {
	t.Helper()
	r, err := NewRappor(p)
	if rule == Cpp {
		r, err = NewCppRappor(p, encoder)
	}
	if err != nil {
		t.Fatal(err)
	}
	return streamCase{change, func(secret []byte) (uint32, error) {
		d, err := r.DeviceOf(secret, question, domain...)
		if old {
			d, err = r.Finishing(secret, question)
		}
		if err != nil {
			return 0, err
		}
		if cohort {
			return d.cohort * 4 / uint32(r.M), nil // 4 classes whatever m is
		}
		return d.Permanent(bloom) & 7, nil
	}}
}

func rapporCases(t *testing.T, cohort, old bool) []streamCase {
	base := Params{K: 3, H: 1, M: 4, P: 0.25, Q: 0.75, F: 0.75}
	with := func(change string, set func(p *Params)) streamCase {
		p := base
		set(&p)
		return rapporCase(t, change, p, Python, "", "q", []string{"a", "b"}, 2, cohort, old)
	}
	all := []streamCase{
		with("", func(*Params) {}),
		with("k", func(p *Params) { p.K = 4 }),
		with("h", func(p *Params) { p.H = 2 }),
		with("m", func(p *Params) { p.M = 8 }),
		with("f", func(p *Params) { p.F = 0.875 }),
		rapporCase(t, "question", base, Python, "", "p", []string{"a", "b"}, 2, cohort, old),
		rapporCase(t, "domain", base, Python, "", "q", []string{"b", "a"}, 2, cohort, old),
		rapporCase(t, "rule", base, Cpp, "", "q", []string{"a", "b"}, 2, cohort, old),
		rapporCase(t, "encoder", base, Cpp, "e", "q", []string{"a", "b"}, 2, cohort, old),
	}
	if !cohort {
		all = append(all, rapporCase(t, "Bloom bits", base, Python, "", "q", []string{"a", "b"}, 1, cohort, old))
	}
	return all
}

// Each parameter of a keyed stream, changed alone, gives a stream that is independent of
// the first: over many keys the two answers to one value have the joint distribution of
// independent answers. The streams of the first version fail it where the parameter was
// not in their messages.
func TestEachParameterHasAStreamOfItsOwn(t *testing.T) {
	randtest.SkipShort(t)
	testStreams(t, 2000)
}

// TestLongEachParameterHasAStreamOfItsOwn is the same with 20,000 keys.
func TestLongEachParameterHasAStreamOfItsOwn(t *testing.T) {
	randtest.Long(t)
	testStreams(t, 20_000)
}

func testStreams(t *testing.T, keys int) {
	for _, of := range []struct {
		name   string
		cases  func(old bool) []streamCase
		shared []string // by the first version of the streams
	}{
		{
			"longitudinal GRR", func(old bool) []streamCase { return longitudinalCases(t, true, old) },
			[]string{"names of the domain", "border between names", "lifetime"},
		},
		{
			"longitudinal OUE", func(old bool) []streamCase { return longitudinalCases(t, false, old) },
			[]string{"names of the domain", "border between names", "lifetime"},
		},
		{"RAPPOR", func(old bool) []streamCase { return rapporCases(t, false, old) }, []string{"k", "h", "m", "f", "domain"}},
		{
			"RAPPOR's cohort", func(old bool) []streamCase { return rapporCases(t, true, old) },
			[]string{"k", "h", "m", "f", "domain", "rule", "encoder"},
		},
	} {
		for _, old := range []bool{false, true} {
			cases := of.cases(old)
			answers := make([][]uint32, len(cases))
			for j, c := range cases {
				answers[j] = make([]uint32, keys)
				for i := range answers[j] {
					var err error
					if answers[j][i], err = c.answer(keyOf(of.name, i)); err != nil {
						t.Fatal(err)
					}
				}
			}
			for j := 1; j < len(cases); j++ {
				pairs := make([][2]uint32, keys)
				for i := range pairs {
					pairs[i] = [2]uint32{answers[0][i], answers[j][i]}
				}
				statistic, freedom := dependence(pairs)
				shares := old && slices.Contains(of.shared, cases[j].change)
				if independent(statistic, freedom) == shares {
					t.Errorf("%s, another %s, first version %v: chi-squared %.0f of %d degrees", of.name, cases[j].change, old, statistic, freedom)
				}
			}
		}
	}
}

// What belongs to the second step alone keeps the permanent answer: reports at another
// loss of one report, or by another p and q, come from the same one, and cost no further
// lifetime.
func TestTheSecondStepKeepsThePermanentAnswer(t *testing.T) {
	for _, grr := range []bool{true, false} {
		one := longitudinalCase(t, "", grr, 5, 2, 1, "q", nil, 1, false)
		two := longitudinalCase(t, "", grr, 5, 2, 0.5, "q", nil, 1, false)
		for i := range 200 {
			a, err1 := one.answer(keyOf("second", i))
			b, err2 := two.answer(keyOf("second", i))
			if err1 != nil || err2 != nil || a != b {
				t.Fatalf("key %d: %d and %d (%v, %v)", i, a, b, err1, err2)
			}
		}
	}
	p := Params{K: 3, H: 1, M: 4, P: 0.25, Q: 0.75, F: 0.75}
	one := rapporCase(t, "", p, Python, "", "q", nil, 2, false, false)
	p.P, p.Q = 0, 1
	two := rapporCase(t, "", p, Python, "", "q", nil, 2, false, false)
	for i := range 200 {
		a, err1 := one.answer(keyOf("second", i))
		b, err2 := two.answer(keyOf("second", i))
		if err1 != nil || err2 != nil || a != b {
			t.Fatalf("key %d: %d and %d (%v, %v)", i, a, b, err1, err2)
		}
	}
}

// Every way to a device refuses a secret below 16 bytes, and a question without a name.
func TestDevicesRefuseShortSecretsAndNamelessQuestions(t *testing.T) {
	grr, err := NewLongitudinalGRR(3, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	python, err1 := NewRappor(Basic(3, 0.5, 0.25, 0.75))
	cpp, err2 := NewCppRappor(Basic(3, 0.5, 0.25, 0.75), "e")
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	ways := map[string]func(secret []byte, question string) error{
		"longitudinal": func(s []byte, q string) error { _, err := grr.Device(s, q); return err },
		"metric":       func(s []byte, q string) error { _, err := python.MetricSecret(s, q); return err },
		"cohort":       func(s []byte, q string) error { _, err := python.MetricCohort(s, q); return err },
		"device of":    func(s []byte, q string) error { _, err := python.DeviceOf(s, q); return err },
	}
	whole := keyOf("", 0)[:16]
	for name, way := range ways {
		if err := way(whole, "q"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, q := range []string{"", " ", "\t\n", "\u00a0"} {
			if way(whole, q) == nil {
				t.Errorf("%s: question %q", name, q)
			}
		}
	}
	ways["finishing"] = func(s []byte, q string) error { _, err := grr.Finishing(s, q); return err }
	ways["finishing RAPPOR"] = func(s []byte, q string) error { _, err := python.Finishing(s, q); return err }
	ways["finishing secret"] = func(s []byte, q string) error { _, err := FinishingSecret(s, q); return err }
	ways["RAPPOR"] = func(s []byte, _ string) error { _, err := python.Device(s, 0); return err }
	ways["C++ RAPPOR"] = func(s []byte, _ string) error { _, err := cpp.Device(s, 0); return err }
	ways["C++ cohort"] = func(s []byte, _ string) error { _, err := cpp.CppCohort(s); return err }
	for name, way := range ways {
		for _, n := range []int{0, 6, 13, 15} {
			if way(bytes.Repeat([]byte{7}, n), "q") == nil {
				t.Errorf("%s: a secret of %d bytes", name, n)
			}
		}
	}
}

// A secret that its owner overwrites afterwards does not change the device.
func TestDevicesKeepTheirSecret(t *testing.T) {
	m, err := NewLongitudinalGRR(1000, 8, 1)
	if err != nil {
		t.Fatal(err)
	}
	secret := keyOf("kept", 1)
	d, err := m.Device(secret, "q")
	if err != nil {
		t.Fatal(err)
	}
	var before, after [20]string
	for l := range before {
		r, err := d.permanent(l)
		if err != nil {
			t.Fatal(err)
		}
		before[l] = fmt.Sprint(r)
	}
	clear(secret)
	for l := range after {
		r, err := d.permanent(l)
		if err != nil {
			t.Fatal(err)
		}
		after[l] = fmt.Sprint(r)
	}
	if before != after {
		t.Error("the device follows the slice of its secret")
	}
}

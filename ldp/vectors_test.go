package ldp

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

// testdata/rappor.json: facts produced by running google/rappor at a13fa964,
// unmodified (its field "source" tells how).
type vectors struct {
	Python struct {
		Cases []struct {
			Params                  Params
			Cohort, Bloom, PRR, IRR uint32
			HashBits                []uint32 `json:"hash_bits"`
			Word                    string   `json:"word_hex"`
			Secret                  string   `json:"secret_hex"`
			PMask                   uint32   `json:"p_mask"`
			QMask                   uint32   `json:"q_mask"`
			BloomBits               string   `json:"bloom_bits"`
			PRRBits                 string   `json:"prr_bits"`
			IRRBits                 string   `json:"irr_bits"`
		}
		EncodeBits []struct {
			Params         Params
			Bits, PRR, IRR uint32
			Label          int
			PMask          uint32 `json:"p_mask"`
			QMask          uint32 `json:"q_mask"`
			Secret         string `json:"secret_hex"`
			PRRBits        string `json:"prr_bits"`
			IRRBits        string `json:"irr_bits"`
		} `json:"encode_bits"`
		Errors []struct {
			Params Params
			Why    string
		}
	} `json:"python_client"`
	Cpp struct {
		Cases []struct {
			Params             Params
			Bloom, PRR, Cohort uint32
			Encoder            string `json:"encoder_id_hex"`
			Secret             string `json:"secret_hex"`
			Word               string `json:"word_hex"`
		}
	} `json:"cpp_client"`
	Map struct {
		Params     Params
		Candidates []string
		MapCSV     string `json:"map_csv"`
		ParamsCSV  string `json:"params_csv"`
	} `json:"map_file"`
	Sums struct {
		Params    Params
		CountsCSV string `json:"counts_csv"`
		Reports   []struct {
			Cohort uint32
			Bits   string `json:"irr_bits"`
		}
	} `json:"sum_bits"`
	Decode struct {
		Params          Params
		Estimates, Stds [][]float64
		Privacy         struct {
			E1, Einf   float64
			EffectiveP float64 `json:"effective_p"`
			EffectiveQ float64 `json:"effective_q"`
		}
	} `json:"decode_R"`
}

func loadVectors(t testing.TB) *vectors {
	t.Helper()
	b, err := os.ReadFile("testdata/rappor.json")
	if err != nil {
		t.Fatal(err)
	}
	v := new(vectors)
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatal(err)
	}
	return v
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestPythonClientVectors(t *testing.T) {
	v := loadVectors(t)
	if len(v.Python.Cases) != 100 || len(v.Python.EncodeBits) != 38 || len(v.Python.Errors) != 2 {
		t.Fatal("vectors are missing")
	}
	for i, c := range v.Python.Cases {
		r, err := NewRappor(c.Params)
		if err != nil {
			t.Fatalf("case %d: %v", i, err)
		}
		word, secret := unhex(t, c.Word), unhex(t, c.Secret)
		var bits [16]uint32
		if got := r.hashBits(&bits, nil, word, c.Cohort); !slices.Equal(got, c.HashBits) {
			t.Errorf("case %d: bits %v, want %v", i, got, c.HashBits)
		}
		bloom := r.Bloom(word, c.Cohort)
		d, err := r.device(secret, c.Cohort)
		if err != nil {
			t.Fatal(err)
		}
		prr := d.Permanent(bloom)
		irr := Instantaneous(prr, c.PMask, c.QMask)
		if bloom != c.Bloom || prr != c.PRR || irr != c.IRR {
			t.Errorf("case %d: bloom %d, prr %d, irr %d, want %d, %d, %d", i, bloom, prr, irr, c.Bloom, c.PRR, c.IRR)
		}
		if r.FormatBits(bloom) != c.BloomBits || r.FormatBits(prr) != c.PRRBits || r.FormatBits(irr) != c.IRRBits {
			t.Errorf("case %d: bits are written otherwise", i)
		}
	}
	for i, c := range v.Python.EncodeBits {
		r, err := NewRappor(c.Params)
		if err != nil {
			t.Fatalf("encode_bits %d: %v", i, err)
		}
		d, err := r.device(unhex(t, c.Secret), 0)
		if err != nil {
			t.Fatal(err)
		}
		prr := d.Permanent(c.Bits)
		if irr := Instantaneous(prr, c.PMask, c.QMask); prr != c.PRR || irr != c.IRR || r.FormatBits(irr) != c.IRRBits {
			t.Errorf("encode_bits %d: prr %d, irr %d, want %d, %d", i, prr, irr, c.PRR, c.IRR)
		}
	}
	for _, c := range v.Python.Errors {
		if _, err := NewRappor(c.Params); err == nil {
			t.Errorf("%s: no error", c.Why)
		}
	}
}

func TestCppClientVectors(t *testing.T) {
	v := loadVectors(t)
	if len(v.Cpp.Cases) != 30 {
		t.Fatal("vectors are missing")
	}
	for i, c := range v.Cpp.Cases {
		p := c.Params
		p.P, p.Q = 0.25, 0.75 // the vectors stop before the step that uses them
		secret := unhex(t, c.Secret)
		r, err := NewCppRappor(p, string(unhex(t, c.Encoder)))
		if err != nil {
			t.Fatalf("case %d: %v", i, err)
		}
		if got := r.cppCohort(secret); got != c.Cohort {
			t.Errorf("case %d: cohort %d, want %d", i, got, c.Cohort)
		}
		d, err := r.device(secret, c.Cohort)
		if err != nil {
			t.Fatal(err)
		}
		bloom := r.Bloom(unhex(t, c.Word), c.Cohort)
		if prr := d.Permanent(bloom); bloom != c.Bloom || prr != c.PRR {
			t.Errorf("case %d: bloom %d, prr %d, want %d, %d", i, bloom, prr, c.Bloom, c.PRR)
		}
	}
}

func TestServerFileVectors(t *testing.T) {
	v := loadVectors(t)
	var out bytes.Buffer
	if err := WriteParams(&out, v.Map.Params); err != nil || out.String() != v.Map.ParamsCSV {
		t.Errorf("params file %q, want %q (%v)", out.String(), v.Map.ParamsCSV, err)
	}
	if p, err := ReadParams(strings.NewReader(v.Map.ParamsCSV), "params.csv"); err != nil || p != v.Map.Params {
		t.Errorf("params read as %+v (%v)", p, err)
	}
	r, err := NewRappor(v.Map.Params)
	if err != nil {
		t.Fatal(err)
	}
	m, err := r.NewMap(v.Map.Candidates)
	if err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if err := WriteMap(&out, m); err != nil || out.String() != v.Map.MapCSV {
		t.Errorf("map file differs (%v)", err)
	}
	again, err := r.ReadMap(strings.NewReader(v.Map.MapCSV), "map.csv")
	if err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if err := WriteMap(&out, again); err != nil || out.String() != v.Map.MapCSV {
		t.Errorf("map file differs when read and written (%v)", err)
	}

	if r, err = NewRappor(v.Sums.Params); err != nil {
		t.Fatal(err)
	}
	c, err := r.NewCollector()
	if err != nil {
		t.Fatal(err)
	}
	for _, rep := range v.Sums.Reports {
		word := r.Format(RapporReport{Cohort: rep.Cohort})
		word = word[:strings.IndexByte(word, ',')+1] + rep.Bits
		if err := c.AddWord(word); err != nil {
			t.Fatal(err)
		}
	}
	out.Reset()
	if err := WriteCounts(&out, c.Counts()); err != nil || out.String() != v.Sums.CountsCSV {
		t.Errorf("counts file differs (%v)", err)
	}
	counts, err := r.ReadCounts(strings.NewReader(v.Sums.CountsCSV), "counts.csv")
	if err != nil {
		t.Fatal(err)
	}

	// analysis/R/decode.R on these counts; f = 0.5 is a multiple of 1/128.
	e, err := counts.EstimateBits()
	if err != nil {
		t.Fatal(err)
	}
	for i := range v.Decode.Estimates {
		for b := range v.Decode.Estimates[i] {
			if got, want := e.Value[i][b], v.Decode.Estimates[i][b]; math.Abs(got-want) > 1e-12*math.Abs(want)+1e-13 {
				t.Errorf("cohort %d, bit %d: estimate %g, want %g", i, b, got, want)
			}
			if got, want := e.StdErr[i][b], v.Decode.Stds[i][b]; math.Abs(got-want) > 1e-12*want {
				t.Errorf("cohort %d, bit %d: standard error %g, want %g", i, b, got, want)
			}
		}
	}
	l := r.Loss()
	one, zero := r.bitProbabilities()
	for _, c := range []struct{ got, want float64 }{
		{l.Report, v.Decode.Privacy.E1},
		{l.Lifetime, v.Decode.Privacy.Einf},
		{one, v.Decode.Privacy.EffectiveQ},
		{zero, v.Decode.Privacy.EffectiveP},
	} {
		if math.Abs(c.got-c.want) > 1e-12 {
			t.Errorf("%.15g, decode.R has %.15g", c.got, c.want)
		}
	}
}

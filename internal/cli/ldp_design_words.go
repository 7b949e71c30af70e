package cli

import (
	"fmt"
	"math"
	"strconv"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/ldp"
	"github.com/noren-privacy/noren/ldp/survey"
	"github.com/noren-privacy/noren/report"
)

// wordsDesign is a plan for a collection of texts.
type wordsDesign struct {
	Schema     string       `json:"schema"`
	Kind       string       `json:"kind"`
	Epsilon    float64      `json:"epsilon"`
	N          int64        `json:"n"`
	Candidates int          `json:"candidates"`
	Repeats    int          `json:"repeats"`
	Best       wordOption   `json:"best"`
	Why        []string     `json:"why"`
	Options    []wordOption `json:"options"`
	Privacy    privacyJSON  `json:"privacy"`
	spec       survey.Spec
}

// wordOption is a choice of RAPPOR's parameters with what it is expected to yield.
type wordOption struct {
	Params     ldp.Params `json:"rappor"`
	Loss       ldp.Loss   `json:"loss"`
	StdErr     float64    `json:"std_err"`
	Detectable float64    `json:"detectable_share"`
	Overlap    float64    `json:"overlap_std_err"`
	Joint      bool       `json:"fitted_together"`
	spec       survey.Spec
}

// The parameters that are compared.
var (
	designBits   = []int{8, 16, 32}
	designHashes = []int{1, 2, 4}
)

// mostDesignCohorts is the largest number of cohorts of a design.
const mostDesignCohorts = 1024

// words plans for the shares of words among candidates.
func (f *designFlags) words(t *terminal, spec *survey.Spec) error {
	bad := func(where, what, hint string) error {
		return &noren.Error{Kind: noren.Usage, Where: where, What: what, Hint: hint}
	}
	switch {
	case len(spec.Labels) > 0 || spec.Size != 0 || spec.Edges != nil || spec.Bins != nil || spec.Range != nil:
		return bad("--candidates", "is for texts, which have no domain", "leave out --labels, --size, --edges, --bins and --range")
	case f.attributes != 1 || f.wanted != 0:
		return bad("--candidates", "is not planned with --attributes or --error", "")
	case f.candidates < 1 || f.n < 1:
		return bad("--candidates, --n", "the numbers of candidate words and of people must be 1 or more", "--candidates 100 --n 50000")
	}
	d := &wordsDesign{Schema: designSchema, Kind: string(survey.Words), Epsilon: spec.Epsilon, N: f.n, Candidates: f.candidates, Repeats: f.repeats, spec: *spec}
	for _, k := range designBits {
		for _, h := range designHashes {
			o, err := d.option(k, h)
			if err != nil {
				if k == designBits[0] && h == 1 {
					return err // of epsilon, not of this choice
				}
				continue
			}
			d.Options = append(d.Options, o)
			if best := &d.Best; best.Params.K == 0 || o.Joint && !best.Joint || o.Joint == best.Joint && o.StdErr < best.StdErr {
				d.Best = o
			}
		}
	}
	p := d.Best.Params
	d.Why = append(d.Why, fmt.Sprintf("of %d choices of bits and hash functions, %d bits and %s have the smallest standard error at this epsilon", len(d.Options), p.K, plural(p.H, "hash function")))
	why := fmt.Sprintf("%d cohorts of %d bits are %s equations for %s", p.M, p.K, report.Integer(p.M*int64(p.K)), plural(d.Candidates, "candidate"))
	if d.Best.Joint {
		why += ", and keep chance overlaps with unnamed words near the noise"
	} else {
		why += ": too few to tell all of them apart; name fewer candidates, or expect errors that further reports do not reduce"
	}
	d.Why = append(d.Why, why)
	if f.repeats > 1 {
		d.Why = append(d.Why, fmt.Sprintf("each person is asked %d times: the permanent response keeps all reports of a word together at epsilon %.4g", f.repeats, d.Best.Loss.Lifetime))
	}
	s, err := survey.New(d.Best.spec)
	if err != nil {
		return err
	}
	d.Privacy = privacyOf(s)
	if f.output != "" {
		if err := writeFile(f.output, f.force, t.stdout, d.Best.spec.Write); err != nil {
			return err
		}
	}
	if f.json {
		return printJSON(t.stdout, d)
	}
	d.print(t)
	return nil
}

// option completes k and h: f, p and q from epsilon, and the number of cohorts.
func (d *wordsDesign) option(k, h int) (wordOption, error) {
	spec := d.spec
	spec.Mechanism, spec.K, spec.H, spec.M = "rappor-one-time", k, h, 1
	if d.Repeats > 1 {
		if err := withMemory(&spec, h); err != nil {
			return wordOption{}, err
		}
	}
	spec.Lifetime = 0
	var o wordOption
	for m := int64(8); m <= mostDesignCohorts; m *= 2 {
		spec.M = m
		s, err := survey.New(spec)
		if err != nil {
			return o, err
		}
		r := s.Rappor()
		a, err := r.WordAccuracy(d.N, d.Candidates)
		if err != nil {
			return o, err
		}
		o = wordOption{Params: r.Params, Loss: r.Loss(), StdErr: a.StdErr, Detectable: a.Detectable, Overlap: a.Overlap, Joint: a.Joint, spec: spec}
		if f := r.EffectiveF(); spec.F == nil { // what runs, for devices that take f
			o.Params.F = f
		}
		enough := float64(m)*float64(k) >= 4*float64(d.Candidates) && a.Overlap <= a.StdErr/2
		if enough || 10*m > d.N {
			break
		}
	}
	return o, nil
}

// withMemory sets f, p and q so that all reports cost spec's lifetime (default: twice
// epsilon) and one report epsilon, with p + q = 1.
func withMemory(spec *survey.Spec, h int) error {
	lifetime := spec.Lifetime
	if lifetime == 0 {
		lifetime = min(2*spec.Epsilon, ldp.MaxEpsilon)
	}
	if !(lifetime > spec.Epsilon) {
		return &noren.Error{Kind: noren.Usage, Where: "--lifetime", What: "one report must cost less than all reports of a lifetime"}
	}
	// eps_inf = 2 h ln((1-f/2)/(f/2)); one report h ln(((1-p*)/p*)^2) with p* = f/2 + (1-f) p.
	f := math.Ceil(128*2/(math.Exp(lifetime/2/float64(h))+1)) / 128
	wrong := 1 / (math.Exp(spec.Epsilon/2/float64(h)) + 1)
	p := math.Ceil(1e4*(wrong-f/2)/(1-f)) / 1e4
	if !(f > 0 && f < 1 && p > 0 && p < 0.5) {
		return &noren.Error{Kind: noren.Usage, Where: "--epsilon, --lifetime", What: "no f, p and q give these", Hint: "take them further apart, or a larger epsilon"}
	}
	q := 1 - p
	spec.Mechanism, spec.F, spec.P, spec.Q, spec.Epsilon = "rappor", &f, &p, &q, 0
	return nil
}

func (d *wordsDesign) print(t *terminal) {
	w := t.stdout
	fmt.Fprintf(w, "texts among %s, epsilon %g, %s people", plural(d.Candidates, "candidate"), d.Epsilon, report.Integer(d.N))
	if d.Repeats > 1 {
		fmt.Fprintf(w, ", asked %d times", d.Repeats)
	}
	p := d.Best.Params
	fmt.Fprintf(w, "\n\n  take        %s with k = %d, h = %d, m = %d, f = %s, p = %s, q = %s\n", d.Best.spec.Mechanism, p.K, p.H, p.M, figure(p.F), figure(p.P), figure(p.Q))
	for i, why := range d.Why {
		head := "because"
		if i > 0 {
			head = ""
		}
		fmt.Fprintf(w, "  %-11s %s\n", head, why)
	}
	table := report.Table{
		Caption: "\nwhat each is expected to yield: the standard error of a rare word's share, the share that is found with 80 %, and the error by chance overlap with an unnamed word of 10 %",
		Header:  []string{"k", "h", "m", "f", "std. error", "found from", "overlap"},
		Numeric: []bool{true, true, true, true, true, true, true},
	}
	for _, o := range d.Options {
		table.Rows = append(table.Rows, []string{strconv.Itoa(o.Params.K), strconv.Itoa(o.Params.H), strconv.FormatInt(o.Params.M, 10), figure(o.Params.F), figure(o.StdErr), figure(o.Detectable), figure(o.Overlap)})
	}
	printTable(w, &table)
	fmt.Fprintln(w)
	d.Privacy.print(w)
}

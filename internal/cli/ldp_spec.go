package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/ldp"
	"github.com/noren-privacy/noren/ldp/survey"
)

// surveyFlags say what is asked and how it is randomised: a specification, with
// flags laid over it.
type surveyFlags struct {
	spec         string
	column       string // where one is named, in commands that read a table
	question     string
	mechanism    string
	epsilon      float64
	lifetime     float64
	rappor       string
	params       string
	labels       []string
	other        string
	size         int
	edges        string
	edgesEpsilon float64
	bins         string
	numbers      string
	buckets      int
}

func (f *surveyFlags) register(c *cobra.Command) {
	s := c.Flags()
	s.StringVar(&f.spec, "spec", "", "the specification of the reports: YAML or JSON `FILE`, the same on devices and at the collector")
	s.StringVar(&f.question, "question", "", "the `NAME` of what is asked; permanent answers belong to one question")
	s.StringVar(&f.mechanism, "mechanism", "", strings.Join(survey.Mechanisms(), ", "))
	s.Float64Var(&f.epsilon, "epsilon", 0, "what one report costs, of several attributes one record")
	s.Float64Var(&f.lifetime, "lifetime", 0, "what all reports cost together, for the longitudinal mechanisms (default: twice epsilon)")
	s.StringVar(&f.rappor, "rappor", "", "parameters of RAPPOR, as in `k=16,h=2,m=64,p=0.25,q=0.75,f=0.5`")
	s.StringVar(&f.params, "params", "", "parameters of RAPPOR from a params `FILE` of the reference client")
	s.StringSliceVar(&f.labels, "labels", nil, "all `VALUES` that there are, comma-separated")
	s.StringVar(&f.other, "other", "", "the `LABEL` that stands for all values not listed, and for none")
	s.IntVar(&f.size, "size", 0, "the number `K` of labels, where values are 0 to K-1")
	s.StringVar(&f.edges, "edges", "", "`EDGES` of the bins that numbers are put into, rising, comma-separated; public")
	s.Float64Var(&f.edgesEpsilon, "edges-epsilon", 0, "what the edges cost, where a private mechanism computed them")
	s.StringVar(&f.bins, "bins", "", "`LO,HI,COUNT`: bins of one width over a public range")
	s.StringVar(&f.numbers, "range", "", "`LO,HI`: the public range of a number (duchi, piecewise, hybrid, square-wave)")
	s.IntVar(&f.buckets, "buckets", 0, "buckets of the square wave (default 256)")
}

// read is the specification with the flags laid over it.
func (f *surveyFlags) read() (*survey.Spec, error) {
	s := &survey.Spec{Version: survey.Version}
	if f.spec != "" {
		data, _, err := readSide(f.spec, "the specification", "does the file exist?")
		if err != nil {
			return nil, err
		}
		if s, err = survey.Parse(f.spec, data); err != nil {
			return nil, err
		}
	}
	if f.column != "" {
		s.Column = f.column
	}
	if f.question != "" {
		s.Question = f.question
	}
	if f.mechanism != "" {
		s.Mechanism = f.mechanism
	}
	if f.epsilon != 0 {
		s.Epsilon = f.epsilon
	}
	if f.lifetime != 0 {
		s.Lifetime = f.lifetime
	}
	if err := f.domain(s); err != nil {
		return nil, err
	}
	if f.params != "" {
		if err := f.readParams(s); err != nil {
			return nil, err
		}
	}
	return s, f.parameters(s)
}

// domain lays the flags of the domain over s: one of them takes the place of
// whatever the file says.
func (f *surveyFlags) domain(s *survey.Spec) error {
	if len(f.labels) > 0 || f.size != 0 || f.edges != "" || f.bins != "" || f.numbers != "" {
		s.Labels, s.Other, s.Size, s.Edges, s.EdgesEpsilon, s.Bins, s.Range = nil, "", 0, nil, 0, nil, nil
	}
	if len(f.labels) > 0 {
		s.Labels = f.labels
	}
	if f.other != "" {
		s.Other = f.other
	}
	if f.size != 0 {
		s.Size = f.size
	}
	if f.buckets != 0 {
		s.Buckets = f.buckets
	}
	if f.edgesEpsilon != 0 {
		s.EdgesEpsilon = f.edgesEpsilon
	}
	var err error
	if f.edges != "" {
		if s.Edges, err = floats("--edges", f.edges); err != nil {
			return err
		}
	}
	if f.numbers != "" {
		if s.Range, err = floats("--range", f.numbers); err != nil {
			return err
		}
	}
	if f.bins != "" {
		v, err := floats("--bins", f.bins)
		if err != nil {
			return err
		}
		if len(v) != 3 || v[2] != float64(int(v[2])) {
			return &noren.Error{Kind: noren.Usage, Where: "--bins", What: "expected LO,HI,COUNT", Hint: "--bins 0,100,5"}
		}
		s.Bins = &survey.Bins{Low: v[0], High: v[1], Count: int(v[2])}
	}
	return nil
}

// readParams takes RAPPOR's parameters from a file of the reference client.
func (f *surveyFlags) readParams(s *survey.Spec) error {
	p, err := readFile(f.params, "the params file", ldp.ReadParams)
	if err != nil {
		return err
	}
	oneTime := p.P == 0 && p.Q == 1
	basic := len(s.Labels) > 0 || s.Size != 0 || s.Edges != nil || s.Bins != nil
	if s.Mechanism == "" {
		switch {
		case basic && oneTime:
			s.Mechanism = "basic-one-time"
		case basic:
			s.Mechanism = "basic-rappor"
		case oneTime:
			s.Mechanism = "rappor-one-time"
		default:
			s.Mechanism = "rappor"
		}
	}
	s.F, s.P, s.Q, s.Epsilon = &p.F, &p.P, &p.Q, f.epsilon
	if !strings.HasPrefix(s.Mechanism, "basic") {
		s.K, s.H, s.M = p.K, p.H, p.M
		return nil
	}
	k, err := survey.New(*s)
	if err != nil {
		return err
	}
	if p.H != 1 || p.M != 1 || p.K != k.Rappor().K {
		return &noren.Error{Kind: noren.Usage, Where: f.params, What: fmt.Sprintf("its k, h and m are not those of basic RAPPOR on %d labels: k = %d, h = 1, m = 1", k.Rappor().K, k.Rappor().K), Hint: "leave out the labels to read words"}
	}
	return nil
}

// parameters lays --rappor over s.
func (f *surveyFlags) parameters(s *survey.Spec) error {
	if f.rappor == "" {
		return nil
	}
	for _, part := range splitList(f.rappor) {
		name, text, _ := strings.Cut(part, "=")
		v, err := strconv.ParseFloat(text, 64)
		whole := err == nil && v == float64(int64(v))
		bad := &noren.Error{Kind: noren.Usage, Where: "--rappor " + name, What: "expected a number", Hint: "--rappor k=16,h=2,m=64,p=0.25,q=0.75,f=0.5"}
		switch name {
		case "k", "h", "m":
			if !whole {
				bad.What = "expected a whole number"
				return bad
			}
		case "p", "q", "f":
			if err != nil {
				return bad
			}
		default:
			bad.Where, bad.What = "--rappor", fmt.Sprintf("%q is no parameter of RAPPOR", name)
			return bad
		}
		switch name {
		case "k":
			s.K = int(v)
		case "h":
			s.H = int(v)
		case "m":
			s.M = int64(v)
		case "p":
			s.P = &v
		case "q":
			s.Q = &v
		case "f":
			s.F = &v
		}
	}
	return nil
}

// survey is the specification, made to run.
func (f *surveyFlags) survey() (*survey.Survey, error) {
	spec, err := f.read()
	if err != nil {
		return nil, err
	}
	return f.compile(spec)
}

func (f *surveyFlags) compile(spec *survey.Spec) (*survey.Survey, error) {
	s, err := survey.New(*spec)
	if err != nil && f.spec != "" {
		return nil, at(f.spec, err)
	}
	return s, err
}

// readFile reads a small public file that a flag names.
func readFile[T any](path, what string, read func(r io.Reader, name string) (T, error)) (out T, err error) {
	in, err := openSide(path, what)
	if err != nil {
		return out, err
	}
	return read(in, path)
}

// privacyJSON is what every answer about reports says of them: the loss of one
// report of an attribute, of one record and of a lifetime (null: nothing bounds
// it), and what is not protected.
type privacyJSON struct {
	ldp.Loss
	Guarantee    noren.Guarantee
	NotProtected []string
}

// MarshalJSON writes the loss's own fields beside the others.
func (p privacyJSON) MarshalJSON() ([]byte, error) {
	loss, err := p.Loss.MarshalJSON()
	if err != nil {
		return nil, err
	}
	return joinJSON(loss, struct {
		Guarantee    noren.Guarantee `json:"guarantee"`
		NotProtected []string        `json:"not_protected"`
	}{p.Guarantee, p.NotProtected})
}

func privacyOf(s *survey.Survey) privacyJSON {
	return privacyJSON{Loss: s.Loss(), Guarantee: s.Guarantee(), NotProtected: s.Unprotected()}
}

// print tells the promise to people.
func (p *privacyJSON) print(w io.Writer) {
	fmt.Fprintf(w, "  promise     %s\n", p.Loss)
	for i, line := range p.NotProtected {
		head := "not kept"
		if i > 0 {
			head = ""
		}
		fmt.Fprintf(w, "  %-11s %s\n", head, line)
	}
}

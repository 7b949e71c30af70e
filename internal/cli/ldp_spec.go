package cli

import (
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/ldp"
	"github.com/noren-privacy/noren/ldp/survey"
)

// surveyFlags describe the reports: a specification file, and flags that replace its
// values.
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
	said         func(name string) bool // whether a flag is on the command line
}

func (f *surveyFlags) register(c *cobra.Command) {
	s := c.Flags()
	f.said = func(name string) bool { return s.Changed(name) }
	s.StringVar(&f.spec, "spec", "", "the specification of the reports: YAML or JSON `FILE`, the same on devices and at the collector")
	s.StringVar(&f.question, "question", "", "`NAME` of the question; permanent answers belong to one question")
	s.StringVar(&f.mechanism, "mechanism", "", strings.Join(survey.Mechanisms(), ", "))
	s.Float64Var(&f.epsilon, "epsilon", 0, "epsilon of one report, or of one record of several attributes")
	s.Float64Var(&f.lifetime, "lifetime", 0, "epsilon of all reports together, for the longitudinal mechanisms (default: twice epsilon)")
	s.StringVar(&f.rappor, "rappor", "", "parameters of RAPPOR, as in `k=16,h=2,m=64,p=0.25,q=0.75,f=0.5`")
	s.StringVar(&f.params, "params", "", "parameters of RAPPOR from a params `FILE` of the reference client")
	s.StringSliceVar(&f.labels, "labels", nil, "all possible `VALUES`, comma-separated")
	s.StringVar(&f.other, "other", "", "the `LABEL` of all values that are not listed, and of missing ones")
	s.IntVar(&f.size, "size", 0, "the number `K` of labels, where values are 0 to K-1")
	s.StringVar(&f.edges, "edges", "", "`EDGES` of the bins of numbers, rising, comma-separated; public")
	s.Float64Var(&f.edgesEpsilon, "edges-epsilon", 0, "epsilon of the edges, where a private mechanism computed them")
	s.StringVar(&f.bins, "bins", "", "`LO,HI,COUNT`: bins of one width over a public range")
	s.StringVar(&f.numbers, "range", "", "`LO,HI`: the public range of a number (duchi, piecewise, hybrid, square-wave)")
	s.IntVar(&f.buckets, "buckets", 0, "buckets of the square wave (default 256)")
}

// read is the specification with the flags laid over it.
func (f *surveyFlags) read() (api.LDPSurvey, error) {
	s := &survey.Spec{Version: survey.Version}
	if f.spec != "" {
		data, _, err := readSide(f.spec, "the specification", "does the file exist?")
		if err != nil {
			return api.LDPSurvey{}, err
		}
		if s, err = survey.Parse(f.spec, data); err != nil {
			return api.LDPSurvey{}, err
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
		return api.LDPSurvey{}, err
	}
	if f.params != "" {
		if err := f.readParams(s); err != nil {
			return api.LDPSurvey{}, err
		}
	}
	if f.said != nil && f.said("mechanism") && f.mechanism == "" {
		return api.LDPSurvey{}, noren.Usagef("--mechanism", "expected a mechanism, got an empty text").
			Hinted("leave it out: the specification names one")
	}
	err := f.parameters(s)
	return api.LDPSurvey{Spec: *s, File: f.spec}, err
}

// domain lays the flags of the domain over s: one of them replaces the domain of the
// file.
func (f *surveyFlags) domain(s *survey.Spec) error {
	if len(f.labels) > 0 || f.size != 0 || f.edges != "" || f.bins != "" || f.numbers != "" {
		s.Labels, s.Other, s.Size, s.Edges, s.EdgesEpsilon, s.Bins, s.Range = nil, "", 0, nil, 0, nil, nil
	}
	if len(f.labels) == 1 && strings.ContainsAny(f.labels[0], "、，;；") {
		return noren.Usagef("--labels", "expected two or more labels with commas between them, got one").
			Hinted("write --labels A,B with the comma of ASCII")
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
	s.Epsilon = f.epsilon
	return s.SetParams(f.params, &p)
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
		bad := &noren.Error{
			Kind: noren.Usage, Where: "--rappor " + name, What: "expected a number",
			Hint: "--rappor k=16,h=2,m=64,p=0.25,q=0.75,f=0.5",
		}
		switch name {
		case "k", "h", "m":
			if !whole {
				bad.Saying("expected a whole number")
				return bad
			}
		case "p", "q", "f":
			if err != nil {
				return bad
			}
		default:
			bad.Where = "--rappor"
			return bad.Saying("%q is no parameter of RAPPOR", name)
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

// readFile reads a small public file that a flag names.
func readFile[T any](path string, what noren.Phrase, read func(r io.Reader, name string) (T, error)) (out T, err error) {
	in, err := openSide(path, what)
	if err != nil {
		return out, err
	}
	return read(in, path)
}

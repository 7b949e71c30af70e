package survey

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter/yamlbound"
	"github.com/noren-privacy/noren/internal/names"
	"github.com/noren-privacy/noren/ldp"
)

// Version is the version of the specification's format, the only one there is.
const Version = 1

// Spec describes reports: the question, its domain and the mechanism. It is public: devices and
// collector must have the same. In a file it is YAML or JSON.
type Spec struct {
	Version int `yaml:"version" json:"version"`
	// Question names what is asked. A device's permanent answers (RAPPOR, the
	// longitudinal mechanisms) belong to one question.
	Question string `yaml:"question,omitempty" json:"question,omitempty"`
	// Mechanism is one of [Mechanisms]. Required but for several attributes.
	Mechanism string `yaml:"mechanism,omitempty" json:"mechanism,omitempty"`
	// Epsilon of one report; for several attributes, of one record. Required but
	// for RAPPOR with f.
	Epsilon float64 `yaml:"epsilon,omitempty" json:"epsilon,omitempty"`
	// Lifetime is the epsilon of all reports, for the longitudinal mechanisms.
	// Defaults to twice Epsilon.
	Lifetime float64 `yaml:"lifetime,omitempty" json:"lifetime,omitempty"`

	// The parameters of RAPPOR. K, H and M are needed for words; P and Q where it
	// is not one-time; F, or Epsilon instead of it.
	K int      `yaml:"k,omitempty" json:"k,omitempty"`
	H int      `yaml:"h,omitempty" json:"h,omitempty"`
	M int64    `yaml:"m,omitempty" json:"m,omitempty"`
	F *float64 `yaml:"f,omitempty" json:"f,omitempty"`
	P *float64 `yaml:"p,omitempty" json:"p,omitempty"`
	Q *float64 `yaml:"q,omitempty" json:"q,omitempty"`

	// The domain of the one attribute.
	Attribute `yaml:",inline"`

	// Attributes, instead of the one: each report holds Sample of them, drawn at
	// random. Sample defaults to max(1, min(d, floor(epsilon/2.5))).
	Attributes []Attribute `yaml:"attributes,omitempty" json:"attributes,omitempty"`
	Sample     int         `yaml:"sample,omitempty" json:"sample,omitempty"`
}

// Attribute is one attribute and its public domain: labels by Labels, Size, Edges
// or Bins, numbers by Range, exactly one of these; none for the words of RAPPOR.
type Attribute struct {
	// Column is the attribute's column in a table.
	Column string `yaml:"column,omitempty" json:"column,omitempty"`
	// Labels are all the values there are, 2 or more. Other, one of them, stands
	// for every value that is not listed, and for a missing one.
	Labels []string `yaml:"labels,omitempty" json:"labels,omitempty"`
	Other  string   `yaml:"other,omitempty" json:"other,omitempty"`
	// Size is the number of labels where the values are 0 to Size-1.
	Size int `yaml:"size,omitempty" json:"size,omitempty"`
	// Edges part numbers into bins, which are the labels. EdgesEpsilon is what they
	// cost, where a private mechanism computed them from data; without it they
	// are public.
	Edges        []float64 `yaml:"edges,omitempty" json:"edges,omitempty"`
	EdgesEpsilon float64   `yaml:"edges-epsilon,omitempty" json:"edges-epsilon,omitempty"`
	// Bins are bins of one width over a public range.
	Bins *Bins `yaml:"bins,omitempty" json:"bins,omitempty"`
	// Range holds the two public ends of a number.
	Range []float64 `yaml:"range,omitempty" json:"range,omitempty"`
	// Buckets of the square wave. Defaults to 256.
	Buckets int `yaml:"buckets,omitempty" json:"buckets,omitempty"`
}

// Bins are Count bins of one width over [Low, High].
type Bins struct {
	Low   float64 `yaml:"low" json:"low"`
	High  float64 `yaml:"high" json:"high"`
	Count int     `yaml:"count" json:"count"`
}

// Parse reads a specification; name goes into errors. A key that the format does
// not know is an error.
func Parse(name string, data []byte) (s *Spec, err error) {
	// The YAML library panics on some malformed files; that must not cross this
	// border.
	defer func() {
		if recover() != nil {
			s, err = nil, unreadable(name, nil)
		}
	}()
	if err := yamlbound.Check(name, data); err != nil {
		return nil, err
	}
	if line := names.ConnectionLine(data); line > 0 {
		return nil, &noren.Error{
			Kind: noren.Usage, Where: noren.Textf("%s:%d", noren.File(name), line),
			What: "holds a connection string, which is not repeated because it may hold a password",
			Hint: "take it out",
		}
	}
	s = &Spec{}
	dec := yaml.NewDecoder(bytes.NewReader(data), yaml.DisallowUnknownField())
	if err := dec.Decode(s); err != nil {
		return nil, unreadable(name, err)
	}
	var more any
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, &noren.Error{Kind: noren.Usage, Where: noren.File(name), What: "more than one document", Hint: "one specification a file"}
	}
	if s.Version != Version {
		return nil, &noren.Error{
			Kind: noren.Usage, Where: noren.File(name), What: "version %d is not known", Args: []any{s.Version},
			Hint: "write version: %d", HintArgs: []any{Version},
		}
	}
	return s, nil
}

// Write writes s as YAML, as Parse reads it.
func (s *Spec) Write(w io.Writer) error {
	text, err := yaml.Marshal(s)
	if err == nil {
		_, err = w.Write(text)
	}
	if err != nil {
		return &noren.Error{What: "the specification cannot be written", Err: err}
	}
	return nil
}

// SetParams lays RAPPOR's parameters, as a file of the reference client holds them, over
// the specification; name is the file's, for errors. Where the specification names no
// mechanism, it is one-time where p is 0 and q is 1, and Basic RAPPOR where there is a
// domain of labels. An epsilon of the specification is one to check them against.
func (s *Spec) SetParams(name string, p *ldp.Params) error {
	basic := len(s.Labels) > 0 || s.Size != 0 || s.Edges != nil || s.Bins != nil
	if s.Mechanism == "" {
		oneTime := p.P == 0 && p.Q == 1
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
	s.F, s.P, s.Q = &p.F, &p.P, &p.Q
	if !strings.HasPrefix(s.Mechanism, "basic") {
		s.K, s.H, s.M = p.K, p.H, p.M
		return nil
	}
	k, err := New(*s)
	if err != nil {
		return err
	}
	if r := k.Rappor(); p.H != 1 || p.M != 1 || p.K != r.K {
		return &noren.Error{
			Kind: noren.Usage, Where: noren.File(name),
			What: "its k, h and m are not those of basic RAPPOR on %d {label|labels}: k = %d, h = 1, m = 1", Args: []any{r.K, r.K},
			Hint: "leave out the labels to read words",
		}
	}
	return nil
}

// unreadable says where and why a file is no specification.
func unreadable(name string, err error) error {
	out := &noren.Error{
		Kind: noren.Usage, Where: noren.File(name), What: "not a specification of reports",
		Hint: "docs/cli.md, \"The specification of reports\", shows what it may hold",
	}
	var at yaml.Error
	if !errors.As(err, &at) || at.GetToken() == nil {
		return out
	}
	p := at.GetToken().Position
	out.Where = noren.Textf("%s:%d:%d", noren.File(name), p.Line, p.Column)
	out.Saying("not a specification of reports: %s", noren.Foreign(at.GetMessage()))
	var mismatch *yaml.TypeError
	if errors.As(err, &mismatch) {
		out.Saying("not a specification of reports: expected %s, found %s", mismatch.DstType, mismatch.SrcType)
	}
	return out
}

package kinds

import (
	"reflect"
	"slices"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/query"
)

// Question is one question to a data set, with its privacy cost or how close the answer
// must be. Everything in it is public: it must come from what is known of the subject,
// never from the table. In JSON the fields of its kind stand beside kind, pay and margin; those of
// other kinds must be left out.
type Question struct {
	// Of is what is asked. Required.
	Of Kind
	// Pay is the privacy cost of the question. Either Pay or Margin is required.
	Pay *account.Amount
	// Margin is how close the answer must be; the smallest cost that reaches it is charged.
	Margin *Margin

	// fault is why a question that was read is of no kind, or has a field of another one.
	fault error
}

// Margin is how close an answer must be to the answer without noise.
type Margin struct {
	// Within is the largest error: of the value, in the unit of the column or in records; for
	// a quantile by the exponential mechanism of the rank, in records. Required, above 0.
	Within float64 `json:"within"`
	// At is the confidence, a decimal above 0 and below 1. Defaults to 0.95.
	At string `json:"at,omitempty"`
	// About is a guess of the number of records of a group, on which the error of means and
	// variances depends. Defaults, for these, to the public number of records divided by the
	// number of groups; required where no such number is public.
	About int64 `json:"about,omitempty"`
	// Quartiles are the lower and the upper quartile of the column, as published elsewhere.
	// They give the spread from which the error of sampling is computed. Optional.
	Quartiles []float64 `json:"quartiles,omitempty"`
	// Delta is the delta of Gaussian noise in a budget of epsilon. Required there for
	// Gaussian noise, and absent elsewhere.
	Delta string `json:"delta,omitempty"`
}

// Check refuses a question of no kind, and one that was read with a field of another kind. Errors are of kind
// Usage, at the name of the field.
func (q *Question) Check() error {
	if q.fault != nil || q.Of != nil {
		return q.fault
	}
	return noKind()
}

// Name is the name of the question's kind; empty where it has none.
func (q *Question) Name() string {
	if s := shapeOf(q.Of); s != nil {
		return s.name
	}
	return ""
}

// Said is the question in words; none for a question of no kind.
func (q *Question) Said() []lang.Message {
	if q.Of == nil {
		return nil
	}
	return []lang.Message{q.Of.Said()}
}

// Noise is the mechanism that the question names, or empty.
func (q *Question) Noise() string { return of[string](q.Of, "Noise") }

// WithNoise is the question with that mechanism.
func (q Question) WithNoise(name string) Question { return q.with("Noise", name) }

// Where is the condition of the question, or empty.
func (q *Question) Where() string { return of[string](q.Of, "Where") }

// Rank is the quantile that the question states, or empty.
func (q *Question) Rank() string { return of[string](q.Of, "Rank") }

// By are the columns of the question's groups.
func (q *Question) By() []string { return of[[]string](q.Of, "By") }

// MaxRows is how many records of a person count, or 0.
func (q *Question) MaxRows() int64 { return of[int64](q.Of, "MaxRows") }

// WithMaxRows is the question with that many records of a person, if its kind counts persons so.
func (q Question) WithMaxRows(n int64) Question { return q.with("MaxRows", n) }

// Public is the public table of the question, or empty.
func (q *Question) Public() string { return of[string](q.Of, "Public") }

// WithPublic is the question with that public table, if its kind has one.
func (q Question) WithPublic(path string) Question { return q.with("Public", path) }

// WithoutGroups is the question about all records.
func (q Question) WithoutGroups() Question {
	return q.with("By", []string(nil)).with("Keys", [][]string(nil))
}

// WithBounds is the question with these bounds, if its kind has some.
func (q Question) WithBounds(low, high string) Question { return q.with("Bounds", []string{low, high}) }

// Query is a question that a mechanism of package query answers.
type Query struct {
	Kind     query.Kind
	Column   string
	Where    string
	By       []string
	Keys     [][]string
	Bounds   []string
	Bins     []string
	Values   []string
	Rank     string
	Noise    string
	MaxRows  int64
	GridBits *int
}

// Query is the question as one to package query; false where its mechanism is of another package.
func (q *Question) Query() (out Query, ok bool) {
	if q.Of == nil {
		return out, false
	}
	out.Kind = q.Of.Facts().Query
	from, to := reflect.ValueOf(q.Of), reflect.ValueOf(&out).Elem()
	for i := range from.NumField() {
		if f := to.FieldByName(from.Type().Field(i).Name); f.IsValid() {
			f.Set(from.Field(i))
		}
	}
	return out, out.Kind != ""
}

// Question is the query as a question; false where no kind has that name.
func (q Query) Question() (Question, bool) {
	at := slices.IndexFunc(all, func(k Kind) bool { return q.Kind != "" && k.Facts().Query == q.Kind })
	if at < 0 {
		return Question{}, false
	}
	to, from := reflect.New(reflect.TypeOf(all[at])).Elem(), reflect.ValueOf(q)
	for i := range to.NumField() {
		to.Field(i).Set(from.FieldByName(to.Type().Field(i).Name))
	}
	return Question{Of: to.Interface().(Kind)}, true
}

// with is the question with another value of a field, and the same where its kind has no such field.
func (q Question) with(field string, value any) Question {
	if q.Of == nil {
		return q
	}
	k := reflect.New(reflect.TypeOf(q.Of)).Elem()
	k.Set(reflect.ValueOf(q.Of))
	if f := k.FieldByName(field); f.IsValid() {
		f.Set(reflect.ValueOf(value))
		q.Of = k.Interface().(Kind)
	}
	return q
}

// of is a field of a kind; the zero value where it has none.
func of[T any](k Kind, field string) (out T) {
	if k == nil {
		return out
	}
	if f := reflect.ValueOf(k).FieldByName(field); f.IsValid() {
		out, _ = f.Interface().(T)
	}
	return out
}

// chosen are the arguments of a sentence about a column, a condition, groups and a rank: those that a kind states.
func chosen(k Kind) map[string]any {
	args := map[string]any{}
	for name, value := range map[string]string{
		"column": of[string](k, "Column"), "where": of[string](k, "Where"), "rank": of[string](k, "Rank"),
		"by": strings.Join(of[[]string](k, "By"), ", "),
	} {
		if value != "" {
			args[name] = value
		}
	}
	return args
}

// said is the sentence of a code about what a kind states.
func said(code string, k Kind) lang.Message { return lang.Say("asked."+code, chosen(k)) }

// Names are the names of all kinds, in the order in which they are offered.
func Names() []string {
	var out []string
	for _, f := range All() {
		out = append(out, f.Name)
	}
	return out
}

// noKind is the error about a question of no kind.
func noKind() error {
	names := Names()
	last := len(names) - 1
	list := noren.Textf("%s", names[0])
	for _, name := range names[1:last] {
		list = noren.Textf("%s, %s", list, name)
	}
	return noren.Usagef("kind", "expected %s or %s, got another", list, names[last])
}

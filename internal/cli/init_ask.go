package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/grid"
	"github.com/noren-privacy/noren/lang"
	words "github.com/noren-privacy/noren/report/text"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table"
)

// interview asks the steward what decides on roles and k.
type interview struct {
	in   *bufio.Reader
	out  io.Writer
	echo bool // of the answers, where the input is no terminal
}

// errNoAnswer is the error of an input that ended before the last question.
func errNoAnswer() error {
	return noren.Usagef("--interactive", "the answers ended before the last question").
		Hinted("answer four questions, one per line; an empty line takes what is proposed")
}

// line asks one question and returns its answer without spaces around it.
func (q *interview) line(prompt string) (string, error) {
	fmt.Fprint(q.out, prompt)
	text, err := q.in.ReadString('\n')
	text = strings.TrimSpace(text)
	if err != nil && text == "" {
		fmt.Fprintln(q.out)
		return "", errNoAnswer()
	}
	if q.echo {
		fmt.Fprintln(q.out, text)
	}
	return text, nil
}

// ask puts all questions. An answer that is not understood is asked for again where a
// person answers, and an error otherwise.
func (q *interview) ask(r *api.Inspection) (*api.StewardAnswers, error) {
	w := grid.New(q.out)
	lang.Fprintln(w, "column\ttype\tproposed role")
	for _, c := range r.Columns {
		lang.Fprintf(w, "%s\t%s\t%s\n", c.Name, lang.Of(w).Term(c.Type), c.RoleWhy.In(lang.Of(w)))
	}
	if err := w.Flush(); err != nil {
		return nil, err
	}
	a := &api.StewardAnswers{}
	for i, question := range []func(*api.Inspection, *api.StewardAnswers) error{q.recipients, q.known, q.harmful, q.unit} {
		fmt.Fprintln(q.out)
		for {
			err := question(r, a)
			if err == nil {
				break
			}
			var again *unclear
			if !errors.As(err, &again) {
				return nil, err
			}
			if q.echo { // the next line would be taken for the answer to another question
				fault := *again.fault
				if fault.Hint == "" {
					fault.Hinted("correct answer %d of the input, and run the command again: nothing was written", i+1)
				}
				return nil, &fault
			}
			fmt.Fprintln(q.out, "  ", lang.Of(q.out).Shown(again.fault.Said()))
			if again.fault.Hint != "" {
				fmt.Fprintln(q.out, "  ", lang.Of(q.out).Shown(again.fault.Advice()))
			}
		}
	}
	fmt.Fprintln(q.out)
	return a, nil
}

// unclear is an answer that is not understood, and is asked for again.
type unclear struct{ fault *noren.Error }

// Error implements error.
func (e *unclear) Error() string { return e.fault.Error() }

// Unwrap returns the fault, which has the kind.
func (e *unclear) Unwrap() error { return e.fault }

// unclearf makes an [unclear] answer.
func unclearf(format noren.Format, args ...any) *unclear {
	return &unclear{noren.Usagef("--interactive", format, args...)}
}

func (q *interview) recipients(_ *api.Inspection, a *api.StewardAnswers) error {
	lang.Fprintln(q.out, "1. Who receives the release?")
	w := grid.New(q.out)
	lang.Fprintf(w, "   1\t%s\tk = %d\n", noren.Phrase("anybody: it is published"), spec.Public.K())
	lang.Fprintf(w, "   2\t%s\tk = %d\n", noren.Phrase("people who agree in writing not to look for persons"), spec.Agreement.K())
	lang.Fprintf(w, "   3\t%s\tk = %d\n", noren.Phrase("colleagues within your organisation"), spec.Organisation.K())
	if err := w.Flush(); err != nil {
		return err
	}
	answer, err := q.line(lang.Of(q.out).Text("   1, 2 or 3 [2]: "))
	if err != nil {
		return err
	}
	switch answer {
	case "1", string(spec.Public):
		a.Recipients = spec.Public
	case "", "2", string(spec.Agreement):
		a.Recipients = spec.Agreement
	case "3", string(spec.Organisation):
		a.Recipients = spec.Organisation
	default:
		return unclearf("expected 1, 2 or 3")
	}
	return nil
}

func (q *interview) known(r *api.Inspection, a *api.StewardAnswers) (err error) {
	lang.Fprintln(q.out, "2. What may they know of a person in the table? Think of neighbours, colleagues, an")
	lang.Fprintln(q.out, "   insurer, registers and what people publish themselves.")
	proposed := withRole(r, table.Quasi)
	w := grid.New(q.out)
	for _, c := range r.Columns {
		if c.Role == table.Quasi.String() {
			lang.Fprintf(w, "   %s\t%s\n", c.Name, words.Known(lang.Of(q.out), &c))
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	a.Known, err = q.columns(r, lang.Of(q.out).Text("columns"), proposed)
	if err == nil && len(a.Known) == 0 {
		return unclearf("expected at least one column that others may know")
	}
	return err
}

func (q *interview) harmful(r *api.Inspection, a *api.StewardAnswers) (err error) {
	lang.Fprintln(q.out, "3. What would harm a person if others learned it: an illness, a debt, a judgement? Each")
	lang.Fprintln(q.out, "   class of the release will hold at least two different values of it.")
	if a.Harmful, err = q.columns(r, lang.Of(q.out).Text("columns, or none"), withRole(r, table.Sensitive)); err != nil {
		return err
	}
	for _, name := range a.Harmful {
		for _, known := range a.Known {
			if name == known {
				return unclearf("others know %s by your second answer: nothing is left to learn", name)
			}
		}
	}
	return nil
}

func (q *interview) unit(r *api.Inspection, a *api.StewardAnswers) error {
	lang.Fprintln(q.out, "4. Can a person have several records? Then which column tells persons apart? It is")
	lang.Fprintln(q.out, "   dropped, and k counts persons.")
	proposed := []string{}
	for _, c := range r.Columns {
		if c.Unit && c.Role == table.Identifier.String() {
			proposed = []string{c.Name}
			break
		}
	}
	names, err := q.columns(r, lang.Of(q.out).Text("a column, or none"), proposed)
	switch {
	case err != nil:
		return err
	case len(names) > 1:
		return unclearf("expected one column, got %d", len(names))
	case len(names) == 1:
		a.Unit = names[0]
		for _, other := range append(append([]string{}, a.Known...), a.Harmful...) {
			if other == a.Unit {
				return unclearf("%s is in another of your answers, and a column that tells persons apart is dropped", other)
			}
		}
	}
	return nil
}

// columns asks for names of columns. An empty answer takes those that are proposed.
func (q *interview) columns(r *api.Inspection, what string, proposed []string) ([]string, error) {
	shown := "none"
	if len(proposed) > 0 {
		shown = strings.Join(proposed, ",")
	}
	answer, err := q.line(fmt.Sprintf("   %s [%s]: ", what, shown))
	switch {
	case err != nil:
		return nil, err
	case answer == "":
		return proposed, nil
	case answer == "none":
		return nil, nil
	}
	var all, names []string
	for _, c := range r.Columns {
		all = append(all, c.Name)
	}
	for name := range strings.SplitSeq(strings.ReplaceAll(answer, "、", ","), ",") {
		name = strings.TrimSpace(name)
		if name == "" {
			continue
		}
		found := false
		for _, other := range all {
			found = found || other == name
		}
		if !found {
			e := unclearf("the table has no column %s", name)
			if best := table.Nearest(name, all); best != "" {
				e.fault.Hinted("did you mean %s?", best)
			}
			return nil, e
		}
		names = append(names, name)
	}
	return names, nil
}

// withRole are the columns for which a role is proposed.
func withRole(r *api.Inspection, role table.Role) []string {
	names := []string{}
	for _, c := range r.Columns {
		if c.Role == role.String() {
			names = append(names, c.Name)
		}
	}
	return names
}

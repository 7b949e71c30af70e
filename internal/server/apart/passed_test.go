package apart

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/frames"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/internal/plainfile"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
)

// speaking is an error with a text of its own, as those of several packages.
type speaking struct{ cause error }

func (s speaking) Error() string    { return s.Text().String() }
func (s speaking) Text() noren.Text { return noren.Textf("column %s", "age") }
func (s speaking) Unwrap() error    { return s.cause }

// sorts are errors of every sort, each alone and in the places where one stands.
func sorts() []error {
	inner := &noren.Error{
		Kind: noren.BadData, Code: "ragged", Where: noren.File("/srv/tables/a.csv"), What: "%d fields", Args: []any{3},
		Hint: "give %s", HintArgs: []any{noren.File("/srv/b.csv")},
	}
	path := &fs.PathError{Op: "open", Path: "/srv/tables/x.csv", Err: syscall.ENOSPC}
	alone := []error{
		inner, path, &os.LinkError{Op: "rename", Old: "/srv/a", New: "/srv/b", Err: syscall.EXDEV}, os.NewSyscallError("write", syscall.EDQUOT),
		syscall.ENOSPC, syscall.ENOENT, fs.ErrNotExist, context.Canceled, context.DeadlineExceeded, io.ErrUnexpectedEOF, errors.New("no digits"),
		plainfile.ErrNot,
		spec.Faults{inner, inner},
		spec.Faults{},
		speaking{},
		speaking{inner},
		&noren.Error{Where: "input"}, &noren.Error{},
	}
	all := alone
	for _, err := range alone {
		all = append(
			all,
			&noren.Error{Kind: noren.Usage, Where: noren.Place{noren.File("/srv/c.csv"), "age"}, What: "no", Err: err},
			&noren.Error{Kind: noren.Usage, What: "cannot be read: %s", Args: []any{err}},
			fmt.Errorf("people.csv: %w", err), fmt.Errorf("line 3: %w", fmt.Errorf("column 1 (age): %w", err)),
			errors.Join(err, inner), fmt.Errorf("%w and %w", err, inner), speaking{err},
			&noren.Error{Kind: noren.BadData, What: "no", Err: fmt.Errorf("record 3: %w", err)},
		)
	}
	return all
}

// Each reader of an error finds in it what it finds in the error of the operation itself.
func TestPassedErrorsAreTheSame(t *testing.T) {
	for _, err := range sorts() {
		data, e := encode(pass(err))
		if e != nil {
			t.Fatal(e)
		}
		var p passed
		if e := decode(data, &p); e != nil {
			t.Fatal(e)
		}
		if a, b := seenOf(err), seenOf(p.error()); a != b {
			t.Errorf("%T\n%s\nbecame\n%s", err, a, b)
		}
	}
}

// seenOf is all that is read of an error.
func seenOf(err error) string {
	var b bytes.Buffer
	fmt.Fprintln(&b, err, noren.KindOf(err), noren.CodeOf(err), noren.WithoutFolders(err))
	for _, one := range append(known(), io.ErrUnexpectedEOF, syscall.EXDEV) {
		fmt.Fprint(&b, errors.Is(err, one), " ")
	}
	var faults spec.Faults
	var path *fs.PathError
	var link *os.LinkError
	var number syscall.Errno
	var several interface{ Unwrap() []error }
	fmt.Fprintln(&b, errors.As(err, &faults), errors.As(err, &path), errors.As(err, &link), errors.As(err, &number), errors.As(err, &several))
	for _, l := range lang.All() {
		fmt.Fprintln(&b, l.Error(err))
		p := problem.From(err).In(l)
		fmt.Fprintln(&b, p.Code, p.Detail, p.Hint, p.Where)
		for _, f := range p.Errors {
			fmt.Fprintln(&b, f.Pointer, f.In(l))
		}
	}
	return b.String()
}

// A process that does not stop to write, or never ends, is ended, and what it said is an error.
func TestProcessThatDoesNotEnd(t *testing.T) {
	path, _ := people(t, 40)
	for _, how := range []string{"endless", "unknown", "stays", "deep"} {
		var cmd *exec.Cmd
		r := runner(how)
		start := r.Command
		r.Command = func(ctx context.Context) *exec.Cmd { cmd = start(ctx); return cmd }
		r.ending = 200 * time.Millisecond
		done := make(chan error, 1)
		go func() {
			_, err := r.Operations().Inspect(t.Context(), &api.InspectRequest{Table: api.Table{Input: path}})
			done <- err
		}()
		select {
		case err := <-done:
			var p *problem.Problem
			large := how == "endless" && noren.CodeOf(err) == meter.Code
			if !large && (!errors.As(err, &p) || p.Code != "unavailable") {
				t.Errorf("%s: %v", how, err)
			}
		case <-time.After(20 * time.Second):
			_ = cmd.Process.Kill()
			t.Fatalf("%s: the operation does not end", how)
		}
		if cmd.ProcessState == nil {
			t.Errorf("%s: the process was left", how)
		}
	}
}

// misbehave is a process of another program.
func misbehave(how string) bool {
	out := frames.NewWriter(os.Stdout)
	switch how {
	case "endless":
		for out.Write([]byte{isPart}, make([]byte, 1<<20)) == nil {
		}
	case "unknown": // and more than a pipe holds
		for out.Write([]byte{'?'}, make([]byte, 1<<16)) == nil {
		}
	case "stays":
		_ = out.Write([]byte{isProgress, 0, 0, 0})
		_ = out.Close()
		time.Sleep(time.Hour)
	case "deep":
		_ = out.Write([]byte{isError}, nested(20<<20))
		_ = out.Close()
	default:
		return false
	}
	return true
}

// nested is an error that wraps another one, and so on, as bytes.
func nested(levels int) []byte {
	shallow, err := encode(&passed{})
	if err != nil {
		panic(err)
	}
	deeper, err := encode(&passed{Cause: &passed{}})
	if err != nil {
		panic(err)
	}
	at := 0
	for shallow[at] == deeper[at] {
		at++
	}
	head := deeper[:at+1] // up to what tells that there is a cause
	return bytes.Repeat(head, levels/len(head))
}

type (
	level   int
	letters string
	share   float64
)

func (l level) String() string { return [...]string{"low", "high"}[l] }

// An argument of a text is written as it was before it was passed, whatever verb writes it.
func TestPassedArguments(t *testing.T) {
	for _, arg := range []any{
		"x", true, 3, int8(-3), 'あ', uint8(7), uint64(1 << 63), float32(0.1), 0.1, math.NaN(), math.Inf(-1), math.Copysign(0, -1),
		level(1), letters("a"), share(0.25), time.Second, []byte("AB"),
		[2]byte{1, 2},
		[]string{"a", "b"},
		[]letters{"a", "b"},
		[]level{0, 1},
		[]float64{0.5, 1},
		[]any{"a", 1},
		[]string(nil), []letters(nil), nil, noren.File("/a/b.csv"),
		noren.Names{"a", "b", "c"},
		noren.Phrase("the whole table"),
		noren.Position{File: "/a/b.csv", Line: 3, Field: 1, Column: "age"},
		noren.Textf("column %s", "age"),
		noren.Texts{noren.Textf("line %d", 1)},
		table.Integer,
		privacy.Requirement{K: 3},
		csvio.UTF8, spec.Public,
	} {
		for _, format := range []noren.Format{"%v", "%s", "%d", "%q", "%x", "%5v|", "%.1f", "%t", "%d {row|rows}", "%6.2f", "%+d", "%c"} {
			if _, speaks := arg.(interface{ Text() noren.Text }); speaks && format != "%s" && format != "%v" {
				continue
			}
			text := noren.Text{Format: format, Args: []any{arg}}
			data, err := encode(&text)
			if err != nil {
				t.Fatal(err)
			}
			var got noren.Text
			if err := decode(data, &got); err != nil {
				t.Fatal(err)
			}
			for _, l := range lang.All() {
				if a, b := l.Shown(text), l.Shown(got); a != b && !strings.Contains(a, "%!") {
					t.Errorf("%T as %s: %q, passed %q", arg, format, a, b)
				}
			}
			if a, b := text.WithoutFolders().String(), got.WithoutFolders().String(); a != b && !strings.Contains(a, "%!") {
				t.Errorf("%T as %s without folders: %q, passed %q", arg, format, a, b)
			}
		}
	}
}

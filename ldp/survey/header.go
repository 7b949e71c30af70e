package survey

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/ldp"
)

// A file of reports, or of counts, names the specification by which its reports were made:
//
//	# noren ldp reports 1 sha256:HEX question:"NAME"
//
// HEX is [Survey.SHA256] and NAME the question, as JSON. The line comes before the reports;
// it is checked wherever it is, so that files may be joined. A file of binary reports has it
// in a file beside ([BesideName]). Reports themselves are as they would be without it, and
// files without it are read: nothing ties these to a specification. A line for people stands
// below it in a file of texts ([Survey.Meaning]), and is skipped wherever it is.
const headerStart = "# noren ldp reports "

// headerVersion is the version of the line, the only one there is.
const headerVersion = "1"

// Header is the line that files of reports of the survey begin with, without its end.
func (s *Survey) Header() string { return headerOf(s.SHA256(), s.Question()) }

func headerOf(sha256, question string) string {
	return headerStart + headerVersion + " sha256:" + sha256 + " question:" + quoted(question)
}

// quoted is a text as JSON.
func quoted(text string) string {
	var name bytes.Buffer
	enc := json.NewEncoder(&name)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // a text can be encoded
	return strings.TrimRight(name.String(), "\n")
}

// isHeader tells whether a line names a specification. A line with a tab is a client's
// report: a name has its tabs escaped.
func isHeader(line string) bool {
	return strings.HasPrefix(line, headerStart) && !strings.Contains(line, "\t")
}

// parseHeader reads what [Survey.Header] writes.
func parseHeader(line string) (sha256, question string, err error) {
	bad := &noren.Error{
		Kind: noren.BadData, What: "a line that should name the specification, and is damaged", Hint: "expected: %s",
		HintArgs: []any{headerOf(strings.Repeat("0", 64), "NAME")},
	}
	rest, ok := strings.CutPrefix(strings.TrimRight(line, " \r\n"), headerStart+headerVersion+" sha256:")
	sha256, name, ok2 := strings.Cut(rest, " question:")
	if b, err := hex.DecodeString(sha256); !ok || !ok2 || err != nil || len(b) != 32 {
		return "", "", bad
	}
	if json.Unmarshal([]byte(name), &question) != nil {
		return "", "", bad
	}
	return strings.ToLower(sha256), question, nil
}

// named is what files say of their specification.
type named struct {
	// question that the files name, where the specification has none.
	question string
	seen     bool
	// without are the files of which reports come before any line that names one.
	without []string
}

// check refuses a line that names another specification than the survey's. A survey
// without a question takes that of the first line, and every further line must have it.
func (n *named) check(s *Survey, line string) error {
	sha256, question, err := parseHeader(line)
	if err != nil {
		return err
	}
	own := s.Question()
	if own == "" && n.seen {
		own = n.question
	} else if own == "" {
		own = question
	}
	if want := s.sha256Of(own); sha256 != want || question != own {
		what := noren.Textf("the reports were made by another specification, of SHA-256 %s; the one given has %s", sha256, want)
		if question != own {
			what = noren.Textf("the reports answer the question %q, and the specification asks %q", question, own)
		}
		return &noren.Error{
			Kind: noren.BadData, Code: "other-specification", What: what.Format, Args: what.Args,
			Hint: "name the specification by which they were made: question, domain, mechanism and all parameters",
		}
	}
	n.seen, n.question = true, own
	return nil
}

// Question is the name of the question: the survey's, or the one that files of reports
// name where it has none.
func (c *Collector) Question() string { return c.of.of(c.s) }

// Without are the files that name no specification before their first report: nothing
// ties these reports to the one by which they are estimated.
func (c *Collector) Without() []string { return slices.Clone(c.of.without) }

func (n *named) of(s *Survey) string {
	if q := s.Question(); q != "" {
		return q
	}
	return n.question
}

// Counts are those of RAPPOR with what their file says of the specification.
type Counts struct {
	*ldp.RapporCounts
	// Question that the file names.
	Question string
	// Tied says that the file names the survey's specification.
	Tied bool
}

// WriteCounts writes a counts file: the line that names the specification, where tied says
// that all reports were made by it, and the rows of the reference. question is the name of
// the question, for a survey without one.
func (s *Survey) WriteCounts(w io.Writer, c *ldp.RapporCounts, question string, tied bool) error {
	if tied {
		if q := s.Question(); q != "" {
			question = q
		}
		if _, err := io.WriteString(w, headerOf(s.sha256Of(question), question)+"\r\n"); err != nil {
			return err
		}
	}
	return ldp.WriteCounts(w, c)
}

// ReadCounts reads what WriteCounts or the reference wrote. A file that names another
// specification is refused.
func (s *Survey) ReadCounts(in io.Reader, name string) (*Counts, error) {
	r := bufio.NewReaderSize(in, 1<<16)
	out := &Counts{}
	var n named
	if first, _ := r.Peek(len(headerStart)); string(first) == headerStart {
		line, err := r.ReadSlice('\n') // of a buffer: no header is longer
		if err == nil || err == io.EOF {
			err = n.check(s, strings.TrimRight(string(line), "\r\n"))
		}
		if err != nil {
			return nil, &noren.Error{Kind: noren.BadData, Where: noren.Position{File: name, Line: 1}, Err: err}
		}
		out.Tied, out.Question = true, n.question
	}
	var err error
	out.RapporCounts, err = s.rappor.ReadCounts(r, name)
	return out, err
}

// BesideName is the name of the file that names the specification of a file of binary
// reports: it holds the line of [Survey.Header].
func BesideName(reports string) string { return reports + ".spec" }

// maxBeside is the longest file beside reports that is read, in bytes.
const maxBeside = 1 << 20

// CheckBeside reads the file beside a file of binary reports, and refuses one that names
// another specification. question is the one that the file names; tied is false where
// there is no such file.
func (s *Survey) CheckBeside(reports string) (question string, tied bool, err error) {
	name := BesideName(reports)
	f, err := os.Open(name)
	if os.IsNotExist(err) {
		return "", false, nil
	}
	if err != nil {
		return "", false, &noren.Error{Kind: noren.BadData, Where: noren.File(name), What: "the file that names the specification cannot be read"}
	}
	defer func() { _ = f.Close() }()
	text, err := meter.ReadAll(f, maxBeside, noren.File(name))
	var n named
	if meter.Refused(err) != nil {
		return "", false, err
	}
	if err == nil {
		err = n.check(s, strings.TrimRight(string(text), "\r\n"))
	}
	if err != nil {
		return "", false, &noren.Error{Kind: noren.BadData, Where: noren.File(name), Err: err}
	}
	return n.question, true, nil
}

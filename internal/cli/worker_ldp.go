package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/frames"
	"github.com/noren-privacy/noren/ldp"
	"github.com/noren-privacy/noren/ldp/survey"
	"github.com/noren-privacy/noren/report"
	"github.com/noren-privacy/noren/service"
)

// newWorkerLDPCount counts the reports of one file. Its output is one frame: the SHA-256 of
// the file, a byte that is 1 where the file names the specification, the length and the
// bytes of the question that it names, and the counts in binary form.
func newWorkerLDPCount(t *terminal) *cobra.Command {
	var f surveyFlags
	var packed, repeats bool
	c := &cobra.Command{
		Use:   "ldp-count REPORTS --spec SPEC",
		Short: "Count the reports of one file",
		Args:  exactly("REPORTS"),
		RunE: func(c *cobra.Command, args []string) error {
			rappor, s, err := f.rapporSurvey()
			if err != nil {
				return err
			}
			if err := service.Public(c.Context(), t.service(nil), args[0]); err != nil {
				return err
			}
			in, err := os.Open(args[0])
			if err != nil {
				return &noren.Error{
					Kind: noren.Usage, Where: args[0], What: "the reports cannot be read",
					Hint: "does the file exist on every machine of the cluster?",
				}
			}
			defer func() { _ = in.Close() }()
			hash := sha256.New()
			counts, err := countReports(c.Context(), rappor, s, io.TeeReader(in, hash), args[0], packed, repeats)
			if err != nil {
				return err
			}
			return t.answerFrames(func(w *frames.Writer) error {
				return w.Write(hash.Sum(nil), countedHead(counts), counts.AppendBinary(nil))
			})
		},
	}
	f.register(c)
	registerReports(c, &packed, &repeats)
	return c
}

func registerReports(c *cobra.Command, packed, repeats *bool) {
	c.Flags().BoolVar(packed, "binary", false, "reports are 8 bytes: cohort and bits, 4 bytes each, lowest byte first; FILE.spec beside "+
		"them names the specification, in the line of a report file")
	c.Flags().BoolVar(repeats, "allow-repeats", false, "count every report of a client; errors are then larger than stated")
}

// rapporSurvey is the survey of the flags, of which RAPPOR alone has counts that add up.
func (f *surveyFlags) rapporSurvey() (*ldp.Rappor, *survey.Survey, error) {
	of, err := f.read()
	if err != nil {
		return nil, nil, err
	}
	s, err := survey.New(of.Spec)
	if err != nil {
		if of.File != "" {
			return nil, nil, &noren.Error{Kind: noren.KindOf(err), Where: noren.File(of.File), Err: err}
		}
		return nil, nil, err
	}
	if s.Rappor() == nil {
		return nil, nil, &noren.Error{
			Kind: noren.Usage, Where: "mechanism", What: "counts are of rappor, and the specification is of %s",
			Args: []any{s.Mechanism()}, Hint: "estimate other mechanisms from their reports",
		}
	}
	return s.Rappor(), s, nil
}

// countReports counts the reports of a file.
func countReports(ctx context.Context, r *ldp.Rappor, s *survey.Survey, in io.Reader, name string, packed, repeats bool) (*survey.Counts,
	error,
) {
	if packed {
		question, tied, err := s.CheckBeside(name)
		if err != nil {
			return nil, err
		}
		c, err := r.NewCollector()
		if err != nil {
			return nil, err
		}
		if err := c.AddBinary(ctx, in); err != nil {
			return nil, &noren.Error{Kind: noren.KindOf(err), Where: name, Err: err}
		}
		return &survey.Counts{RapporCounts: c.Counts(), Question: question, Tied: tied}, nil
	}
	c, err := s.NewCollector()
	if err != nil {
		return nil, err
	}
	c.AllowRepeats = repeats
	if err := c.AddLines(ctx, in, name); err != nil {
		return nil, err
	}
	if c.Clients() > 0 {
		return nil, &noren.Error{
			Kind: noren.BadData, Where: noren.File(name),
			What: "its lines name clients, and second reports of a client in other files are not seen here",
			Hint: "count files of reports without names, or allow repeats where each client reported once",
		}
	}
	counts := c.Counts()
	counts.Rejected = c.Rejected()
	return &survey.Counts{RapporCounts: counts, Question: c.Question(), Tied: len(c.Without()) == 0}, nil
}

// countedHead says whether a file names the specification, and its question.
func countedHead(c *survey.Counts) []byte {
	tied := byte(0)
	if c.Tied {
		tied = 1
	}
	return append(binary.AppendUvarint([]byte{tied}, uint64(len(c.Question))), c.Question...)
}

// cutCountedHead reads what countedHead writes.
func cutCountedHead(text []byte) (question string, tied bool, rest []byte, ok bool) {
	if len(text) == 0 || text[0] > 1 {
		return "", false, nil, false
	}
	size, n := binary.Uvarint(text[1:])
	if n <= 0 || size > uint64(len(text)-1-n) {
		return "", false, nil, false
	}
	at := 1 + n + int(size)
	return string(text[1+n : at]), text[0] == 1, text[at:], true
}

// newWorkerLDPSum adds up what ldp-count wrote: frames of its output come in, and one
// frame goes out, the sum as JSON. With -o the sum is written as a counts file.
func newWorkerLDPSum(t *terminal) *cobra.Command {
	var f surveyFlags
	var packed, repeats, force, check bool
	var output string
	var malformed float64
	c := &cobra.Command{
		Use:   "ldp-sum --spec SPEC -o COUNTS",
		Short: "Sum the counts of all files",
		Args:  cobra.NoArgs,
		RunE: func(_ *cobra.Command, _ []string) error {
			if output == "" || output == "-" {
				return &noren.Error{Kind: noren.Usage, Where: "--output", What: "expected the name of a file for the counts"}
			}
			if !(malformed > 0 && malformed <= 1) {
				return &noren.Error{Kind: noren.Usage, Where: "--max-malformed", What: "expected a share above 0, at most 1"}
			}
			if err := checkTargets(force, output); err != nil {
				return err
			}
			rappor, sv, err := f.rapporSurvey()
			if err != nil {
				return err
			}
			if check {
				return nil
			}
			total, files, without, err := sumCounts(rappor, frames.NewReader(t.stdin), repeats)
			if err != nil {
				return err
			}
			sum := total.RapporCounts
			bad, all := sum.Rejected.Total()-sum.Rejected.Duplicate, sum.Reports()+sum.Rejected.Total()
			if float64(bad) > malformed*float64(all) {
				return &noren.Error{
					Kind: noren.BadData, Code: "malformed-reports", What: "%s of %s {line|lines} {1|is no report|are no reports} of this mechanism: %s",
					Args: []any{report.Integer(bad), report.Integer(all), sum.Rejected},
					Hint: "see whether the specification is the one that the reports were made by; a larger share can be allowed",
				}
			}
			if err := writeFile(output, force, t.stdout,
				func(w io.Writer) error { return sv.WriteCounts(w, sum, total.Question, total.Tied) }); err != nil {
				return err
			}
			return t.answerFrames(func(w *frames.Writer) error {
				var text bytes.Buffer
				out := api.LDPCounted{
					Schema: api.LDPCountedSchema, Output: output, Files: files, Without: without, Reports: sum.Reports(),
					Rejected: sum.Rejected,
				}
				if err := printJSON(&text, out); err != nil {
					return err
				}
				return w.Write(text.Bytes())
			})
		},
	}
	f.register(c)
	registerReports(c, &packed, &repeats)
	s := c.Flags()
	s.StringVarP(&output, "output", "o", "", "write the counts to this `FILE`, as the reference does")
	s.Float64Var(&malformed, "max-malformed", 0.01, "the largest share of malformed lines that is allowed; 1 allows any")
	s.BoolVar(&force, "force", false, "replace files that exist")
	s.BoolVar(&check, "check", false, "check the flags and the output and read nothing")
	return c
}

// alikeReports is from how many reports on two files of the same content are taken for one
// file that was named twice.
const alikeReports = 20

// sumCounts adds up frames of ldp-count. The sum is tied to the specification where every
// file is; without is the number of files that are not.
func sumCounts(r *ldp.Rappor, in *frames.Reader, repeats bool) (sum *survey.Counts, files, without int64, err error) {
	c, err := r.NewCollector()
	if err != nil {
		return nil, 0, 0, err
	}
	sum = &survey.Counts{RapporCounts: c.Counts(), Tied: true}
	seen := map[[sha256.Size]byte]bool{}
	for {
		text, err := in.Next()
		if err == io.EOF {
			return sum, files, without, nil
		}
		if err != nil {
			return nil, 0, 0, err
		}
		if len(text) < sha256.Size {
			return nil, 0, 0, &noren.Error{Kind: noren.BadData, Where: "counts", What: "a frame is too short"}
		}
		hash := [sha256.Size]byte(text)
		question, tied, rest, ok := cutCountedHead(text[sha256.Size:])
		if !ok {
			return nil, 0, 0, &noren.Error{Kind: noren.BadData, Where: "counts", What: "a frame is too short"}
		}
		part, err := r.DecodeCounts(rest)
		if err != nil {
			return nil, 0, 0, err
		}
		if seen[hash] && part.Reports() >= alikeReports && !repeats {
			return nil, 0, 0, &noren.Error{
				Kind: noren.BadData, Where: noren.Phrase("reports"), What: "two files have the same content",
				Hint: "name each file of reports once",
			}
		}
		seen[hash] = true
		switch {
		case !tied:
			without++
			sum.Tied = false
		case sum.Question != "" && question != sum.Question:
			return nil, 0, 0, &noren.Error{
				Kind: noren.BadData, Code: "other-specification",
				What: "the reports answer the question %q, and those before %q", Args: []any{question, sum.Question},
			}
		default:
			sum.Question = question
		}
		if err := sum.Merge(part); err != nil {
			return nil, 0, 0, err
		}
		files++
	}
}

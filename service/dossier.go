package service

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/report"
	"github.com/noren-privacy/noren/report/text"
)

// dossier fills in what a page says of how a release was made.
func (s *Service) dossier(facts *report.Facts, r *api.AnonymizeRequest, specFile string, job *kanon.Job, result *kanon.Result,
	released io.Reader,
) error {
	facts.Version, facts.Command = s.footer(), r.Command
	facts.Date = time.Now().UTC().Format("2006-01-02 15:04:05 UTC")
	facts.Grouping = &report.Release{Loss: result.Loss, Scale: result.Scale, NCP: result.NCP, Excluded: result.Excluded}
	took := &result.Seconds
	facts.Made = []report.Fact{
		{Name: noren.Textf("k"), Value: report.Verbatim(strconv.Itoa(result.K))},
		{Name: noren.Textf("Method"), Value: report.Verbatim(result.Method)},
		{Name: noren.Textf("Refinement"), Value: report.Verbatim(result.Refine)},
		{Name: noren.Textf("Published as"), Value: report.Verbatim(result.Publish)},
		{Name: noren.Textf("Groups"), Value: report.Verbatim(report.Integer(result.Groups))},
		{Name: noren.Textf("Classes"), Value: report.Verbatim(report.Integer(result.Classes))},
		{Name: noren.Textf("Time"), Value: noren.Textf("%.1f s", took.Check+took.Read+took.Partition+took.Refine+took.Publish+took.Bound+
			took.Verify)},
	}
	if result.Suppressed > 0 {
		facts.Made = append(facts.Made, report.Fact{
			Name: noren.Textf("Records left out"), Value: said(func(l lang.Lang) string { return text.Suppressed(l, result) }),
		})
	}
	if f := result.Formulas; f != nil {
		facts.Made = append(facts.Made, report.Fact{Name: noren.Textf("Formulas"), Value: said(spoken(text.Formulas(f)))})
	}
	if result.Large > 0 {
		facts.Made = append(facts.Made, report.Fact{
			Name:  noren.Textf("Large groups"),
			Value: said(func(l lang.Lang) string { return text.Large(l, result) }),
		})
	}
	if job.Gap > 0 {
		facts.Made = append(facts.Made, report.Fact{Name: noren.Textf("Optimality gap"), Value: gap(result)})
	}
	for _, note := range r.Notes {
		facts.Made = append(facts.Made, report.Fact{Name: noren.Textf("Note"), Value: said(func(l lang.Lang) string { return l.Foreign(note) })})
	}
	for _, name := range []string{job.Source.Name(), specFile} {
		hash, err := hashFile(name)
		if err != nil {
			return err
		}
		if hash != "" {
			facts.Hashes = append(facts.Hashes, report.File{Name: name, Hash: hash})
		}
	}
	if again, ok := released.(io.ReadSeeker); ok {
		if _, err := again.Seek(0, io.SeekStart); err != nil {
			return &noren.Error{What: "the release cannot be read back", Err: err}
		}
		h := sha256.New()
		if _, err := io.Copy(h, again); err != nil {
			return &noren.Error{What: "the release cannot be read back", Err: err}
		}
		facts.Hashes = append(facts.Hashes, report.File{Name: job.Output.Path, Hash: hex.EncodeToString(h.Sum(nil))})
	}
	return nil
}

// said is a value that is made in the language in which it is shown.
func said(value lang.Spoken) noren.Text { return noren.Textf("%s", value) }

// gap states how far the loss may be from the least, or why that is not known.
func gap(r *kanon.Result) noren.Text {
	if r.Bound.Method == "none" {
		return noren.Textf("not known: %s", r.Bound.Reason)
	}
	return noren.Textf("at most %s of the information loss (lower bound %s)", text.PercentUp(r.Gap), text.PercentDown(r.LowerBound))
}

// hashFile is the SHA-256 of a file; empty where name is none that can be read
// again (standard input, a database).
func hashFile(name string) (string, error) {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return "", nil
	}
	f, err := os.Open(name)
	if err != nil {
		return "", &noren.Error{Kind: noren.BadData, Where: noren.File(name), What: "the file cannot be read again", Err: err}
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", &noren.Error{Kind: noren.BadData, Where: noren.File(name), What: "the file cannot be read again", Err: err}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

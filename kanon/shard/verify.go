package shard

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/kanon/verify"
	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/parts"
	"github.com/noren-privacy/noren/table/xlsx"
)

// Verification is the verification of a release in shards, file by file in processes of
// their own. As every class of such a release has k records in each file where it occurs, each
// file is verified alone; the union of files that have k-anonymity has it.
type Verification struct {
	Protocol int    `json:"protocol"`
	Build    string `json:"build"`
	// Input is the folder as named in the request, Folder where it is.
	Input  string       `json:"input"`
	Folder string       `json:"folder"`
	K      int          `json:"k"`
	Quasi  []string     `json:"quasi_identifiers"`
	Files  []parts.Part `json:"files"`

	id [idBytes]byte
}

// NewVerification is the verification of a folder with a manifest of a release. K of 0
// and no quasi-identifiers stand for those that the manifest states. Errors are those of
// [parts.CheckManifest] about names, and of kind Usage where the manifest is not of a release
// in shards.
func NewVerification(ctx context.Context, input string, k int, quasi []string, build string) (*Verification, error) {
	folder, err := filepath.Abs(input)
	if err != nil {
		return nil, &noren.Error{What: "the working folder cannot be found", Err: err}
	}
	m, err := parts.Stated(ctx, folder)
	if err != nil {
		return nil, err
	}
	if m.Release == nil || len(m.Files) == 0 {
		return nil, noren.Usagef(noren.File(input), "expected a release in shards, got a folder whose manifest states none").
			Hinted("verify the folder in one process")
	}
	v := &Verification{Protocol: Protocol, Build: build, Input: input, Folder: folder, K: k, Quasi: quasi, Files: m.Files}
	if v.K == 0 {
		v.K = m.Release.K
	}
	if len(v.Quasi) == 0 {
		v.Quasi = m.Release.Quasi
	}
	return v, nil
}

// verifyFile is the name of a verification in the folder of its job.
const verifyFile = "verify"

// Put writes v to the folder of its job.
func (v *Verification) Put(dir string) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return put(dir, verifyFile, text)
}

// OpenVerification reads what [Verification.Put] wrote, by the same build of the program.
func OpenVerification(dir, build string) (*Verification, error) {
	text, err := get(dir, verifyFile, textMost)
	if err != nil {
		return nil, err
	}
	return decodeVerification(text, build)
}

func decodeVerification(text []byte, build string) (*Verification, error) {
	if err := meter.Document(text, noren.Phrase("a verification")); err != nil {
		return nil, err
	}
	v := &Verification{}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if d.Decode(v) != nil {
		return nil, malformed("a verification")
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, malformed("a verification")
	}
	if v.Protocol != Protocol || v.Build != build {
		return nil, otherBuild(v.Build, v.Protocol, build)
	}
	if v.K < 1 || len(v.Quasi) == 0 || len(v.Files) == 0 {
		return nil, malformed("a verification")
	}
	sum := sha256.Sum256(text)
	copy(v.id[:], sum[:])
	return v, nil
}

// File has one file verified: it must be the one that the manifest states, and every class of
// it must have k records.
func (v *Verification) File(ctx context.Context, n int) ([]byte, error) {
	if n < 0 || n >= len(v.Files) {
		return nil, noren.Usagef("shard", "expected a number from 0 to %d, got %d", len(v.Files)-1, n)
	}
	part := &v.Files[n]
	path := filepath.Join(v.Folder, part.Name)
	if err := part.Check(ctx, path); err != nil {
		return nil, err
	}
	src, err := file.Open(ctx, path, file.Options{Exact: v.Quasi, Totals: xlsx.Look})
	if err != nil {
		return nil, err
	}
	defer func() { _ = src.Close() }()
	found, err := verify.Verify(ctx, src, verify.Options{Quasi: v.Quasi, Requirement: privacy.Requirement{K: v.K}})
	if err != nil {
		return nil, err
	}
	sum, err := hex.DecodeString(part.SHA256)
	if err != nil {
		return nil, malformed("a verification")
	}
	c := &Checked{Name: part.Name, Size: part.Size, SHA256: sum, Found: *found}
	return c.encode(v.id)
}

// Verdict puts together what was found in all files, in any order.
func (v *Verification) Verdict(ctx context.Context, in Frames) (*verify.Result, error) {
	r := &verify.Result{Schema: verify.ResultSchema, File: noren.Place{noren.File(v.Input)}, Failures: noren.Texts{}, Quasi: v.Quasi, K: v.K}
	seen := map[string]bool{}
	err := each(ctx, in, func(frame []byte) error {
		c, err := decodeChecked(v.id, frame)
		if err != nil {
			return err
		}
		if seen[c.Name] || !slices.ContainsFunc(v.Files, func(p parts.Part) bool { return p.Name == c.Name }) {
			return fault(noren.Textf("expected each file once, got one twice"))
		}
		f := &c.Found
		if len(seen) == 0 {
			r.AchievedK, r.ClassSize.Min = f.AchievedK, f.ClassSize.Min
		}
		seen[c.Name] = true
		r.Rows += f.Rows
		r.Classes += f.Classes
		r.AchievedK = min(r.AchievedK, f.AchievedK)
		r.ClassSize.Min, r.ClassSize.Max = min(r.ClassSize.Min, f.ClassSize.Min), max(r.ClassSize.Max, f.ClassSize.Max)
		r.BelowK.Classes += f.BelowK.Classes
		r.BelowK.Records += f.BelowK.Records
		for _, failure := range f.Failures {
			r.Failures = append(r.Failures, noren.Textf("%s: %s", noren.File(c.Name), failure))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(seen) != len(v.Files) {
		return nil, fault(noren.Textf("expected each file once, got some"))
	}
	slices.SortFunc(r.Failures, func(a, b noren.Text) int { return strings.Compare(a.String(), b.String()) })
	r.ClassSize.Mean = float64(r.Rows) / float64(max(1, r.Classes))
	r.Met = len(r.Failures) == 0
	return r, nil
}

package shard

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/kanon/verify"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/pseudonym"
	"github.com/noren-privacy/noren/table/xlsx"
)

// Checked is what the verifier found in the file of a bucket.
type Checked struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 []byte `json:"sha256"`
	// Modified is the time of the last change of the file, in nanoseconds.
	Modified int64         `json:"modified,omitempty"`
	Found    verify.Result `json:"found"`
	// Changed says that the file is not what was written: nothing was verified.
	Changed bool `json:"changed,omitempty"`
}

// Encode is what the driver passes on to [Job.Commit].
func (c *Checked) Encode(j *Job) ([]byte, error) { return c.encode(j.id) }

func (c *Checked) encode(job [idBytes]byte) ([]byte, error) {
	text, err := json.Marshal(c)
	return append(begin(kindChecked, job), text...), err
}

// DecodeChecked reads what [Checked.Encode] wrote for a job.
func DecodeChecked(j *Job, frame []byte) (*Checked, error) { return decodeChecked(j.id, frame) }

func decodeChecked(job [idBytes]byte, frame []byte) (*Checked, error) {
	s := source{b: frame}
	if !s.begins(kindChecked, job) {
		return nil, malformed("the check of a file of this job")
	}
	c := &Checked{}
	d := json.NewDecoder(bytes.NewReader(s.b))
	d.DisallowUnknownFields()
	if err := d.Decode(c); err != nil {
		return nil, malformed("the check of a file of this job")
	}
	if _, err := d.Token(); err != io.EOF || len(c.SHA256) != sha256.Size || c.Size < 0 || c.Found.Rows < 0 || c.Found.Classes < 0 {
		return nil, malformed("the check of a file of this job")
	}
	return c, nil
}

// Check opens the file of a bucket by its name and has it verified: it must be what was
// written, byte by byte, and every class of the file must have k records, or records of k
// persons. What it finds is for [Job.Commit] to judge. The process should not be the one
// that wrote the file, so that what storage lost since is noticed.
func (j *Job) Check(ctx context.Context, m *Made, jobDir string) (*Checked, error) {
	if m.Kind != MadeFile {
		return nil, noren.Usagef("check", "expected the result of a bucket that has a file")
	}
	c := &Checked{Name: m.Name}
	path := filepath.Join(jobDir, m.Name)
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.Changed, c.SHA256 = true, make([]byte, sha256.Size)
		return c, nil
	case err != nil:
		return nil, unreadable(path, err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, unreadable(path, err)
	}
	c.Modified = info.ModTime().UnixNano()
	sum := sha256.New()
	if c.Size, err = io.Copy(sum, f); err != nil {
		return nil, unreadable(path, err)
	}
	c.SHA256 = sum.Sum(nil)
	if c.Size != m.Size || !bytes.Equal(c.SHA256, m.SHA256[:]) {
		c.Changed = true
		return c, nil
	}
	o := verify.Options{Requirement: j.run.Requirement(), Missing: j.Missing, Quasi: j.schema.Names(table.Quasi)}
	if j.unit() >= 0 {
		of, err := j.personsOf(m, jobDir)
		if err != nil {
			return nil, err
		}
		if of == nil {
			c.Changed = true
			return c, nil
		}
		o.Unit = &verify.Unit{Column: j.Options.Unit, Of: of}
	}
	src, err := file.Open(ctx, path, file.Options{
		Delimiter: j.Dialect.Delimiter, Encoding: j.Dialect.Encoding, Formulas: j.Dialect.Formulas,
		Plain: true, Totals: xlsx.Look, Exact: o.Quasi,
	})
	if err != nil {
		return nil, err
	}
	defer func() { _ = src.Close() }()
	found, err := verify.Verify(ctx, src, o)
	if err != nil {
		return nil, err
	}
	c.Found = *found
	return c, nil
}

func unreadable(path string, err error) error {
	if refused := meter.Refused(err); refused != nil {
		return refused
	}
	return &noren.Error{Where: noren.File(path), What: "the release cannot be read back", Err: atomicfile.Reason(err)}
}

// personsOf are the persons of the records of a file; nil where they are not what was
// written.
func (j *Job) personsOf(m *Made, jobDir string) ([]uint32, error) {
	const width = len(pseudonym.Digest{})
	path := personsPath(jobDir, m.Name)
	text, err := meter.ReadFile(path, m.Rows*int64(width))
	if err != nil {
		return nil, unreadable(path, err)
	}
	if sha256.Sum256(text) != m.PersonsSHA256 {
		return nil, nil
	}
	seen := map[pseudonym.Digest]uint32{{}: privacy.NoPerson}
	of := make([]uint32, 0, m.Rows)
	for ; len(text) >= width; text = text[width:] {
		d := pseudonym.Digest(text[:width])
		n, known := seen[d]
		if !known {
			n = uint32(len(seen))
			seen[d] = n
		}
		of = append(of, n)
	}
	return of, nil
}

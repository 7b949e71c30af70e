package parts

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter"
)

// ManifestName is the name of the manifest in a folder that a [Target] made. [Find]
// takes it for no table.
const ManifestName = "_MANIFEST"

// ManifestFormat is the format of a manifest.
const ManifestFormat = "noren.parts/1"

// CodeManifest is the code of errors about a folder that is not what its manifest states.
const CodeManifest = "manifest"

// maxManifest is the longest manifest that is read, in bytes.
const maxManifest = 64 << 20

// Manifest lists the files of a table. A certificate of the table is about its bytes.
type Manifest struct {
	Format string `json:"format"`
	// Rows is the number of records of all files.
	Rows int64 `json:"rows"`
	// Release describes a k-anonymous release. Optional.
	Release *Release `json:"release,omitempty"`
	Files   []Part   `json:"files"`
}

// Release is what a manifest states of a k-anonymous release. All of it follows from the
// files: nothing in it was computed from the source.
type Release struct {
	// Version is that of the program.
	Version string `json:"version"`
	// K is the least number of records of a class in each file, or with Unit of persons.
	K    int    `json:"k"`
	Unit string `json:"unit,omitempty"`
	// Quasi names the quasi-identifiers.
	Quasi []string `json:"quasi_identifiers"`
	// Publish is how quasi-identifiers are published.
	Publish string `json:"publish"`
	// Classes is the number of classes of all files.
	Classes int64 `json:"classes"`
}

// Part is one file of a table.
type Part struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	Rows   int64  `json:"rows"`
	SHA256 string `json:"sha256"`
}

// IsManifested reports whether the folder at path holds a manifest.
func IsManifested(path string) bool {
	info, err := os.Lstat(filepath.Join(path, ManifestName))
	return err == nil && info.Mode().IsRegular()
}

// CheckManifest makes sure that the table files of a folder are those that its manifest
// states, byte by byte, with none missing and none added, and that it holds nothing else: see
// [Unread]. Errors are of kind NotMet, code manifest, where the folder is another, code
// unread-file where it holds more, of kind BadData where the manifest is none, and of kind
// Usage where there is none.
func CheckManifest(ctx context.Context, folder string) error {
	m, err := Stated(ctx, folder)
	if err != nil {
		return err
	}
	for i := range m.Files {
		if err := m.Files[i].Check(ctx, filepath.Join(folder, m.Files[i].Name)); err != nil {
			return err
		}
	}
	return nil
}

// Stated is the manifest of a folder whose table files have the names that it states, with
// none missing and none added, and that holds nothing else. Errors are those of [CheckManifest].
func Stated(ctx context.Context, folder string) (*Manifest, error) {
	m, err := readManifest(folder)
	if err != nil {
		return nil, err
	}
	stated := make(map[string]bool, len(m.Files))
	for i := range m.Files {
		stated[m.Files[i].Name] = true
	}
	found, err := Find(ctx, folder, func(string) bool { return true })
	if err != nil {
		return nil, err
	}
	for _, path := range found {
		name, err := filepath.Rel(folder, path)
		if err != nil || !stated[name] {
			return nil, notStated(path, "is no file of the manifest")
		}
		delete(stated, name)
	}
	for _, p := range m.Files {
		if stated[p.Name] {
			return nil, notStated(filepath.Join(folder, p.Name), "the manifest states this file, and it is missing")
		}
	}
	return m, unread(ctx, folder, found, true)
}

// Check makes sure that the file at path is p, byte by byte: see [CheckManifest].
func (p *Part) Check(ctx context.Context, path string) error {
	have, err := stateOf(ctx, path)
	if err != nil {
		return err
	}
	if have.Size != p.Size || have.SHA256 != p.SHA256 {
		return notStated(path, "is not the file that the manifest states")
	}
	return nil
}

func notStated(where any, what noren.Format) error {
	return &noren.Error{
		Kind: noren.NotMet, Code: CodeManifest, Where: where, What: what,
		Hint: "the folder was changed after the release: use the one that was released",
	}
}

// readManifest reads the manifest of a folder.
func readManifest(folder string) (*Manifest, error) {
	path := filepath.Join(folder, ManifestName)
	f, err := os.Open(path)
	if err != nil {
		return nil, &noren.Error{Kind: noren.Usage, Where: noren.File(path), What: "the manifest cannot be opened", Err: reason(err)}
	}
	defer f.Close()
	text, err := meter.ReadAll(f, maxManifest, noren.File(path))
	switch {
	case meter.Refused(err) != nil:
		return nil, err
	case err != nil:
		return nil, &noren.Error{Where: noren.File(path), What: "cannot be read", Err: reason(err)}
	}
	if err := meter.Document(text, noren.File(path)); err != nil {
		return nil, err
	}
	m, err := parseManifest(text)
	if err != nil {
		return nil, &noren.Error{Kind: noren.BadData, Where: noren.File(path), Err: err}
	}
	return m, nil
}

// parseManifest reads a manifest and refuses what no [Target] writes.
func parseManifest(text []byte) (*Manifest, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var m Manifest
	if err := d.Decode(&m); err != nil {
		return nil, errors.New("expected a manifest in JSON")
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("expected one JSON object")
	}
	if m.Format != ManifestFormat {
		return nil, noren.Reasonf("expected the format %s", ManifestFormat)
	}
	var rows int64
	seen := map[string]bool{}
	for i, p := range m.Files {
		sum, err := hex.DecodeString(p.SHA256)
		switch {
		case p.Name == "" || p.Name != filepath.Base(p.Name) || p.Name[0] == '.' || p.Name[0] == '_' || strings.ContainsAny(p.Name, `/\`):
			return nil, noren.Reasonf("file %d: expected the name of a table file in the folder", i+1)
		case seen[p.Name]:
			return nil, noren.Reasonf("file %d: its name occurs twice", i+1)
		case p.Size < 0 || p.Rows < 0 || err != nil || len(sum) != sha256.Size:
			return nil, noren.Reasonf("file %d: expected a size, a number of records and a SHA-256", i+1)
		}
		seen[p.Name] = true
		rows += p.Rows
	}
	if rows != m.Rows {
		return nil, errors.New("the numbers of records do not add up")
	}
	if r := m.Release; r != nil && (r.K < 1 || r.Classes < 0 || len(r.Quasi) == 0) {
		return nil, errors.New("release: expected k, the quasi-identifiers and a number of classes")
	}
	return &m, nil
}

// stateOf is the size and the hash of a file.
func stateOf(ctx context.Context, path string) (*Part, error) {
	f, err := os.Open(path)
	if err != nil {
		kind := noren.Internal
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
			kind = noren.Usage
		}
		return nil, &noren.Error{Kind: kind, Where: noren.File(path), What: "cannot be read", Err: reason(err)}
	}
	defer f.Close()
	h := sha256.New()
	size, err := io.Copy(h, &cancelled{ctx, f})
	if err != nil {
		return nil, &noren.Error{Where: noren.File(path), What: "cannot be read", Err: reason(err)}
	}
	return &Part{Name: filepath.Base(path), Size: size, SHA256: hex.EncodeToString(h.Sum(nil))}, nil
}

// cancelled reads until the context ends.
type cancelled struct {
	ctx context.Context
	r   io.Reader
}

func (c *cancelled) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// writeManifest states the files in the folder of a table.
func writeManifest(ctx context.Context, folder string, paths []string, rows []int64) error {
	m := Manifest{Format: ManifestFormat, Files: make([]Part, 0, len(paths))}
	for i, path := range paths {
		p, err := stateOf(ctx, path)
		if err != nil {
			return err
		}
		p.Rows = rows[i]
		m.Rows += p.Rows
		m.Files = append(m.Files, *p)
	}
	text, err := m.Text()
	if err != nil {
		return err
	}
	return Place(folder, text)
}

// Text is the manifest as it is written, its files in the order of their names.
func (m *Manifest) Text() ([]byte, error) {
	slices.SortFunc(m.Files, func(a, b Part) int { return strings.Compare(a.Name, b.Name) })
	text, err := json.MarshalIndent(m, "", "  ")
	return append(text, '\n'), err
}

// Place writes the text of a manifest to a folder that has none.
func Place(folder string, text []byte) error {
	path := filepath.Join(folder, ManifestName)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err == nil {
		_, err = f.Write(text)
		if err == nil {
			err = f.Sync()
		}
		if e := f.Close(); err == nil {
			err = e
		}
	}
	if err != nil {
		return &noren.Error{Where: noren.File(path), What: "the manifest cannot be written", Err: reason(err)}
	}
	return nil
}

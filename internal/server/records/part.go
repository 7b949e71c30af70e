package records

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/noren-privacy/noren/internal/plainfile"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/internal/server/tables"
)

// Part is a part of a release, open for reading from its beginning.
type Part struct {
	*os.File
	// Name is the name under which it leaves.
	Name string
	// Release is the release.
	Release *Release
}

// Open opens a part of a release: a regular file in the folder of the release, no link,
// whose size and SHA-256 are those of what was released. Where they are not, the error is
// the problem "unavailable", and [Records.Altered] names the release until it is whole.
func (r *Records) Open(ctx context.Context, id, part string) (*Part, error) {
	found, err := r.findRelease(ctx, id)
	if err != nil {
		return nil, err
	}
	file := map[string]string{PartFile: found.FileName, PartCertificate: certFile, PartDossier: dossierFile, PartRecipe: specFile}[part]
	if part == PartDossierJapanese {
		file = dossierJapanese
		if found.Parts[file] == "" {
			part, file = PartDossier, dossierFile
		}
	}
	if file == "" {
		return nil, problem.NotFound()
	}
	out := &Part{Name: file, Release: &found.Release}
	sum, size := found.Parts[file], int64(-1)
	switch part {
	case PartFile:
		sum, size = found.SHA256, found.Bytes
	case PartCertificate:
		out.Name = found.FileName + ".certificate.json"
	case PartDossier:
		out.Name = found.FileName + ".dossier.html"
	case PartDossierJapanese:
		out.Name = found.FileName + ".dossier.ja.html"
	}
	f, err := openWhole(r.config.Releases, filepath.Join(id, file), sum, size)
	r.alter(id, part, err)
	if err != nil {
		return nil, alteredPart()
	}
	out.File = f
	return out, nil
}

func alteredPart() error {
	return problem.New("unavailable", "The file of the release is not the one that was released.").
		Hinted("put the file of a copy of the folder back")
}

// errAltered is the error of a file that is not the one that was stored.
var errAltered = problem.New("unavailable", "A file of the folder is not the one that was stored.")

// openWhole opens a regular file of a folder by its name, which follows no link, and
// compares its size, where it is not negative, and its SHA-256, where it is not "".
func openWhole(dir, name, sum string, size int64) (_ *os.File, err error) {
	f, err := plainfile.Open(dir, name)
	if err != nil {
		return nil, errAltered
	}
	defer func() {
		if err != nil {
			_ = f.Close()
		}
	}()
	if info, err := f.Stat(); err != nil || size >= 0 && info.Size() != size {
		return nil, errAltered
	}
	if sum == "" {
		return f, nil
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil || hex.EncodeToString(h.Sum(nil)) != sum {
		return nil, errAltered
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, errAltered
	}
	return f, nil
}

// sumOf is the SHA-256 of a file, in hexadecimal.
func sumOf(path string) (string, error) {
	f, err := plainfile.OpenPath(path)
	if err != nil {
		return "", tables.FileError(err)
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", tables.FileError(err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// alter notes whether a part of a release is as it was released.
func (r *Records) alter(id, part string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := id + "/" + part
	if err != nil {
		r.altered[key] = true
	} else {
		delete(r.altered, key)
	}
}

// Altered is the parts of releases that were asked for and are not those that were
// released, as in rl_.../file.
func (r *Records) Altered() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]string, 0, len(r.altered))
	for key := range r.altered {
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}

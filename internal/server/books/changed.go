package books

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/noren-privacy/noren"
)

// looked is a look at the file of a book: nothing is read again until size or time differ.
type looked struct {
	source  string // the SHA-256 that was expected
	size    int64
	changed time.Time
	whole   bool
}

// Changed is the ids of books whose file is missing, a link, or not the one that their current
// version was made of. Nothing is computed from such a file; what is in memory was compared
// with the grant.
func (b *Books) Changed(ctx context.Context) ([]string, error) {
	var out []string
	for _, d := range b.list() {
		if d.Gone || d.State != open || d.Source == "" {
			continue
		}
		set, err := b.dataset(ctx, d.Name)
		if noren.CodeOf(err) == "no-dataset" {
			continue // [Books.Lost] names it
		}
		if err != nil {
			return nil, err
		}
		if filepath.Base(filepath.Dir(set.File)) != d.Folder {
			continue // a version that was granted when the server was killed: it is not noted
		}
		whole, err := b.whole(ctx, d, filepath.Join(b.folder(d.id), d.Folder, filepath.Base(set.File)))
		if err != nil {
			return nil, err
		}
		if !whole {
			out = append(out, d.id)
		}
	}
	slices.Sort(out)
	return out, nil
}

// whole reports whether the file of a book is the one that its version was made of.
func (b *Books) whole(ctx context.Context, d *document, path string) (bool, error) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false, nil
	}
	now := looked{source: d.Source, size: info.Size(), changed: info.ModTime()}
	b.mu.RLock()
	last := b.looked[d.id]
	b.mu.RUnlock()
	now.whole = last.whole
	if now == last {
		return last.whole, nil
	}
	err = b.config.Tables.Verify(ctx, path, d.Source)
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	now.whole = err == nil
	b.mu.Lock()
	defer b.mu.Unlock()
	b.looked[d.id] = now
	return now.whole, nil
}

package tables

import (
	"context"
	"errors"
	"io/fs"

	"github.com/noren-privacy/noren/internal/plainfile"
	"github.com/noren-privacy/noren/internal/server/problem"
)

// Verify refuses a file that is a link, or whose SHA-256 is not sum: it is not the copy
// that was made. It is called before and after a file is computed from.
func (t *Tables) Verify(ctx context.Context, path, sum string) error {
	got, err := t.hash(ctx, path, nil)
	if errors.Is(err, plainfile.ErrNot) || errors.Is(err, fs.ErrNotExist) {
		return altered()
	}
	if err != nil {
		return err
	}
	if sum != "" && got != sum {
		return altered()
	}
	return nil
}

// Unchanged is [Tables.Verify] of the table's copy. Where the table was deleted meanwhile, or copied again for
// other settings, it says so: the copy was not touched from outside.
func (h *Held) Unchanged(ctx context.Context) error {
	err := h.verify(ctx, h.Input, h.SHA256)
	if err == nil {
		return nil
	}
	now, gone := h.again(ctx)
	switch {
	case gone != nil:
		return gone
	case now.Input != h.Input || now.SHA256 != h.SHA256:
		return problem.New("conflict", "The table was copied again, for other settings, while it was computed from.").Hinted("ask again")
	}
	return err
}

func altered() error {
	return problem.New("unavailable", "The server's copy of the table is not the file that was added.").
		Hinted("put the copy of the folder back, or add the table again")
}

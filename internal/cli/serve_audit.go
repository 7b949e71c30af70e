package cli

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/grid"
	"github.com/noren-privacy/noren/internal/names"
	"github.com/noren-privacy/noren/internal/server/audit"
	"github.com/noren-privacy/noren/lang"
)

// listAudit prints the entries of an export that was found sound as r says. The file is read and
// checked once more. An id stays beside its name: several objects can have one name, such as the answers of a table,
// and a name can be one that an entry uses itself, such as host.
func listAudit(ctx context.Context, t *terminal, f *os.File, r *audit.Report, keys []ed25519.PublicKey) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return &noren.Error{Kind: noren.Usage, Where: noren.File(f.Name()), What: "cannot be read twice", Hint: "write it to a file first"}
	}
	plain := func(text string) string {
		if names.Seen(text) {
			return text
		}
		return strconv.QuoteToASCII(text)
	}
	named := func(id string) string {
		if name := r.Names[id]; name != "" {
			return plain(name) + " (" + plain(id) + ")"
		}
		return plain(id)
	}
	fmt.Fprintln(t.stdout)
	w := grid.New(t.stdout)
	lang.Fprintln(w, "entry\ttime\twho\trole\tact\tabout\toutcome\tdetails")
	again, err := audit.Verify(ctx, f, func(e *audit.Entry) {
		var details []string
		for _, key := range slices.Sorted(maps.Keys(e.Detail)) {
			details = append(details, plain(key)+"="+named(e.Detail[key]))
		}
		cells := []string{
			strconv.FormatInt(e.N, 10), e.At, named(e.Actor), plain(e.Role), plain(e.Action), named(e.Object), plain(e.Outcome),
			strings.Join(details, " "),
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}, keys...)
	if err == nil && again.Head != r.Head {
		err = &noren.Error{Kind: noren.NotMet, Where: noren.Phrase("audit export"), What: "the file changed while it was read"}
	}
	if err != nil {
		return err
	}
	return w.Flush()
}

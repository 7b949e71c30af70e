package records

import (
	"context"
	"slices"
	"time"

	"github.com/noren-privacy/noren/internal/server/store"
	"github.com/noren-privacy/noren/internal/server/tables"
	"github.com/noren-privacy/noren/lang"
)

// Earlier is an earlier release that may be of the same people.
type Earlier struct {
	Release   string    `json:"release" doc:"The id of the release."`
	At        time.Time `json:"at" doc:"When it was made."`
	K         int       `json:"k" doc:"Its k."`
	TableName string    `json:"table_name" doc:"The name of the table that it was made of."`
	Common    *Message  `json:"common,omitempty" doc:"Why it may be of the same people."`
}

// earlier lists the releases that may be of the people of a table, the newest first: those
// of the same table, of a table with the same file, and of a table whose unit has the same
// name or which has the same columns. Whether the people are the same cannot be seen from
// names: the steward decides.
func (r *Records) earlier(ctx context.Context, h *tables.Held) ([]Earlier, error) {
	rows, err := r.config.Store.Resources(ctx, store.KindRelease, "", 0, mostReleases)
	if err != nil {
		return nil, err
	}
	columns := make([]string, 0, len(h.Table.ColumnsDetail))
	for i := range h.Table.ColumnsDetail {
		columns = append(columns, h.Table.ColumnsDetail[i].Name)
	}
	slices.Sort(columns)
	out := []Earlier{}
	for i := range rows {
		d, err := decodeRelease(&rows[i])
		var common Message
		switch {
		case err != nil:
			// Nothing is known of it: it counts as one of the same people.
			d.ID, common = rows[i].ID, lang.Fixed("earlier-unreadable", "a release whose record cannot be read")
		case !d.Noted:
			continue
		case d.Table == h.Table.ID:
			common = lang.Fixed("earlier-same-table", "the same table")
		case d.SourceSHA256 == h.SHA256:
			common = lang.Fixed("earlier-same-file", "a table with the same file")
		case d.Unit != "" && d.Unit == h.Table.Unit:
			common = lang.Fixed("earlier-same-unit", "a table with a unit of the same name")
		case slices.Equal(d.SourceColumns, columns):
			common = lang.Fixed("earlier-same-columns", "a table with the same columns")
		default:
			continue
		}
		out = append(out, Earlier{Release: d.ID, At: d.At, K: d.K, TableName: d.TableName, Common: &common})
	}
	return out, nil
}

// mostReleases is more than the number of releases that a server has.
const mostReleases = 1 << 20

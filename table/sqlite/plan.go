package sqlite

import (
	"context"

	lib "modernc.org/sqlite/lib"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter"
)

// mostSteps bounds the preparation of a statement, in calls of progress: views that name views
// double with each level.
const mostSteps = 200

// tableWeight is what an open table, index or sorter takes: the pages that it keeps.
const tableWeight = 2 << 20

// shortest is the least length of values for which a query is tried.
const shortest = 1 << 10

// plan asks SQLite for the program of a query, and shortens the length of values so that
// all that the program can hold at once is within the limit. The parts of one record are no
// longer than the record together: a table without computed columns keeps the length.
func (r *reading) plan(ctx context.Context, query string, where any) error {
	s, _, err := r.c.prepare("EXPLAIN "+query, mostSteps)
	if err != nil {
		return r.failed(ctx, where, err)
	}
	defer s.close()
	values, tables, computes := int64(0), int64(0), false
	for {
		some, err := s.step()
		if err != nil {
			return r.failed(ctx, where, err)
		}
		if !some {
			break
		}
		switch op := string(s.bytes(1)); {
		case opens[op]:
			tables++
		case op == "Column":
			values++
		case !small[op]:
			values++
			computes = true
		}
	}
	computes = computes || tables > 1
	free := r.meter.Held() - tables*tableWeight
	if !computes {
		return nil
	}
	// Half is for what one operation holds beside its arguments and result.
	length := free / 2 / max(values, 1)
	if length < shortest {
		return &noren.Error{
			Kind: noren.BadData, Code: meter.Code, Where: where, What: "its %d {operation|operations} on %d {table|tables} {1|needs|need} more " +
				"than %s of memory", Args: []any{values, tables, meter.Size(r.meter.Held())},
			Hint: "write the result as a table of the file, or as CSV",
		}
	}
	r.length = min(r.length, length)
	lib.Xsqlite3_limit(r.c.tls, r.c.db, lib.SQLITE_LIMIT_LENGTH, int32(r.length))
	return nil
}

// opens are the operations that keep pages or records of a table, index or sorter.
var opens = map[string]bool{
	"OpenRead": true, "OpenAutoindex": true, "OpenEphemeral": true, "OpenDup": true, "OpenPseudo": true, "SorterOpen": true, "ReopenIdx": true,
	"VOpen": true,
}

// small are the operations that make no text and no bytes.
var small = map[string]bool{
	"Init": true, "Goto": true, "Gosub": true, "InitCoroutine": true, "Yield": true, "EndCoroutine": true, "Return": true, "BeginSubrtn": true,
	"Once": true, "Transaction": true, "Halt": true, "Noop": true, "Rewind": true, "Next": true, "Prev": true, "Last": true, "ResultRow": true,
	"Integer": true, "Int64": true, "Real": true, "Null": true, "Rowid": true, "IdxRowid": true, "Close": true, "Explain": true,
	"ColumnsUsed": true,
	"SeekRowid":   true, "NotExists": true, "SeekGE": true, "SeekGT": true, "SeekLE": true, "SeekLT": true, "IdxGE": true, "IdxGT": true,
	"IdxLE": true, "IdxLT": true,
	"DeferredSeek": true, "NullRow": true, "If": true, "IfNot": true, "IfPos": true, "IsNull": true, "NotNull": true, "Eq": true, "Ne": true,
	"Lt": true, "Le": true, "Gt": true, "Ge": true,
	"RealAffinity": true, "DecrJumpZero": true, "IfNotZero": true, "OffsetLimit": true, "MustBeInt": true, "Add": true, "Subtract": true,
	"Multiply": true, "Divide": true,
	"Remainder": true, "Not": true, "And": true, "Or": true, "CollSeq": true, "Compare": true, "Permutation": true, "Jump": true,
	"Count": true, "TableLock": true, "VFilter": true, "VNext": true,
}

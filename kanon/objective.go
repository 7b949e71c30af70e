package kanon

import (
	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/partition"
)

// The names of what a release lowers, in its result.
const (
	objectiveSSE   = "sse"
	objectiveBoxes = "boxes"
)

// lowersBoxes reports whether groups are made so that their boxes are small, and
// not their sums of squares: where ranges and sets are published. Persons whose
// records are all linked are divided by sums of squares in any case.
func (o *Options) lowersBoxes() bool {
	return o.Publish.Boxes() && o.Linkage != LinkAll
}

// Method settles how the groups of a table of n records are made.
func (o *Options) Method(n int) (partition.Options, partition.Chosen, error) {
	how, judged := o.Partition, o.Diversity != nil || o.Closeness != nil
	how.K, how.Workers = o.K, o.Workers
	var reasons noren.Texts
	if how.Method == partition.Auto && o.Unit == "" {
		switch {
		case judged:
			how.Method, reasons = partition.TopDown, noren.Texts{noren.Textf("topdown: every group is diverse and close from the start")}
		case o.lowersBoxes():
			how.Method, reasons = partition.TopDown, noren.Texts{noren.Textf("topdown: ranges are published, and it makes narrow ones")}
		}
	}
	if how.Coarse == partition.CoarseAuto && how.Method == partition.TopDown && judged && n > wholeRecords {
		// In a small cell fewer groups can be diverse or close.
		how.Coarse = max(wholeRecords/2, 20*how.K)
		reasons = append(reasons, noren.Textf("cells of %d {record|records} or more: the table has more than %d", how.Coarse, wholeRecords))
	}
	chosen, err := how.Choose(n)
	if err != nil {
		return how, chosen, err
	}
	if !chosen.Reason.IsZero() {
		reasons = append(reasons, chosen.Reason)
	}
	chosen.Reason = reasons.Text()
	return how, chosen, nil
}

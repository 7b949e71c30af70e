package kanon

import (
	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/cost"
	"github.com/noren-privacy/noren/kanon/enforce"
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

// judges reports whether groups are judged while they are made: where diversity or
// closeness is asked for, or a group needs persons and not records.
func (r *run) judges() bool {
	return r.job.Linkage != LinkAll && (len(r.sensitive) > 0 || r.job.Unit != "" && r.job.lowersBoxes())
}

// choose settles how the groups are made.
func (r *run) choose() (chosen partition.Chosen, err error) {
	r.partition, chosen, err = r.job.choose(r.held.Rows, len(r.sensitive) > 0)
	return chosen, err
}

// choose settles how the groups of n records are made; judged tells that they must be
// diverse or close.
func (j *Options) choose(n int, judged bool) (partition.Options, partition.Chosen, error) {
	o := j.Partition
	o.K, o.Workers = j.K, j.Workers
	var reasons noren.Texts
	if o.Method == partition.Auto && j.Unit == "" {
		switch {
		case judged:
			o.Method, reasons = partition.TopDown, noren.Texts{noren.Textf("topdown: every group is diverse and close from the start")}
		case j.lowersBoxes():
			o.Method, reasons = partition.TopDown, noren.Texts{noren.Textf("topdown: ranges are published, and it makes narrow ones")}
		}
	}
	if o.Coarse == partition.CoarseAuto && o.Method == partition.TopDown && judged && n > wholeRecords {
		// In a small cell fewer groups can be diverse or close.
		o.Coarse = max(wholeRecords/2, 20*o.K)
		reasons = append(reasons, noren.Textf("cells of %d {record|records} or more: the table has more than %d", o.Coarse, wholeRecords))
	}
	chosen, err := o.Choose(n)
	if err != nil {
		return o, chosen, err
	}
	if !chosen.Reason.IsZero() {
		reasons = append(reasons, chosen.Reason)
	}
	chosen.Reason = reasons.Text()
	return o, chosen, nil
}

// judge is asked of groups while they are made, nil where k records are enough.
func (r *run) judge() cost.Judge {
	if !r.judges() {
		return nil
	}
	return enforce.NewJudge(r.job.requirement(), r.attributes, r.judged)
}

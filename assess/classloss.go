package assess

import (
	"github.com/noren-privacy/noren/kanon/space"
	"github.com/noren-privacy/noren/table"
)

// ClassLoss is the information loss of the classes of a release.
type ClassLoss struct {
	// Loss is SSE/SST of the original's records in the classes of the release, in the scaled
	// space of the quasi-identifiers; 0 where SST is 0. It equals the loss that `anonymize`
	// states where no two groups publish the same values and no record was suppressed.
	Loss float64 `json:"loss"`
	// Scale is the scaling of the quasi-identifiers: minmax, zscore or none.
	Scale string `json:"scale"`
}

// NewClassLoss measures the classes of a release on the columns of its original, whose
// rows are in the same order. Errors are of kind BadData: the columns make no space.
func NewClassLoss(columns []*table.Column, classes Classes, scale space.Scaling) (*ClassLoss, error) {
	frame, err := space.FrameOf(columns, scale)
	if err != nil {
		return nil, err
	}
	s, err := frame.Space(columns)
	if err != nil {
		return nil, err
	}
	l := &ClassLoss{Scale: scale.String()}
	if sst := s.SST(); sst > 0 {
		l.Loss = s.SSE(space.Partition{Group: classes.Of, Groups: len(classes.Size)}) / sst
	}
	return l, nil
}

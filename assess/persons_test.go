package assess_test

import (
	"context"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/assess"
)

// Two classes: three records of persons 1 and 2, and one of no known person.
func TestPersons(t *testing.T) {
	classes := assess.Classes{Of: []uint32{0, 0, 0, 1, 3, 3}, Size: []uint32{3, 1, 0, 2}}
	p, err := assess.NewPersons(context.Background(), "who", classes, []uint32{1, 1, 2, 0, 2, 3}, 2)
	if err != nil {
		t.Fatal(err)
	}
	if p.Persons != 3 || p.Without != 1 || p.Smallest != 0 || p.Largest != 2 || p.Mean != 4.0/3 || p.MaxRisk != 1 {
		t.Errorf("measured %+v", p)
	}
	if p.BelowK.Classes != 1 || p.BelowK.Records != 1 {
		t.Errorf("below k: %+v", p.BelowK)
	}
	// 1 is in class 0 alone, with 2; 2 is in both, as no other; 3 is with 2.
	if p.Fit.Min != 1 || p.Fit.Mean != 5.0/3 || p.Fit.Alone != 1 || p.Fit.Below != 1 {
		t.Errorf("fit %+v", p.Fit)
	}
	if _, err := assess.NewPersons(context.Background(), "who", classes, []uint32{1}, 2); noren.KindOf(err) != noren.Usage {
		t.Errorf("another number of records: %v", err)
	}
	if _, err := assess.NewPersons(context.Background(), "who", assess.Classes{}, nil, 2); noren.KindOf(err) != noren.BadData {
		t.Errorf("no records: %v", err)
	}
}

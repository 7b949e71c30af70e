package correlated

import (
	"context"
	"errors"
	"testing"
)

// counted is an influence of independent records that counts what is asked of it, and ends a
// context at one of them.
type counted struct {
	asked, at int
	end       func()
}

func (c *counted) step() []float64 {
	if c.asked++; c.asked == c.at {
		c.end()
	}
	return []float64{0, 5, 5, 0} // no quilt is better than that of all records
}

func (c *counted) left(int, int) []float64  { return c.step() }
func (c *counted) right(int, int) []float64 { return c.step() }

// A search of quilts ends soon after its context, also within a record.
func TestQuiltsEndWithTheirContext(t *testing.T) {
	half := [][]float64{{.5, .5}, {.5, .5}}
	c, err := NewHomogeneousChain([]float64{.5, .5}, half, 2000)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	f := &counted{at: 100, end: cancel}
	if _, err := quiltScale(ctx, c, nil, 1, f); !errors.Is(err, context.Canceled) || f.asked > 100+4*1024 {
		t.Errorf("%d more steps: %v", f.asked-100, err)
	}
}

package bigtable

import (
	"context"
	"io"
	"strconv"

	"github.com/noren-privacy/noren/examples/internal/dice"
)

const (
	sensorsWidth = 100_000 // thousandths
	cloudRadius  = 10_000
)

// WriteSensors writes a header and o.Rows readings of two sensors as CSV, x and
// y from 0.000 to 100.000: 99 of 100 lie even in three discs of radius 10, the
// others anywhere. With a radius of 95/sqrt(o.Rows) a reading in a disc has
// about 30 others near it, and one outside has nearly none: with k = 5 a little
// less than 1% are outliers. Errors are those of [Write]; o.Extra adds nothing.
func WriteSensors(ctx context.Context, w io.Writer, o Options) error {
	d := dice.New(o.Seed)
	centres := [...][2]int{{30_000, 30_000}, {65_000, 40_000}, {45_000, 70_000}}
	return write(ctx, w, o.Rows, "x,y", func(b []byte, _ int64) []byte {
		x, y := d.Below(sensorsWidth+1), d.Below(sensorsWidth+1)
		if !d.Chance(10) {
			centre := centres[d.Below(len(centres))]
			dx, dy := cloudRadius, cloudRadius
			for dx*dx+dy*dy > cloudRadius*cloudRadius {
				dx, dy = d.Between(-cloudRadius, cloudRadius), d.Between(-cloudRadius, cloudRadius)
			}
			x, y = centre[0]+dx, centre[1]+dy
		}
		b = append(appendThousandths(b, x), ',')
		return append(appendThousandths(b, y), '\n')
	})
}

// appendThousandths writes a number of thousandths, not negative, with three
// decimal places.
func appendThousandths(b []byte, n int) []byte {
	b = strconv.AppendInt(b, int64(n/1000), 10)
	return append(b, '.', byte('0'+n/100%10), byte('0'+n/10%10), byte('0'+n%10))
}

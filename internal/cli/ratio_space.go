package cli

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/query"
	"github.com/noren-privacy/noren/ratio"
	"github.com/noren-privacy/noren/release"
	"github.com/noren-privacy/noren/report"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/axis"
)

// axes are those of the public table, and what flags and schema say of them.
func (f *ratioFitFlags) axes(public *table.Table, schema *dataset.Definition) ([]axis.Axis, error) {
	scales, err := readPublicScale(f.publicScale)
	if err != nil {
		return nil, err
	}
	bounds, err := pairs("--bounds", f.bounds, f.columns)
	if err != nil {
		return nil, err
	}
	words, err := pairs("--words", f.words, f.columns)
	if err != nil {
		return nil, err
	}
	axes := make([]axis.Axis, len(f.columns))
	for j, name := range f.columns {
		a := axis.Axis{Field: public.Columns[j].Field}
		a.Scale = scales[name].scale
		number := a.Field.Type != table.Category
		switch text, given := bounds[name]; {
		case given && !number:
			return nil, &noren.Error{Kind: noren.Usage, Where: "--bounds " + name, What: "the column is of words", Hint: "--words lists its words; its type is that of the schema"}
		case given:
			ends := splitList(text)
			if len(ends) != 2 {
				return nil, &noren.Error{Kind: noren.Usage, Where: "--bounds " + name, What: fmt.Sprintf("expected LO,HI, found %d values", len(ends))}
			}
			for i, into := range []*float64{&a.Low, &a.High} {
				if *into, err = query.ParseBound(a.Field, ends[i]); err != nil {
					return nil, at("--bounds "+name, err)
				}
			}
		case number && scales[name].bounded:
			a.Low, a.High = scales[name].low, scales[name].high
		case number && len(schema.Column(name).Bounds) == 2:
			for i, into := range []*float64{&a.Low, &a.High} {
				if *into, err = query.ParseBound(a.Field, schema.Column(name).Bounds[i]); err != nil {
					return nil, at("column "+name, err)
				}
			}
		}
		if list, given := words[name]; given {
			if number {
				return nil, &noren.Error{Kind: noren.Usage, Where: "--words " + name, What: "the column is of numbers", Hint: "--bounds states its bounds; its type is that of the schema"}
			}
			a.Categories = splitList(list)
		}
		if a.Low == 0 && a.High == 0 && a.Categories == nil {
			own, err := ratio.PublicAxes(public, name)
			if err != nil {
				return nil, err
			}
			a.Low, a.High, a.Categories = own[0].Low, own[0].High, own[0].Categories
		}
		axes[j] = a
	}
	return axes, nil
}

// publicRemarks are what public facts say of the fit: words that kernels cannot tell
// apart, and records without a value.
func publicRemarks(v *fitting, centres int) (out []string) {
	words := 0
	for _, a := range v.frame.Axes() {
		words += len(a.Categories)
	}
	if centres > 0 && len(v.mechanism.Histograms()) == 0 && words > centres {
		out = append(out, fmt.Sprintf("there are %d kernels for columns of %d words: words without a kernel near them cannot be told from others; --centres %d, or fewer --words, would help", centres, words, 2*words))
	}
	missing := 0
	for i := range v.points.Rows {
		for _, x := range v.points.Row(i) {
			if math.IsNaN(x) {
				missing++
				break
			}
		}
	}
	if missing > 0 {
		out = append(out, plural(missing, "public record")+" without a value in a column of the weights: of weight 0, as no private record without one is stood in for")
	}
	return out
}

// quote prints a dry run: what public facts say.
func (f *ratioFitFlags) quote(ctx context.Context, t *terminal, v *fitting, r *release.Request) error {
	quote, err := release.Price(ctx, r)
	if err != nil {
		return err
	}
	expected := expectNoise(v)
	return tellQuote(t, f.json, ratioSchema, quote, expected, func(w io.Writer) {
		fmt.Fprintf(w, "weights of %s for %s: a dry run, nothing is charged\n\n", v.public, v.private)
	}, func(w io.Writer) {
		if count, outside := v.mechanism.Checks(); count+outside > 0 {
			fmt.Fprintf(w, "  checks      epsilon %g for the number of records, %g for those outside, of the above\n", count, outside)
		}
		for _, e := range expected {
			fmt.Fprintf(w, "  noise       standard deviation %s on a sum of kernels of bandwidth %s\n", figure(e.NoiseSD), figure(e.Sigma))
			fmt.Fprintf(w, "              below the error of sampling from about %s private records\n", report.Number(math.Ceil(e.Records)))
		}
	})
}

// expectedNoise is what public facts say of the noise of one bandwidth.
type expectedNoise struct {
	Sigma   float64 `json:"sigma"`
	B       int     `json:"b"`
	NoiseSD float64 `json:"noise_sd"` // of a sum of kernels, the root mean square over centres
	// Records is from how many private records on the noise is below the error of
	// sampling: the mean of n has a variance of noise^2/n^2 and of spread^2/n, if
	// private kernels spread as public ones do.
	Records float64 `json:"records_needed"`
}

func expectNoise(v *fitting) []expectedNoise {
	var out []expectedNoise
	for _, k := range v.mechanism.Kernels() {
		b := k.Size()
		cov := v.mechanism.Distribution().Covariance(k)
		noise, spread := 0.0, 0.0
		phi, sum, square := make([]float64, b), make([]float64, b), make([]float64, b)
		for i := range v.points.Rows {
			k.Phi(phi, v.points.Row(i))
			for l, p := range phi {
				sum[l] += p
				square[l] += p * p
			}
		}
		n := float64(v.points.Rows)
		for l := range b {
			noise += cov.At(l, l)
			spread += square[l]/n - sum[l]/n*sum[l]/n
		}
		out = append(out, expectedNoise{Sigma: k.Sigma, B: b, NoiseSD: math.Sqrt(noise / float64(b)), Records: noise / spread})
	}
	return slices.Clip(out)
}

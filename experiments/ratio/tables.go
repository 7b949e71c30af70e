package ratio

import (
	"fmt"
	"math"
	"slices"

	"github.com/noren-privacy/noren/report"
	"github.com/noren-privacy/noren/report/text"
)

// find returns a row, nil where the settings that were run do not have it.
func (r *Result) find(setting, method string, epsilon float64, normal bool) *Row {
	for i := range r.Rows {
		x := &r.Rows[i]
		if x.Setting == setting && x.Method == method && x.Epsilon == epsilon && x.Normalised == normal {
			return x
		}
	}
	return nil
}

// Tables are the result as tables: each setting, and the second case.
func (r *Result) Tables() []report.Table {
	var out []report.Table
	for _, s := range Settings() {
		if t := r.table(s); len(t.Rows) > 0 {
			out = append(out, t)
		}
	}
	if len(r.Adult) > 0 {
		out = append(out, r.adultTable())
	}
	return out
}

// Notes are the remarks that the tables refer to by number, from 1.
func (r *Result) Notes() []string {
	var out []string
	for i := range r.Rows {
		if n := r.Rows[i].Remark; n != "" && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

func (r *Result) table(s *Setting) report.Table {
	t := report.Table{
		Caption: report.Verbatim(s.Name + ", " + s.What + fmt.Sprintf(": N = %d, n = %d", s.Public, s.Private)),
		Header: report.Verbatims("method", "epsilon", "error as fitted", "elsewhere", "normalised", "elsewhere", "median", "integrated",
			"mean off by", "ESS", "sigma", "warned"),
		Numeric: []bool{false, true, true, true, true, true, true, true, true, true, true, true},
	}
	notes := r.Notes()
	for i := range r.Rows {
		x := &r.Rows[i]
		if x.Setting != s.Name || x.Normalised {
			continue
		}
		y := r.find(s.Name, x.Method, x.Epsilon, true)
		name := x.Method
		if x.Remark != "" {
			name += fmt.Sprintf(" [%d]", 1+slices.Index(notes, x.Remark))
		}
		t.Rows = append(t.Rows, report.Verbatims(
			name, orNone(x.Epsilon), short(x.MSEMean), optional(x.Note, short), short(y.MSEMean), optional(y.Note, short),
			short(y.MSEMedian), short(y.Integrated), short(y.AbsMean), fmt.Sprintf("%.0f", y.ESS), orNone(math.Round(100*y.Sigma)/100),
			optional(y.Warned, report.Percent),
		))
	}
	return t
}

func (r *Result) adultTable() report.Table {
	t := report.Table{
		Header: report.Verbatims("question", "epsilon", "private", "public as it is", "weighted", "error unweighted", "weighted",
			"standard error", "within 2", "a direct answer"),
		Numeric: []bool{false, true, true, true, true, true, true, true, true, true},
	}
	if f := r.Facts; f != nil {
		t.Caption = report.Verbatim(fmt.Sprintf("The census table: %.0f public records, %s with a degree; %.0f private ones, %s with a "+
			"degree; %d splits", f.Public, report.Percent(f.DegreeE), f.Records, report.Percent(f.DegreeD), f.Splits))
	}
	for i := range r.Adult {
		x := &r.Adult[i]
		t.Rows = append(t.Rows, report.Verbatims(
			x.Question, text.LossFigure(x.Epsilon), short(x.Private), short(x.Unweighted), short(x.Weighted), short(x.ErrorUnweighted),
			short(x.ErrorWeighted),
			optional(x.SE, short), optional(x.Within2SE, report.Percent), optional(x.Direct, short),
		))
	}
	return t
}

// short writes three digits or so.
func short(v float64) string {
	switch a := math.Abs(v); {
	case a >= 1e6:
		return fmt.Sprintf("%.1e", v)
	case a >= 100:
		return fmt.Sprintf("%.0f", v)
	case a >= 10:
		return fmt.Sprintf("%.1f", v)
	case a >= 1:
		return fmt.Sprintf("%.2f", v)
	case a >= 0.001 || v == 0:
		return fmt.Sprintf("%.3f", v)
	}
	return fmt.Sprintf("%.1g", v)
}

func orNone(v float64) string {
	if v == 0 {
		return ""
	}
	return report.Number(v)
}

func optional(v *float64, f func(float64) string) string {
	if v == nil {
		return ""
	}
	return f(*v)
}

// verdict says in sentences what came out. Sentences on what was not run are left out.
func (r *Result) verdict() []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	written, pure, half := r.find("S1", WrittenB, 0.1, false), r.find("S1", Pure, 0.1, false), r.find("S1", PureHalf, 0.1, true)
	if written != nil && pure != nil && half != nil {
		say("In the paper's setting at epsilon = 0.1 its method B has a mean error of %s as fitted and %s normalised, where constant weights "+
			"have %s. RKHSPure with 12 centres has %s as fitted and %s normalised, and %s normalised at half the median distance.",
			short(written.MSEMean), short(r.find("S1", WrittenB, 0.1, true).MSEMean), short(r.find("S1", Constant, 0, true).MSEMean),
			short(pure.MSEMean), short(r.find("S1", Pure, 0.1, true).MSEMean), short(half.MSEMean))
		say("Method A costs 2 epsilon as written: %s at a stated 0.1, and %s where 0.1 is all that is spent (normalised). Method C publishes "+
			"100 of the 2,000 records in full; its %s is no figure of a private method.",
			short(r.find("S1", WrittenA, 0.1, true).MSEMean), short(r.find("S1", SoundA, 0.1, true).MSEMean),
			short(r.find("S1", WrittenC, 0.1, true).MSEMean))
	}
	if bad := r.find("S4", Pure, 1, true); bad != nil {
		good, fine, joint := r.find("S4", PureHalf, 1, true), r.find("S4", PureFine, 1, true), r.find("S4", PureJoint, 1, true)
		say("Two clouds (S4): the median distance fails, with %s without noise and %s at epsilon = 1, where constant weights have %s and a "+
			"choice on the private records %s; the fit check warns in %s of the repeats. Half the median, as public, reaches %s without noise "+
			"and %s at epsilon = 1; half and quarter released jointly %s; a fine release with the coarse one for free %s.",
			short(r.find("S4", PureNo, 0, true).MSEMean), short(bad.MSEMean), short(r.find("S4", Constant, 0, true).MSEMean),
			short(r.find("S4", PrivateE, 0, false).MSEMean), report.Percent(*bad.Warned),
			short(r.find("S4", PureNoHalf, 0, true).MSEMean), short(good.MSEMean), short(joint.MSEMean), short(fine.MSEMean))
		low := r.find("S4", PureHalf, 0.1, true)
		say("At epsilon = 0.1 with 500 private records in two clouds nothing beats constant weights by much (%s against %s); the fit check "+
			"warns in %s of the repeats.", short(low.MSEMean), short(r.find("S4", Constant, 0, true).MSEMean), report.Percent(*low.Warned))
	}
	if median := r.find("S3", Pure, 1, true); median != nil {
		say("In the plane (S3) half the median has %s at epsilon = 1 where the median has %s, and %s against %s at 0.1.",
			short(r.find("S3", PureHalf, 1, true).MSEMean), short(median.MSEMean), short(r.find("S3", PureHalf, 0.1, true).MSEMean),
			short(r.find("S3", Pure, 0.1, true).MSEMean))
	}
	for _, name := range []string{"mean age", "share above 50K", Accuracy} {
		if i := slices.IndexFunc(r.Adult, func(x AdultRow) bool { return x.Question == name && x.Epsilon == 1 }); i >= 0 {
			x := &r.Adult[i]
			say("Census, %s at epsilon = 1: the private part has %s, the biased public part %s, the weighted one %s.", name, four(x.Private),
				four(x.Unweighted), four(x.Weighted))
		}
	}
	return out
}

func four(v float64) string {
	if math.Abs(v) >= 10 {
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.4f", v)
}

package report

import (
	"fmt"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/assess"
)

// tableName is what one of two tables is called: alone, and behind what a figure of it is.
type tableName struct{ alone, figure noren.Format }

// tables are the original and, when there is one, the release.
func (b *assessment) tables() (names []tableName, risks []*assess.Risk) {
	if b.a.Original != nil {
		names, risks = append(names, tableName{"original", "%s, original"}), append(risks, b.a.Original)
	}
	if b.a.Release != nil {
		names, risks = append(names, tableName{"release", "%s, release"}), append(risks, b.a.Release)
	}
	return names, risks
}

func (b *assessment) risk() []Block {
	names, risks := b.tables()
	if len(risks) == 0 {
		return nil
	}
	blocks := []Block{
		{Text: noren.Textf("Records that agree in all quasi-identifiers form a class. Inside a class no person can be distinguished from the " +
			"others by them: the larger the classes, the safer the people in them.")},
		{Picture: classPicture(names, risks)},
		{Text: noren.Textf("From the attacker's side: someone who knows that a person is in the table and looks for their record is right " +
			"with a chance of one in the size of the class.")},
		{Picture: riskPicture(names, risks)},
		{Table: riskTable(names, risks, b.a)},
	}
	return blocks
}

func sizeName(bin assess.SizeBin) string {
	if bin.Low == bin.High {
		return Integer(bin.Low)
	}
	return Integer(bin.Low) + "–" + Integer(bin.High)
}

func classPicture(names []tableName, risks []*assess.Risk) *Picture {
	var bins []assess.SizeBin
	for _, r := range risks {
		if len(r.Distribution) > len(bins) {
			bins = r.Distribution
		}
	}
	chart := &Bars{
		Title: noren.Textf("Records by the size of their class"), Axis: noren.Textf("share of records"),
		Across: noren.Textf("records in the class"), Format: Percent,
	}
	table := &Table{Header: Header("Records in the class"), Numeric: []bool{false}}
	for i, name := range names {
		values := make([]float64, len(bins))
		for j, bin := range risks[i].Distribution {
			values[j] = float64(bin.Records) / float64(risks[i].Records)
		}
		chart.Series = append(chart.Series, Series{Name: noren.Textf(name.alone), Values: values})
		for _, what := range []noren.Phrase{"Classes", "Records", "Share"} {
			table.Header = append(table.Header, noren.Textf(name.figure, what))
		}
		table.Numeric = append(table.Numeric, true, true, true)
	}
	for j, bin := range bins {
		chart.Labels = append(chart.Labels, Verbatim(sizeName(bin)))
		var row []string
		for i, r := range risks {
			var here assess.SizeBin
			if j < len(r.Distribution) {
				here = r.Distribution[j]
			}
			row = append(row, Integer(here.Classes), Integer(here.Records), Percent(chart.Series[i].Values[j]))
		}
		table.Add(Verbatim(sizeName(bin)), row...)
	}
	return &Picture{
		Chart:   chart,
		Caption: noren.Textf("Bars at the left are records in small classes, bars at the right records that share their values with many."),
		Table:   table,
	}
}

func riskPicture(names []tableName, risks []*assess.Risk) *Picture {
	chart := &Bars{
		Title: noren.Textf("Records in classes that are too small"), Horizontal: true, Format: Percent,
		Axis: noren.Textf("share of records"),
	}
	table := &Table{Header: Header("Class"), Numeric: []bool{false}}
	for i, name := range names {
		values := make([]float64, len(risks[i].Below))
		for j, below := range risks[i].Below {
			values[j] = below.Share
		}
		chart.Series = append(chart.Series, Series{Name: noren.Textf(name.alone), Values: values})
		for _, what := range []noren.Phrase{"Records", "Share"} {
			table.Header = append(table.Header, noren.Textf(name.figure, what))
		}
		table.Numeric = append(table.Numeric, true, true)
	}
	for j, below := range risks[0].Below {
		label := noren.Textf("fewer than %d {record|records}", below.K)
		if below.K == 2 {
			label = noren.Textf("alone")
		}
		chart.Labels = append(chart.Labels, label)
		var row []string
		for _, r := range risks {
			row = append(row, Integer(r.Below[j].Records), Percent(r.Below[j].Share))
		}
		table.Add(label, row...)
	}
	return &Picture{Chart: chart, Caption: noren.Textf("How many records are in a class of fewer than this number of records. In a class " +
		"of fewer than 5, a guess is right with a chance above 1 in 5; who is alone is found with certainty."), Table: table}
}

func riskTable(names []tableName, risks []*assess.Risk, a *assess.Assessment) *Table {
	t := &Table{Caption: noren.Textf("Risk in the terms of the field"), Header: Header("Measure"), Numeric: []bool{false}}
	for _, n := range names {
		t.Header = append(t.Header, noren.Textf(n.alone))
		t.Numeric = append(t.Numeric, true)
	}
	row := func(name noren.Text, f func(r *assess.Risk) string) {
		figures := make([]string, len(risks))
		for i, r := range risks {
			figures[i] = f(r)
		}
		t.Add(name, figures...)
	}
	row(noren.Textf("Records"), func(r *assess.Risk) string { return Integer(r.Records) })
	row(noren.Textf("Classes"), func(r *assess.Risk) string { return Integer(r.Classes) })
	row(noren.Textf("Smallest, average, largest class"), func(r *assess.Risk) string {
		return fmt.Sprintf("%s, %s, %s", Integer(r.SmallestClass), Number(r.AverageClass), Integer(r.LargestClass))
	})
	row(noren.Textf("Prosecutor risk, highest"), func(r *assess.Risk) string { return Percent(r.Prosecutor.Max) })
	row(noren.Textf("Prosecutor risk, mean (= marketer risk)"), func(r *assess.Risk) string { return Percent(r.Marketer) })
	row(noren.Textf("Records with a risk above %s", Percent(risks[0].Prosecutor.Threshold)), func(r *assess.Risk) string {
		return fmt.Sprintf("%s (%s)", Integer(r.Prosecutor.RecordsAbove), Percent(r.Prosecutor.ShareAbove))
	})
	row(noren.Textf("Unique records"), func(r *assess.Risk) string {
		return fmt.Sprintf("%s (%s)", Integer(r.UniqueRecords), Percent(r.UniqueShare))
	})
	row(noren.Textf("Discernibility (sum of squared class sizes)"), func(r *assess.Risk) string { return Number(r.Discernibility) })
	if a.AverageClassRatio != nil && a.Release != nil {
		figures := slices.Repeat([]string{"–"}, len(risks))
		figures[len(figures)-1] = Number(*a.AverageClassRatio)
		t.Add(noren.Textf("Average class over k = %d (C_avg)", a.K), figures...)
	}
	return t
}

func (b *assessment) population() []Block {
	var blocks []Block
	heads, journalists := Header("Measure"), []*assess.Journalist{}
	if j := b.a.OriginalJournalist; j != nil {
		heads, journalists = append(heads, noren.Textf("original")), append(journalists, j)
	}
	if j := b.a.ReleaseJournalist; j != nil {
		heads, journalists = append(heads, noren.Textf("release")), append(journalists, j)
	}
	if len(journalists) > 0 {
		t := &Table{Caption: noren.Textf("Against the population table"), Header: heads, Numeric: []bool{false, true, true}}
		row := func(name noren.Text, f func(j *assess.Journalist) string) {
			figures := make([]string, len(journalists))
			for i, j := range journalists {
				figures[i] = f(j)
			}
			t.Add(name, figures...)
		}
		row(noren.Textf("Records of the population"), func(j *assess.Journalist) string { return Integer(j.PopulationRecords) })
		row(noren.Textf("Smallest class in the population"), func(j *assess.Journalist) string { return Integer(j.SmallestClass) })
		row(noren.Textf("Journalist risk, highest"), func(j *assess.Journalist) string { return Percent(j.Max) })
		row(noren.Textf("Journalist risk, mean"), func(j *assess.Journalist) string { return Percent(j.Mean) })
		row(noren.Textf("Marketer risk"), func(j *assess.Journalist) string { return Percent(j.Marketer) })
		row(noren.Textf("Records unique in the population"), func(j *assess.Journalist) string { return Integer(j.PopulationUniques) })
		blocks = append(blocks, Block{Text: noren.Textf("An attacker who does not know whether a person is in the table at all has to tell " +
			"them from everyone in the population who looks alike.")}, Block{Table: t})
	}
	for i, u := range []*assess.Uniqueness{b.a.OriginalUniqueness, b.a.ReleaseUniqueness} {
		if u == nil {
			continue
		}
		name := [...]noren.Phrase{"original", "release"}[i]
		t := &Table{
			Caption: noren.Textf("Estimated number of people of the population (%s) who are unique in it, from the %s as a sample of %s",
				Integer(u.PopulationRecords), name, Percent(u.Fraction)),
			Header: Header("Model", "Unique people", "Share", "Remark"), Numeric: []bool{false, true, true},
		}
		add := func(model noren.Format, uniques, share string, remark noren.Text) {
			t.Rows = append(t.Rows, []noren.Text{noren.Textf(model), Verbatim(uniques), Verbatim(share), remark})
		}
		row := func(model noren.Format, e assess.Estimate, chosen bool) {
			remark := e.Reason
			if chosen {
				remark = noren.Textf("chosen by the decision rule of Dankar et al. (2012)")
			}
			add(model, optional(e.Uniques, func(v float64) string { return Number(roundTo(v)) }), optional(e.Share, Percent), remark)
		}
		switch u.Chosen {
		case assess.ModelExact:
			row("counted: the sample is the population", u.Result, false)
		case assess.ModelNone:
			row("no unique record in the sample", u.Result, false)
		default:
			row("Pitman", u.Pitman, u.Chosen == assess.ModelPitman)
			row("Slide negative binomial (SNB)", u.SNB, u.Chosen == assess.ModelSNB)
			row("Zayatz", u.Zayatz, u.Chosen == assess.ModelZayatz)
		}
		if r := u.Range; r != nil {
			remark := noren.Textf("95 % intervals of the models that fit, from the lowest to the highest end")
			if u.OrderOfMagnitude {
				remark = noren.Textf("order of magnitude only: the sample does not decide between the models")
			}
			t.Rows = append(t.Rows, []noren.Text{noren.Textf("Models that fit"), {}, between(r), remark})
		}
		t.Rows = append(t.Rows, []noren.Text{
			noren.Textf("Without a model"),
			{},
			between(&u.Bounds),
			noren.Textf("all populations that agree with the sample (95 %)"),
		})
		blocks = append(blocks, Block{Table: t})
	}
	if b.a.OriginalUniqueness != nil || b.a.ReleaseUniqueness != nil {
		blocks = append(blocks, Block{Note: noren.Textf("These are estimates by statistical models, not bounds; the last row alone rests on " +
			"no model. A model that does not fit the table is left out, with the reason.")})
	}
	return blocks
}

func between(r *assess.ShareRange) noren.Text {
	return noren.Textf("%s to %s", Percent(r.Low), Percent(r.High))
}

// roundTo drops the digits of an estimate that mean nothing.
func roundTo(v float64) float64 {
	if v >= 10 {
		return float64(int64(v + 0.5))
	}
	return v
}

package report_test

import (
	"fmt"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/assess"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/report"
)

// A chart is written as an SVG file of its own, for a paper or a slide.
func ExampleLines() {
	chart := &report.Lines{
		Title: report.Verbatim("Loss by k"), Across: report.Verbatim("k"), Axis: report.Verbatim("SSE/SST"), FromZero: true,
		FormatY: report.Percent,
		Curves: []report.Curve{
			{Name: report.Verbatim("greedy"), X: []float64{3, 5, 10}, Y: []float64{0.057, 0.091, 0.142}},
			{Name: report.Verbatim("refined"), X: []float64{3, 5, 10}, Y: []float64{0.048, 0.074, 0.114}},
		},
	}
	var svg strings.Builder
	if err := chart.WriteSVG(&svg, lang.English); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(strings.HasPrefix(svg.String(), `<svg xmlns="http://www.w3.org/2000/svg"`), strings.Contains(svg.String(), "refined"))
	// Output: true true
}

// A page is made of sections and blocks.
func ExamplePage_Write() {
	page := &report.Page{
		Title: report.Verbatim("Two groups"),
		Sections: []report.Section{{Title: report.Verbatim("How many"), Blocks: []report.Block{
			{Text: report.Verbatim("Men and women <as counted>.")},
			{Figures: []report.Figure{{Name: report.Verbatim("Records"), Value: report.Verbatim(report.Integer(1234))}}},
		}}},
	}
	var html strings.Builder
	if err := page.Write(&html); err != nil {
		fmt.Println(err)
		return
	}
	for _, line := range strings.Split(html.String(), "\n") {
		if strings.Contains(line, "counted") || strings.Contains(line, "Records") {
			fmt.Println(line)
		}
	}
	// Output:
	// <p>Men and women &lt;as counted&gt;.</p>
	// <div><dt>Records</dt><dd class="value">1,234</dd></div>
}

// The page about a table that has not been changed yet.
func ExampleAssessment() {
	risk, err := assess.NewRisk([]int{1, 1, 3, 5}, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	page := report.Assessment(&assess.Assessment{Schema: assess.Schema, Quasi: []string{"age", "sex"}, Original: risk},
		report.Facts{Original: noren.Place{noren.File("visits.csv")}})
	fmt.Println(page.Title, page.Private)
	fmt.Println(page.Sections[0].Blocks[1].Text)
	// Output:
	// Assessment of visits.csv true
	// What this means: in the original, 2 records (20%) had a combination of age and sex that no other record has. An attacker who knows these values of such a person finds the record with certainty, also without names.
}

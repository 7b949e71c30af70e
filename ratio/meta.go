package ratio

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/axis"
)

// metaFormat is the name and version of the form.
const metaFormat = "noren.ratio-weights/3"

// metaFormats are the older forms that are still read: 1 is from before there were records
// outside and calibrated weights, and both have another name for the distribution.
var metaFormats = []string{"noren.ratio-weights/1", "noren.ratio-weights/2"}

// Where [Meta.Records] comes from.
const (
	Declared  = "declared"  // public, in replace-one
	Paid      = "paid"      // released with noise
	Estimated = "estimated" // from the weights themselves
)

// Meta is what makes weights again from the public table: the released sums and all
// public parameters. It holds nothing else that came from private records, and may be
// released with the weights.
type Meta struct {
	Format        string       `json:"format"`
	Mechanism     Noise        `json:"mechanism"`
	Epsilon       float64      `json:"epsilon"`
	Delta         float64      `json:"delta,omitempty"`
	Neighbours    string       `json:"neighbours"`
	Axes          []axisMeta   `json:"axes,omitempty"`
	PublicRecords int          `json:"public_records"`
	Records       float64      `json:"records"`
	RecordsFrom   string       `json:"records_from"`
	RecordsSD     float64      `json:"records_sd,omitempty"`
	Outside       *Outside     `json:"outside,omitempty"`
	Centres       [][]float64  `json:"centres"`
	Sigma         float64      `json:"sigma"`
	Sigmas        []float64    `json:"sigmas"`
	Lambda        float64      `json:"lambda"`
	Post          Post         `json:"post"`
	Raw           bool         `json:"raw,omitempty"`
	Distribution  Distribution `json:"distribution"`
	// Sums are the released sums for the bandwidth that was taken.
	Sums []float64 `json:"sums"`
	// Dim is the number of coordinates; Histograms, Cells and CellScale are the
	// histograms, their released counts and the scale of the noise in them.
	Dim        int         `json:"dimensions,omitempty"`
	Features   Feature     `json:"features,omitempty"`
	Histograms []Histogram `json:"histograms,omitempty"`
	Cells      []int64     `json:"cells,omitempty"`
	CellScale  float64     `json:"scale_of_cells,omitempty"`
	MeanWeight float64     `json:"mean_weight"`
	ESS        float64     `json:"ess"`
	MaxShare   float64     `json:"max_share"`
	Check      FitCheck    `json:"fit_check"`
	// Notes are remarks of the fit that are no fault.
	Notes []noren.Text `json:"notes,omitempty"`
	// Column is the column of the weights in the table, and Missing the texts of a missing
	// value there. The writer of the table sets them; optional.
	Column  string   `json:"column,omitempty"`
	Missing []string `json:"missing,omitempty"`
}

// Outside is how many private records are outside of the public ones, as released with
// noise of standard deviation SD.
type Outside struct {
	Records float64 `json:"records"`
	SD      float64 `json:"sd"`
}

// axisMeta is an [Axis] as JSON.
type axisMeta struct {
	Column     string   `json:"column"`
	Type       string   `json:"type"`
	Layout     string   `json:"layout,omitempty"`
	Levels     []string `json:"levels,omitempty"`
	Low        float64  `json:"low"`
	High       float64  `json:"high"`
	Scale      float64  `json:"scale"`
	Categories []string `json:"words,omitempty"`
}

func axesMeta(f *Frame) []axisMeta {
	out := make([]axisMeta, len(f.axes))
	for j, a := range f.axes {
		out[j] = axisMeta{a.Field.Name, a.Field.Type.String(), string(a.Field.Layout), a.Field.Levels, a.Low, a.High, a.Scale, a.Categories}
	}
	return out
}

// Frame is the frame that the points were made with. Error: [noren.BadData] where the
// weights were made of points without one.
func (m *Meta) Frame() (*Frame, error) {
	if len(m.Axes) == 0 {
		return nil, badMeta("the weights were made without columns of a table")
	}
	axes := make([]axis.Axis, len(m.Axes))
	for j, a := range m.Axes {
		t, err := table.ParseType(a.Type)
		if err != nil {
			return nil, badMeta("the meta data name a type of column that there is not")
		}
		axes[j] = axis.Axis{
			Field: table.Field{Name: a.Column, Type: t, Layout: table.Layout(a.Layout), Levels: a.Levels},
			Low:   a.Low, High: a.High, Scale: a.Scale, Categories: a.Categories,
		}
	}
	f, err := NewFrame(axes)
	if err != nil {
		return nil, badMeta("the axes of the meta data contradict themselves")
	}
	if f.Dim() != m.dim() {
		return nil, badMeta("the axes and the centres of the meta data have another number of coordinates")
	}
	return f, nil
}

// Encode writes m as JSON, to be kept beside the table.
func (m *Meta) Encode() ([]byte, error) {
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, broken(noren.Phrase("meta data"), "a figure cannot be written as JSON")
	}
	return append(b, '\n'), nil
}

// DecodeMeta reads what Encode wrote, and trusts nothing of it. Error: [noren.BadData].
func DecodeMeta(text []byte) (*Meta, error) {
	if err := meter.Document(text, noren.Textf("the meta data of the weights")); err != nil {
		return nil, err
	}
	var m Meta
	d := json.NewDecoder(bytes.NewReader(currentMeta(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil || d.More() {
		return nil, badMeta("the meta data of the weights are not JSON of the form %s", metaFormat)
	}
	return &m, m.validate()
}

// currentMeta renames the distribution of an older form: its key is the only one that the
// present form does not have. Text of any other shape is returned as it is.
func currentMeta(text []byte) []byte {
	var keys map[string]json.RawMessage
	if json.Unmarshal(text, &keys) != nil {
		return text
	}
	var format string
	if json.Unmarshal(keys["format"], &format) != nil || !slices.Contains(metaFormats, format) {
		return text
	}
	if _, has := keys["distribution"]; has {
		return text
	}
	known := map[string]bool{}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Meta]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		known[name] = true
	}
	var others []string
	for key := range keys {
		if !known[key] {
			others = append(others, key)
		}
	}
	if len(others) != 1 {
		return text
	}
	keys["distribution"] = keys[others[0]]
	delete(keys, others[0])
	renamed, err := json.Marshal(keys)
	if err != nil {
		return text
	}
	return renamed
}

func (m *Meta) validate() error {
	if m.Format != metaFormat && !slices.Contains(metaFormats, m.Format) {
		return badMeta("the meta data of the weights are not of the form %s", metaFormat)
	}
	positive := func(v float64) bool { return v > 0 && !math.IsInf(v, 1) }
	b := len(m.Centres)
	if b < 1 && len(m.Histograms) == 0 || b > maxCentres || len(m.Sums) != b || !isWhole(m.Sums) {
		return badMeta("the meta data need centres, and a sum for each")
	}
	d := m.dim()
	if err := m.validateHistograms(d); err != nil {
		return err
	}
	for _, c := range m.Centres {
		if len(c) != d || d < 1 || d > maxDim || !isWhole(c) {
			return badMeta("the centres of the meta data are not points of one space")
		}
	}
	switch {
	case b > 0 && (!positive(m.Sigma) || !positive(m.Sigma*m.Sigma) || !positive(m.Lambda)) || !positive(m.Records) || m.Records > 1<<60 ||
		m.RecordsSD < 0:
		return badMeta("bandwidth, lambda and number of records in the meta data must be numbers above 0")
	case m.Outside != nil && (!isWhole([]float64{m.Outside.Records, m.Outside.SD}) || m.Outside.SD < 0):
		return badMeta("the number of records outside in the meta data is no number")
	case m.PublicRecords < 2:
		return badMeta("the meta data need the number of public records")
	case m.RecordsFrom != Declared && m.RecordsFrom != Paid && m.RecordsFrom != Estimated:
		return badMeta("the meta data do not say where the number of records is from")
	case m.Post != Entropy && m.Post != Plain && m.Post != NonNegative && m.Post != Clip:
		return badMeta("the meta data name a post-processing that there is not")
	case b == 0 && m.Post != Entropy || len(m.Histograms) > 0 && m.Post != Entropy && m.Post != Plain:
		return badMeta("the meta data name a post-processing that does not go with histograms")
	case b == 0:
		if _, err := account.ParseNeighbours(m.Neighbours); err != nil {
			return badMeta("the meta data name a relation of neighbours that there is not")
		}
		return nil
	case !positive(m.Distribution.Scale) || m.Distribution.Scale > 1<<60 || m.Distribution.Shape < 0 || m.Distribution.Shape > 16*maxCentres:
		return badMeta("the meta data describe no noise")
	}
	switch m.Distribution.Noise {
	case RKHSPure:
		if m.Distribution.Shape < b {
			return badMeta("the meta data describe no noise")
		}
	case RKHSGaussian, Laplace, Parametric:
	default:
		return badMeta("the meta data name a mechanism that there is not")
	}
	if _, err := account.ParseNeighbours(m.Neighbours); err != nil {
		return badMeta("the meta data name a relation of neighbours that there is not")
	}
	return nil
}

// dim is the number of coordinates.
func (m *Meta) dim() int {
	if len(m.Centres) > 0 {
		return len(m.Centres[0])
	}
	return m.Dim
}

// validateHistograms checks the histograms of points of d coordinates.
func (m *Meta) validateHistograms(d int) error {
	bad := badMeta("the meta data describe no histograms")
	if d < 1 || d > maxDim || len(m.Histograms) > maxDim {
		return bad
	}
	total := 0
	for i := range m.Histograms {
		h := &m.Histograms[i]
		if len(h.Axes) < 1 || len(h.Axes) > 2 {
			return bad
		}
		for _, a := range h.Axes {
			if a.At < 0 || a.Categories < 0 || a.Categories > maxCategories || a.At+max(1, a.Categories) > d || len(a.Edges) > maxCategories ||
				!isWhole(a.Edges) || !slices.IsSorted(a.Edges) {
				return bad
			}
		}
		total += h.Cells()
	}
	if total > maxCentres || len(m.Cells) != total || total > 0 && !(m.CellScale > 0 && m.CellScale < 1<<60) {
		return bad
	}
	return nil
}

// note adds a remark.
func (m *Meta) note(t noren.Text) {
	if !t.IsZero() {
		m.Notes = append(m.Notes, t)
	}
}

// edge says that the choice stopped at the end of what there was to choose from.
func (m *Meta) edge(given bool) noren.Text {
	all := Lambdas()
	switch {
	case given:
		return noren.Text{}
	case m.Lambda == all[len(all)-1]:
		return noren.Textf("lambda is the largest of its grid: noise left little to fit")
	case m.Lambda == all[0]:
		return noren.Textf("lambda is the least of its grid")
	}
	return noren.Text{}
}

// Statement is the privacy of the weights in one line.
func (m *Meta) Statement() noren.Text {
	epsilon := strconv.FormatFloat(m.Epsilon, 'f', -1, 64)
	what := noren.Textf("differential privacy of one record, %s, epsilon = %s", m.Neighbours, epsilon)
	if m.Delta > 0 {
		what = noren.Textf("differential privacy of one record, %s, epsilon = %s, delta = %s", m.Neighbours, epsilon,
			strconv.FormatFloat(m.Delta, 'f', -1, 64))
	}
	by := noren.Textf("%s", m.Mechanism)
	switch m.Features {
	case MarginalFeatures:
		by = noren.Textf("histograms with discrete noise")
	case BothFeatures:
		by = noren.Textf("%s and histograms with discrete noise", m.Mechanism)
	}
	return noren.Textf("%s, by %s; everything made of the weights is covered", what, by)
}

// Warnings are the findings of the fit check and the notes of the fit.
func (m *Meta) Warnings() []noren.Text {
	return append(append([]noren.Text{}, m.Check.Findings...), m.Notes...)
}

// RecordsSource says in words where the number of private records comes from
// ([Meta.RecordsFrom]).
func RecordsSource(from string) noren.Text {
	switch from {
	case Declared:
		return noren.Textf("as declared")
	case Paid:
		return noren.Textf("as released with noise")
	}
	return noren.Textf("estimated from the weights")
}

package service

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/ratio"
	"github.com/noren-privacy/noren/report"
	"github.com/noren-privacy/noren/report/text"
	"github.com/noren-privacy/noren/table/file"
)

// RatioMetaSuffix is appended to the name of a weighted table for its meta data.
const RatioMetaSuffix = ".ratio.json"

// RatioFit weights the records of a public table so that it matches a private one, and
// writes the weighted table and its meta data. The files are made before the answer is
// settled, and are created after it.
func (s *Service) RatioFit(ctx context.Context, r *api.RatioFitRequest) (*api.RatioFit, error) {
	filled := *r // with defaults
	f := &ratioFit{service: s, request: &filled}
	defer f.close()
	if err := f.check(); err != nil {
		return nil, err
	}
	if err := f.checkOutput(); err != nil {
		return nil, err
	}
	_, receipt, m, err := pay[ratio.Released](ctx, s, f.question())
	if err != nil {
		return nil, err
	}
	if f.weights == nil { // answered before: the same sums again
		if _, err := f.publish(ctx, m, receipt.Payload); err != nil {
			return nil, err
		}
	}
	if certified := receipt.Certificate.Certificate.Released; certified.SHA256 != f.released.SHA256 {
		if r.Certified {
			return nil, &noren.Error{
				Kind: noren.NotMet, Code: "other-weights", Where: "certificate",
				What: "the certificate is of the file that was made first, and this is another",
				Hint: "repeat the request with the same lambda, post-processing and column name; without a certificate the file is written, under " +
					"the same guarantee",
			}
		}
		s.note(api.Warning, "other-weights",
			"this is another file than the one that was certified: other weights were made of the same release; the guarantee is the same")
	}
	if err := f.files.commit(); err != nil {
		return nil, unwritten(err)
	}
	if r.Page != nil {
		page := report.RatioPage(&report.RatioFit{
			Private: r.Dataset, Public: r.Public, Weights: f.weights, Table: f.space.table, Frame: f.space.frame,
			Guarantee: receipt.Guarantee, Version: s.Tool.Version,
		})
		if err := page.In(s.Lang).Write(r.Page); err != nil {
			return nil, unwritten(err)
		}
	}
	return f.result(m, receipt), nil
}

// RatioFitPrice computes what a fit would cost and how accurate it would be. Nothing is
// charged, and no private file of a ledger is opened.
func (s *Service) RatioFitPrice(ctx context.Context, r *api.RatioFitRequest) (*api.RatioFitQuote, error) {
	filled := *r // with defaults
	f := &ratioFit{service: s, request: &filled}
	defer f.close()
	if err := f.check(); err != nil {
		return nil, err
	}
	p, m, err := price(ctx, s, f.question())
	if err != nil {
		return nil, err
	}
	accuracy, err := m.Accuracy(0.95, 1)
	if err != nil {
		return nil, err
	}
	out := &api.RatioFitQuote{Quote: api.Quote[[]ratio.KernelNoise]{Price: p}}
	if len(accuracy.Kernels) > 0 { // nothing is forecast for histograms alone
		out.Accuracy = &accuracy.Kernels
	}
	out.CountEpsilon, out.OutsideEpsilon = m.Checks()
	return out, nil
}

// ratioFit is a fit in progress.
type ratioFit struct {
	service  *Service
	request  *api.RatioFitRequest
	cost     account.Cost
	space    *ratioSpace
	weights  *ratio.Weights
	files    *weightFiles
	released certificate.Released
}

// noteFormulas warns of texts of the public table that spreadsheets take for formulas.
func (f *ratioFit) noteFormulas() {
	cells, names := int64(0), 0
	for i, n := range f.files.formulas.Cells {
		cells += n
		if f.files.formulas.Names[i] {
			names++
		}
	}
	if cells > 0 || names > 0 {
		f.service.note(api.Warning, NoteFormulasKept, "%s: spreadsheets take %s {cell|cells} and %d column {name|names} in it for formulas; "+
			"they stay as they are, as in the public table", noren.File(f.request.Output), text.Integer(cells), names)
	}
}

func (f *ratioFit) close() {
	f.space.close()
	f.files.discard()
}

// check finds the faults of the request that need no file.
func (f *ratioFit) check() error {
	q := f.request
	if len(q.Columns) == 0 {
		return noren.Usagef("columns", "expected the columns of the space, got none").
			Hinted("age,sex: few, in which the tables differ, and that the later questions depend on")
	}
	if q.WeightColumn == "" {
		q.WeightColumn = "weight"
	}
	var err error
	f.cost, err = account.ParseCost(q.Epsilon, q.Delta)
	return err
}

func (f *ratioFit) checkOutput() error {
	q := f.request
	if q.Output == "" {
		return noren.Usagef("output", "expected a file for the weights, got none").Hinted("its meta data are written beside it")
	}
	if err := file.Check(q.Output); err != nil {
		return err
	}
	q.Outputs = slices.Clone(q.Outputs)
	for _, path := range []string{q.Output, q.Output + RatioMetaSuffix} {
		if !slices.Contains(q.Outputs, path) {
			q.Outputs = append(q.Outputs, path)
		}
		if err := atomicfile.Check(path, q.Force); err != nil {
			return err
		}
	}
	return nil
}

func (f *ratioFit) question() requested[*ratio.Mechanism] {
	q := f.request
	return requested[*ratio.Mechanism]{
		ask: &q.Ask, schema: api.RatioFitSchema, public: []string{q.Public, q.PublicScale}, build: f.build, publish: f.publish,
	}
}

// build makes the mechanism of public facts.
func (f *ratioFit) build(ctx context.Context, a *openSet) (*ratio.Mechanism, error) {
	q := f.request
	records, err := a.records(q.Records)
	if err != nil {
		return nil, err
	}
	f.space.close() // where it is built again
	if f.space, err = f.service.openSpace(ctx, &q.RatioSpace, a.Definition, q.WeightColumn); err != nil {
		return nil, err
	}
	o := ratio.Options{
		Public: f.space.points, PublicTable: f.space.public, Frame: f.space.frame, Cost: f.cost, Neighbours: a.neighbours(), Records: records,
		Features: ratio.Feature(q.Features), Noise: ratio.ParseNoise(q.Noise), Centres: q.Centres, Sigmas: q.Sigmas, Lambda: q.Lambda,
		Post: ratio.Post(q.Post), Raw: q.Raw,
	}
	if o.CountShare, o.OutsideShare, err = ratio.Shares(q.CountShare, q.OutsideShare, o.Neighbours); err != nil {
		return nil, err
	}
	if o.Features == "" && q.Noise == "" && q.Centres == 0 && len(q.Sigmas) == 0 && q.Lambda == 0 && q.Post == "" {
		o.Features = ratio.PreferredFeatures(f.space.frame)
	}
	return ratio.New(ctx, o)
}

// publish makes the weights and their files of what was released. It sees nothing of the
// private table but that.
func (f *ratioFit) publish(ctx context.Context, mechanism *ratio.Mechanism, payload []byte) (certificate.Released, error) {
	q := f.request
	sums, err := mechanism.Decode(payload)
	if err != nil {
		return certificate.Released{}, err
	}
	if f.weights, err = mechanism.Weights(ctx, sums); err != nil {
		return certificate.Released{}, err
	}
	m := f.weights.Meta
	m.Column, m.Missing = q.WeightColumn, f.space.missing
	m.Notes = append(m.Notes, mechanism.Remarks(len(m.Centres))...)
	if f.files, err = stageWeights(ctx, q.Output, q.Force, f.space.source, f.weights); err != nil {
		return certificate.Released{}, err
	}
	f.noteFormulas()
	if f.released, err = f.files.hash(ctx); err != nil {
		return certificate.Released{}, err
	}
	f.released.Name = filepath.Base(q.Output)
	return f.released, f.space.unchanged(ctx) // the certificate states the table that was copied
}

func (f *ratioFit) result(mechanism *ratio.Mechanism, receipt api.Receipt) *api.RatioFit {
	q, m := f.request, f.weights.Meta
	return &api.RatioFit{
		Schema: api.RatioFitSchema, Output: q.Output, Meta: q.Output + RatioMetaSuffix, Columns: q.Columns,
		PublicRecords: m.PublicRecords, Records: m.Records, RecordsFrom: m.RecordsFrom, Mechanism: m.Mechanism,
		B: len(m.Centres), Sigma: m.Sigma, Lambda: m.Lambda, Post: m.Post, ESS: m.ESS, MaxShare: m.MaxShare,
		MeanWeight: m.MeanWeight, FitCheck: m.Check, Warnings: m.Warnings(), Receipt: receipt,
		Histograms: mechanism.Histograms(), Cells: len(m.Cells), Notes: m.Notes,
	}
}

// unwritten says that an answer was charged and could not be written.
func unwritten(err error) error {
	return &noren.Error{
		Kind: noren.KindOf(err), Code: "unwritten", What: "the answer was charged, and could not be written", Err: err,
		Hint: "where the request had a key, repeat it under that key: it is free",
	}
}

package shard

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"path/filepath"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/bound"
	"github.com/noren-privacy/noren/kanon/gate"
	"github.com/noren-privacy/noren/kanon/verify"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/formula"
	"github.com/noren-privacy/noren/table/parts"
)

// committing is a release that is about to be named.
type committing struct {
	j       *Job
	p       *Plan
	made    []*Made // by their first bucket
	checked map[string]*Checked
}

// Commit makes the release out of the results of all buckets and the checks of their files.
// The files get their names and the manifest in a folder of the job, where each is compared
// with what was checked again; one rename of this folder shows the release. Where the folder
// of the job lies in that of the release, its files are renamed one by one instead, the
// manifest last. A release that is replaced is kept in the folder of the job, dir, until then.
// What a commit that is killed has left is put in order by [Job.Recover].
//
// verified is called before anything is shown, with the bytes of the manifest: the place to
// certify it. Its error gives the release up.
//
// Errors are of kind BadData (fewer records or persons than k, a file of the table that has
// changed), NotMet (a class below k, a file that is not what was written or checked), and
// Internal (results that are not those of all buckets). After an error no file of the release
// is named, and an earlier release is in its place.
func (j *Job) Commit(ctx context.Context, p *Plan, dir string, in Frames,
	verified func(r *kanon.Result, manifest []byte) error,
) (*kanon.Result, error) {
	c := &committing{j: j, p: p, checked: map[string]*Checked{}}
	if err := c.gather(ctx, in); err != nil {
		return nil, err
	}
	if err := c.complete(); err != nil {
		return nil, err
	}
	for _, s := range j.Shards {
		if err := s.unchanged(); err != nil {
			return nil, err
		}
	}
	manifest := c.manifest()
	result, err := c.result(manifest)
	if err != nil {
		return nil, err
	}
	text, err := manifest.Text()
	if err != nil {
		return nil, err
	}
	n := &naming{
		committing: c, dir: dir, within: same(filepath.Dir(dir), j.Folder),
		record: record{Certificate: j.Certificate, Manifest: manifestSum(text)},
	}
	if err := n.begin(ctx, text); err != nil {
		return nil, untouched(err)
	}
	err = n.commit(ctx, result, text, verified)
	// Whatever was said of the last change: what is shown is released. What cannot be removed
	// then is removed by the next job.
	shown, e := recoverIn(ctx, j.Folder, dir)
	switch {
	case err == nil || shown:
		return result, nil
	case e != nil:
		return nil, errors.Join(err, e)
	}
	return nil, untouched(err)
}

// begin makes the release in the folder of the job, and records what is about to be done.
func (n *naming) begin(ctx context.Context, manifest []byte) error {
	err := n.stage(ctx, manifest)
	n.record.Within = n.within
	if !n.within {
		n.record.Names = nil
	}
	if err == nil {
		err = n.record.keepCertificate(ctx, n.dir)
	}
	if err == nil {
		err = n.record.put(ctx, n.dir)
	}
	var said *noren.Error
	if err == nil || errors.As(err, &said) {
		return err
	}
	return unnamed(n.j.Folder, err)
}

// untouched says of an error that has no hint that nothing is left of the commit.
func untouched(err error) error {
	said, ok := err.(*noren.Error)
	if !ok || said.Hint != "" {
		return err
	}
	with := *said
	return with.Hinted("all is as it was before the commit; start the job again when this is mended")
}

// commit shows what is staged.
func (n *naming) commit(ctx context.Context, result *kanon.Result, manifest []byte,
	verified func(r *kanon.Result, manifest []byte) error,
) error {
	if verified != nil {
		if err := verified(result, manifest); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return n.show(ctx)
}

// gather takes the frames in.
func (c *committing) gather(ctx context.Context, in Frames) error {
	err := each(ctx, in, func(frame []byte) error {
		if len(frame) > 0 && frame[0] == kindChecked {
			checked, err := DecodeChecked(c.j, frame)
			if err != nil {
				return err
			}
			c.checked[checked.Name] = checked
			return nil
		}
		m, err := DecodeMade(c.j, frame)
		if err != nil {
			return err
		}
		c.made = append(c.made, m)
		return nil
	})
	slices.SortFunc(c.made, func(a, b *Made) int { return cmp.Compare(a.Buckets[0], b.Buckets[0]) })
	return err
}

// complete demands each bucket once, the records of all files, and the check of each
// file.
func (c *committing) complete() error {
	j, next, rows := c.j, 0, int64(0)
	for _, m := range c.made {
		if m.Buckets[0] != next {
			return fault(noren.Textf("expected the result of each bucket once, got one twice or not at all"))
		}
		next += len(m.Buckets)
		rows += m.Rows
		if m.Kind != MadeShort {
			continue
		}
		if len(m.Buckets) < c.p.Buckets() {
			return fault(noren.Textf("expected a bucket of fewer than k records together with a neighbour, got it alone"))
		}
		if j.unit() >= 0 {
			return kanon.EnoughPersons(j.where(), m.Persons, j.Options.K)
		}
		return kanon.EnoughRecords(j.where(), m.Rows, j.Options.K)
	}
	if next != c.p.Buckets() {
		return fault(noren.Textf("expected the result of each bucket once, got one twice or not at all"))
	}
	if rows != c.p.Rows() {
		return fault(noren.Textf("expected the %d {record|records} of the table in its buckets, got %d", c.p.Rows(), rows))
	}
	for _, m := range c.made {
		if m.Kind != MadeFile {
			continue
		}
		found := c.checked[m.Name]
		switch {
		case found == nil:
			return fault(noren.Textf("expected a check of each file, got none of one"))
		case found.Changed || found.Size != m.Size || !bytes.Equal(found.SHA256, m.SHA256[:]) || found.Found.Rows != m.Rows:
			return c.changed(m.Name)
		}
		if err := found.Found.Err(); err != nil {
			return err
		}
	}
	return nil
}

// manifest lists the files under the names that they will have.
func (c *committing) manifest() *parts.Manifest {
	j := c.j
	m := &parts.Manifest{Format: parts.ManifestFormat, Files: []parts.Part{}, Release: &parts.Release{
		Version: j.Version, K: j.Options.K, Unit: j.Options.Unit, Quasi: j.schema.Names(table.Quasi), Publish: j.Options.Publish,
	}}
	for _, made := range c.made {
		if made.Kind != MadeFile {
			continue
		}
		m.Rows += made.Rows
		m.Release.Classes += c.checked[made.Name].Found.Classes
		m.Files = append(m.Files, parts.Part{
			Name: j.fileName(made.Buckets[0]), Size: made.Size, Rows: made.Rows,
			SHA256: hex.EncodeToString(made.SHA256[:]),
		})
	}
	return m
}

// result is what the release came to. Figures that compare with the source are for the
// steward and are in no file of the release.
func (c *committing) result(m *parts.Manifest) (*kanon.Result, error) {
	j := c.j
	r := j.run.NewResult(j.Input, j.Output)
	r.Rows, r.Method, r.MethodReason, r.Coarse = int(m.Rows), c.p.chosen.Method.String(), c.p.chosen.Reason, max(c.p.chosen.Coarse, 0)
	r.Classes = int(m.Release.Classes)
	quasi := c.p.heads
	missing := make([]int64, len(quasi))
	sst := c.p.frame.NewSST()
	outsiders := c.p.leaves(j)
	found := &verify.Result{
		Schema: verify.ResultSchema, File: noren.Place{noren.File(j.Output)}, Met: true, Failures: noren.Texts{}, Quasi: m.Release.Quasi,
		K: j.Options.K, Rows: m.Rows, Classes: m.Release.Classes,
	}
	before := 0.0
	var formulas formula.Count
	for _, made := range c.made {
		if made.Kind != MadeFile {
			continue
		}
		first := r.Groups == 0
		r.Groups += int(made.groups)
		r.SSE += made.after
		before += made.before
		r.NCP += made.penalty
		sst.Take(made.squares)
		if outsiders != nil {
			outsiders.Take(made.inside)
		}
		for a, n := range made.missing {
			missing[a] += n
		}
		if made.formulas.Cells != nil {
			formulas.Add(made.formulas)
		}
		v := &c.checked[made.Name].Found
		if first {
			r.GroupSize.Min = int(made.least)
			found.AchievedK, found.ClassSize.Min = v.AchievedK, v.ClassSize.Min
		}
		r.GroupSize.Min, r.GroupSize.Max = min(r.GroupSize.Min, int(made.least)), max(r.GroupSize.Max, int(made.most))
		found.AchievedK = min(found.AchievedK, v.AchievedK)
		found.ClassSize.Min, found.ClassSize.Max = min(found.ClassSize.Min, v.ClassSize.Min), max(found.ClassSize.Max, v.ClassSize.Max)
	}
	if r.Groups == 0 {
		return nil, fault(noren.Textf("expected at least one file, got none"))
	}
	found.ClassSize.Mean = float64(m.Rows) / float64(m.Release.Classes)
	r.Verified, r.AchievedK = found, int(found.AchievedK)
	r.GroupSize.Mean = float64(r.Rows) / float64(r.Groups)
	r.NCP /= float64(r.Rows)
	r.SST = sst.Sum()
	if r.SST > 0 {
		r.Loss, r.RefinedFrom = r.SSE/r.SST, before/r.SST
	}
	if r.Loss > 0 {
		r.Gap = 1
	}
	r.Bound = kanon.Bound{Method: bound.None.String(), Reason: noren.Textf("no process of a cluster holds all records")}
	if formulas.Cells != nil {
		r.Formulas = kanon.CountFormulas(j.Dialect.Formulas, j.written(), formulas)
	}
	if outsiders != nil {
		r.Excluded = outsiders.Excluded()
	}
	for a, n := range missing {
		if n > 0 {
			r.LooksMissing = append(r.LooksMissing, kanon.LooksMissing{Column: quasi[a].Field.Name, Groups: int(n)})
		}
	}
	for _, f := range j.schema.Fields {
		if j.Options.Unit == "" && f.Role == table.Identifier {
			r.Uncounted = append(r.Uncounted, f.Name)
		}
	}
	shows, err := c.p.shows(j, make([]table.StoredColumn, len(quasi)))
	if err != nil {
		return nil, err
	}
	rounded := make([]kanon.Rounded, len(quasi))
	for a := range quasi {
		rounded[a] = kanon.Rounded{Places: quasi[a].Places, Grid: shows.Grid(a)}
	}
	r.Columns, r.FreeText = slices.Clone(j.Fates), j.FreeText
	j.run.Transformed(r.Columns, j.schema, rounded, r.Groups)
	if len(j.kept()) == 0 {
		r.Unique = &gate.Unique{}
	}
	r.Guarantee = j.run.States(m.Release.Quasi, nil)
	return r, nil
}

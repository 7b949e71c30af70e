package shard

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/gate"
	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/kanon/refine"
	"github.com/noren-privacy/noren/kanon/space"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/parts"
	"github.com/noren-privacy/noren/table/pseudonym"
	"github.com/noren-privacy/noren/table/xlsx"
)

// Protocol is the version of the stages: processes of another do not work together.
const Protocol = 1

// DefaultBucketRows is the number of records of a bucket where none is stated.
const DefaultBucketRows = 500_000

// Job is a release in shards, as all of its processes know it. It holds the keys of the
// release and must be read by its owner alone.
type Job struct {
	Protocol int `json:"protocol"`
	// Build is the build of the program: all processes have the same.
	Build string `json:"build"`
	// Version is the version of the program, as the manifest states it.
	Version string `json:"version"`
	// Input and Output are the table and the folder as named in the request.
	Input  string `json:"input"`
	Output string `json:"output"`
	// Shards are the files of the table, in the order of its records.
	Shards []Shard `json:"shards"`
	// Form says how the files are read, and Missing which texts stand for no value.
	Form    Form     `json:"form"`
	Missing []string `json:"missing"`
	// Fields are those of the files as they are written, in order.
	Fields  []Field     `json:"fields"`
	Options Options     `json:"options"`
	Fates   []gate.Fate `json:"fates"`
	// FreeText names the kept columns that are free text in the first file.
	FreeText []string `json:"free_text,omitempty"`
	// Folder is where the release is written, to files named Before, a number and After.
	Folder string `json:"folder"`
	Before string `json:"before"`
	After  string `json:"after"`
	// Force replaces an earlier release.
	Force   bool          `json:"force,omitempty"`
	Dialect csvio.Dialect `json:"dialect"`
	// BucketRows is about how many records a file of the release has.
	BucketRows int64 `json:"bucket_rows"`
	// Key is the key of this job, drawn for it: the digests of persons follow from it.
	Key []byte `json:"key"`
	// Certificate is the file of the certificate, Notes the public facts that it states.
	Certificate string   `json:"certificate,omitempty"`
	Notes       []string `json:"notes,omitempty"`

	id     [idBytes]byte
	schema *table.Schema // with plain numbers
	run    kanon.Options
	sum    [sha256.Size]byte // of all parameters that the release depends on
}

// Shard is a file of the table, as it was when the job began.
type Shard struct {
	Path string `json:"path"`
	Size int64  `json:"size"`
	// Modified is the time of its last change, in nanoseconds.
	Modified int64 `json:"modified"`
}

// Form is how the files of a table are read.
type Form struct {
	Delimiter rune           `json:"delimiter,omitempty"`
	Encoding  csvio.Encoding `json:"encoding,omitempty"`
	Header    csvio.Header   `json:"header,omitempty"`
	Sheet     string         `json:"sheet,omitempty"`
	HeaderRow int            `json:"header_row,omitempty"`
	Hidden    xlsx.Policy    `json:"hidden,omitempty"`
	Totals    xlsx.Policy    `json:"totals,omitempty"`
}

// Field is a [table.Field].
type Field struct {
	Name      string     `json:"name"`
	Role      table.Role `json:"role"`
	Type      table.Type `json:"type"`
	Levels    []string   `json:"levels,omitempty"`
	Layout    string     `json:"layout,omitempty"`
	Number    string     `json:"number,omitempty"`
	Round     *int       `json:"round,omitempty"`
	Hierarchy *Hierarchy `json:"hierarchy,omitempty"`
}

// Hierarchy holds the rows of a hierarchy, each from a leaf to the root.
type Hierarchy struct {
	Name string     `json:"name"`
	Rows [][]string `json:"rows"`
}

// Options are those of [kanon.Options] that a release in shards has.
type Options struct {
	K          int     `json:"k"`
	Unit       string  `json:"unit,omitempty"`
	Method     string  `json:"method"`
	Gamma      float64 `json:"gamma,omitempty"`
	M          int     `json:"m,omitempty"`
	Coarse     int     `json:"coarse,omitempty"`
	Refine     string  `json:"refine"`
	Scale      string  `json:"scale"`
	Publish    string  `json:"publish"`
	Ranges     string  `json:"ranges"`
	SecretSeed []byte  `json:"secret_seed,omitempty"`
	Seed       *uint64 `json:"seed,omitempty"`
	Block      int     `json:"block,omitempty"`
}

// OptionsOf are the options that shards have. Others are refused, as is what works on
// all records at once: see [kanon.Options.InBlocks].
func OptionsOf(o *kanon.Options) (Options, error) {
	if err := o.InBlocks(); err != nil {
		return Options{}, err
	}
	return Options{
		K: o.K, Unit: o.Unit, Method: o.Partition.Method.String(), Gamma: o.Partition.Gamma, M: o.Partition.M, Coarse: o.Partition.Coarse,
		Refine: o.Refine.String(), Scale: o.Scale.String(), Publish: o.Publish.String(), Ranges: o.Ranges.String(),
		SecretSeed: o.SecretSeed, Seed: o.Seed, Block: o.Block,
	}, nil
}

// of is the inverse of [OptionsOf].
func (o *Options) of() (out kanon.Options, err error) {
	out = kanon.Options{K: o.K, Unit: o.Unit, SecretSeed: o.SecretSeed, Seed: o.Seed, Block: o.Block}
	out.Partition.Gamma, out.Partition.M, out.Partition.Coarse = o.Gamma, o.M, o.Coarse
	for _, parse := range []func() error{
		func() (err error) { out.Partition.Method, err = partition.ParseMethod(o.Method); return err },
		func() (err error) { out.Refine, err = refine.ParseEffort(o.Refine); return err },
		func() (err error) { out.Scale, err = space.ParseScaling(o.Scale); return err },
		func() (err error) { out.Publish, err = publish.ParseMode(o.Publish); return err },
		func() (err error) { out.Ranges, err = publish.ParseRanges(o.Ranges); return err },
	} {
		if err := parse(); err != nil {
			return out, err
		}
	}
	return out, out.InBlocks()
}

// FieldsOf are fields as a job holds them.
func FieldsOf(fields []table.Field) []Field {
	out := make([]Field, len(fields))
	for i, f := range fields {
		out[i] = Field{
			Name: f.Name, Role: f.Role, Type: f.Type, Levels: f.Levels, Layout: string(f.Layout), Number: string(f.Number),
			Round: f.Round,
		}
		if h := f.Hierarchy; h != nil {
			rows := make([][]string, h.Leaves())
			for leaf := range rows {
				for level := range h.Levels() {
					rows[leaf] = append(rows[leaf], h.NameAt(level, h.Ancestor(uint32(leaf), level)))
				}
			}
			out[i].Hierarchy = &Hierarchy{Name: h.Name(), Rows: rows}
		}
	}
	return out
}

// fields is the inverse of [FieldsOf].
func (j *Job) fields() ([]table.Field, error) {
	out := make([]table.Field, len(j.Fields))
	for i, f := range j.Fields {
		out[i] = table.Field{
			Name: f.Name, Role: f.Role, Type: f.Type, Levels: f.Levels, Layout: table.Layout(f.Layout),
			Number: table.NumberFormat(f.Number), Round: f.Round,
		}
		if f.Hierarchy == nil {
			continue
		}
		h, err := table.NewHierarchy(f.Hierarchy.Name, f.Hierarchy.Rows, nil)
		if err != nil {
			return nil, err
		}
		out[i].Hierarchy = h
	}
	return out, nil
}

// Encode is the job as its processes read it.
func (j *Job) Encode() ([]byte, error) { return json.Marshal(j) }

// DecodeJob reads a job, and refuses one of another build of the program.
func DecodeJob(text []byte, build string) (*Job, error) {
	if err := meter.Document(text, noren.Phrase("a job")); err != nil {
		return nil, err
	}
	var probe struct {
		Protocol int    `json:"protocol"`
		Build    string `json:"build"`
	}
	if err := json.Unmarshal(text, &probe); err != nil {
		return nil, malformed("a job")
	}
	if probe.Protocol != Protocol || probe.Build != build {
		return nil, otherBuild(probe.Build, probe.Protocol, build)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	j := &Job{}
	if err := d.Decode(j); err != nil {
		return nil, malformed("a job")
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, malformed("a job")
	}
	sum := sha256.Sum256(text)
	copy(j.id[:], sum[:])
	return j, j.settle()
}

// otherBuild is the error about a job that another build of the program began.
func otherBuild(began string, protocol int, build string) error {
	return &noren.Error{
		Kind: noren.Usage, Code: "worker-version", What: "expected a worker of the build that began the job (%s, protocol %d), got %s, " +
			"protocol %d", Args: []any{began, protocol, build, Protocol},
		Hint: "give every process of the job the same program",
	}
}

// settle checks a job and fills in what follows from it.
func (j *Job) settle() error {
	switch {
	case len(j.Shards) == 0, len(j.Fates) != len(j.Fields), len(j.Key) != len(pseudonym.Key{}), j.BucketRows < 1, j.Options.K < 1,
		j.Folder == "":
		return malformed("a job")
	}
	fields, err := j.fields()
	if err != nil {
		return err
	}
	plain := append([]table.Field{}, fields...)
	for i := range plain {
		plain[i].Number = ""
	}
	j.schema = &table.Schema{Fields: plain}
	if len(j.quasi()) == 0 || j.Options.Unit != "" && j.unit() < 0 {
		return malformed("a job")
	}
	if j.run, err = j.Options.of(); err != nil {
		return err
	}
	j.sum, err = j.run.RequestSum(j, unordered)
	return err
}

// Faults reports the faults of a job whose table has these columns, as
// [kanon.Job.Validate] does.
func (j *Job) Faults(src table.Source, o *kanon.Options) error {
	fields, err := j.fields()
	if err != nil {
		return err
	}
	k := kanon.Job{Source: src, Schema: table.Schema{Fields: fields}, Output: kanon.Output{Path: j.Folder}, Options: *o}
	return k.Validate()
}

// where is the table of the job, for a text.
func (j *Job) where() noren.Place { return noren.Place{noren.File(j.Input)} }

// quasi are the positions of the quasi-identifiers in the files.
func (j *Job) quasi() []int { return j.schema.WithRole(table.Quasi) }

// unit is the position of the unit in the files, -1 for none.
func (j *Job) unit() int {
	if j.Options.Unit == "" {
		return -1
	}
	return j.schema.Index(j.Options.Unit)
}

// kept are the positions of the columns that are kept as they are.
func (j *Job) kept() []int {
	var kept []int
	for i := range j.schema.Fields {
		if r := j.schema.Fields[i].Role; r == table.Other || r == table.Sensitive {
			kept = append(kept, i)
		}
	}
	return kept
}

// written are the columns of the release, by name alone.
func (j *Job) written() []table.StoredColumn {
	var columns []table.StoredColumn
	for i := range j.schema.Fields {
		if f := &j.schema.Fields[i]; !f.Role.Dropped() {
			columns = append(columns, table.StoredColumn{Name: f.Name})
		}
	}
	return columns
}

func (j *Job) key() pseudonym.Key { return pseudonym.Key(j.Key) }

// StampOf describes a file as it is now.
func StampOf(path string) (Shard, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Shard{}, &noren.Error{Kind: noren.BadData, Where: noren.File(path), What: "cannot be read", Err: atomicfile.Reason(err)}
	}
	return Shard{Path: path, Size: info.Size(), Modified: info.ModTime().UnixNano()}, nil
}

// unchanged is an error of kind BadData where a file is not what it was when the job
// began.
func (s Shard) unchanged() error {
	now, err := StampOf(s.Path)
	if err != nil {
		return err
	}
	if now != s {
		return changed(noren.File(s.Path))
	}
	return nil
}

func changed(where any) error {
	return &noren.Error{
		Kind: noren.BadData, Code: "input-changed", Where: where, What: "the file has changed since the job began",
		Hint: "start again when no program writes to it",
	}
}

// columns opens the first file for its columns, as a release stores them.
func (j *Job) columns(ctx context.Context) ([]table.StoredColumn, error) {
	if err := j.Shards[0].unchanged(); err != nil {
		return nil, err
	}
	src, err := j.openFile(ctx, j.Shards[0].Path)
	if err != nil {
		return nil, err
	}
	columns := append([]table.StoredColumn{}, src.Columns()...)
	if err := src.Close(); err != nil {
		return nil, err
	}
	return columns, j.fits(j.Shards[0].Path, columns)
}

// fits demands the columns of the job.
func (j *Job) fits(path string, columns []table.StoredColumn) error {
	if len(columns) != len(j.Fields) {
		return changed(noren.File(path))
	}
	for i := range columns {
		if columns[i].Name != j.Fields[i].Name {
			return changed(noren.File(path))
		}
	}
	return nil
}

func (j *Job) openFile(ctx context.Context, path string) (file.Source, error) {
	f := j.Form
	return file.Open(ctx, path, file.Options{
		Delimiter: f.Delimiter, Encoding: f.Encoding, Header: f.Header, Sheet: f.Sheet,
		HeaderRow: f.HeaderRow, Hidden: f.Hidden, Totals: f.Totals,
	})
}

// open opens a file of the table; its columns are those of the first. The second result
// tells which columns are nullable in it.
func (j *Job) open(ctx context.Context, n int) (file.Source, error) {
	first, err := j.columns(ctx)
	if err != nil {
		return nil, err
	}
	shard := j.Shards[n]
	if err := shard.unchanged(); err != nil {
		return nil, err
	}
	src, err := j.openFile(ctx, shard.Path)
	if err != nil {
		return nil, err
	}
	err = parts.Agree(j.Shards[0].Path, first, shard.Path, src.Columns())
	if err == nil {
		var fields []table.Field
		if fields, err = j.fields(); err == nil {
			var plain file.Source
			if plain, _, err = file.WithNumbers(src, fields); err == nil {
				return plain, nil
			}
		}
	}
	_ = src.Close()
	return nil, err
}

// shard is an error of kind Usage unless the job has a file of that number.
func (j *Job) hasShard(n int) error {
	if n < 0 || n >= len(j.Shards) {
		return noren.Usagef("shard", "expected a number from 0 to %d, got %d", len(j.Shards)-1, n)
	}
	return nil
}

// fileName is the name of the file of a bucket in the release.
func (j *Job) fileName(bucket int) string {
	return fmt.Sprintf("%s%05d%s", j.Before, bucket+1, j.After)
}

// TempPrefix begins the names of files that are not part of a release yet.
const TempPrefix = "_tmp-"

// tempName is the name of the file of a bucket while it is made.
func (j *Job) tempName(bucket int, attempt string) string {
	return fmt.Sprintf("%s%05d-%s%s", TempPrefix, bucket+1, attempt, j.After)
}

// ours reports whether a name could be that of a file of an earlier release.
func (j *Job) ours(name string) bool {
	rest, ok := strings.CutPrefix(name, j.Before)
	if !ok {
		return false
	}
	rest, ok = strings.CutSuffix(rest, j.After)
	return ok && rest != "" && strings.Trim(rest, "0123456789") == ""
}

// path is that of a file in the folder of the release.
func (j *Job) path(name string) string { return filepath.Join(j.Folder, name) }

// SetPattern sets where the release is written: a folder and a name with one star.
func (j *Job) SetPattern(pattern string) error {
	folder, err := filepath.Abs(filepath.Dir(pattern))
	if err != nil {
		return &noren.Error{What: "the working folder cannot be found", Err: err}
	}
	before, after, ok := strings.Cut(filepath.Base(pattern), "*")
	switch {
	case !ok || strings.ContainsAny(after, "*") || strings.ContainsAny(folder, "*?["):
		return noren.Usagef(noren.File(pattern), "expected a folder and a name with one star, as in out/part-*.csv")
	case before != "" && (before[0] == '.' || before[0] == '_'):
		return noren.Usagef(noren.File(pattern), "a name that begins with a dot or an underscore would not be read as a table")
	case before == "" && after == "":
		return noren.Usagef(noren.File(pattern), "expected a folder and a name with one star, as in out/part-*.csv")
	}
	for range 40 { // a link is followed, so that the folder itself is renamed
		to, err := os.Readlink(folder)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(folder), to)
		}
		folder = filepath.Clean(to)
	}
	j.Folder, j.Before, j.After = folder, before, after
	return nil
}

package shards

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/query"
)

// partFormat begins a part; its last character is the version.
const partFormat = "NQP1"

// read is what a part counted of a file.
type read struct {
	total uint64 // records of the file, in all parts
	rows  uint64 // in this one
	print []byte
}

// part are the sums of a bucket or of a file, and what was read for them.
type part struct {
	of   map[uint32]*read
	sums *query.Partial
}

// take counts rows records of a file.
func (p *part) take(shard uint32, total uint64, print []byte, rows uint64) error {
	have := p.of[shard]
	if have == nil {
		p.of[shard] = &read{total, rows, bytes.Clone(print)}
		return nil
	}
	if have.total != total || !bytes.Equal(have.print, print) {
		return errChanged()
	}
	have.rows += rows
	return nil
}

func errChanged() error {
	return &noren.Error{Kind: noren.BadData, Where: "file", What: "was changed while the job ran"}
}

// append appends the binary form: the format, the number of files, and of each its number,
// records in all, records here and print; then the sums.
func (p *part) append(dst []byte) []byte {
	dst = append(dst, partFormat...)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(p.of)))
	shards := make([]uint32, 0, len(p.of))
	for shard := range p.of {
		shards = append(shards, shard)
	}
	slices.Sort(shards)
	for _, shard := range shards {
		r := p.of[shard]
		dst = binary.LittleEndian.AppendUint32(dst, shard)
		dst = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(dst, r.total), r.rows)
		dst = append(dst, r.print...)
	}
	return p.sums.AppendBinary(dst)
}

func badPart(what noren.Format, args ...any) error {
	return &noren.Error{Kind: noren.BadData, Where: "part", What: what, Args: args}
}

// decodePart reads a part of this plan.
func (p *Plan) decodePart(text []byte) (*part, error) {
	head := len(partFormat) + 4
	if len(text) < head || string(text[:len(partFormat)]) != partFormat {
		return nil, badPart("expected a part in the binary form %s", partFormat)
	}
	n := int64(binary.LittleEndian.Uint32(text[head-4:]))
	size := 20 + printSize*len(p.names)
	text = text[head:]
	if n > int64(len(p.Files)) || int64(len(text)) < n*int64(size) {
		return nil, badPart("it is cut off")
	}
	out := &part{of: map[uint32]*read{}}
	last := int64(-1)
	for range n {
		shard := binary.LittleEndian.Uint32(text)
		r := &read{binary.LittleEndian.Uint64(text[4:]), binary.LittleEndian.Uint64(text[12:]), text[20:size]}
		if int64(shard) <= last || int64(shard) >= int64(len(p.Files)) || r.rows > r.total || r.total > 1<<40 {
			return nil, badPart("it names files out of order, or more records than a file has")
		}
		last = int64(shard)
		out.of[shard], text = r, text[size:]
	}
	var err error
	out.sums, err = p.query.DecodePartial(text)
	return out, err
}

// Total are the sums of all parts, and the column prints of every file. Both are private.
type Total struct {
	Sums   *query.Partial
	Prints []map[string]string
}

// Merge adds up the parts of a job, in any order. It makes sure that every file was read,
// the same in all parts, and that each of its records is in one part. Errors are of kind
// BadData.
func (p *Plan) Merge(parts [][]byte) (*Total, error) {
	all := &part{of: map[uint32]*read{}}
	out := &Total{}
	var err error
	if out.Sums, err = p.query.NoRecords(); err != nil {
		return nil, err
	}
	for _, text := range parts {
		one, err := p.decodePart(text)
		if err != nil {
			return nil, err
		}
		for shard, r := range one.of {
			if err := all.take(shard, r.total, r.print, r.rows); err != nil {
				return nil, err
			}
		}
		if err := out.Sums.Add(one.sums); err != nil {
			return nil, err
		}
	}
	var records uint64
	for shard := range p.Files {
		r := all.of[uint32(shard)]
		if r == nil {
			return nil, badPart("a file is in no part")
		}
		if r.rows != r.total {
			return nil, badPart("records of a file are in no part, or in two")
		}
		records += r.rows
		out.Prints = append(out.Prints, unpackPrints(p.names, r.print))
	}
	if uint64(out.Sums.Records()) != records {
		return nil, badPart("the sums are of another number of records")
	}
	return out, nil
}

// Collect runs all steps of a job in this process, a bucket at a time, and returns the
// parts. The blocks of all files are held in memory.
func (p *Plan) Collect(ctx context.Context) (parts [][]byte, err error) {
	blocks := make([][][]byte, p.Buckets)
	for shard := range p.Files {
		if !p.Shuffled() {
			one, err := p.SumFile(ctx, shard)
			if err != nil {
				return nil, err
			}
			parts = append(parts, one)
			continue
		}
		if err := p.Route(ctx, shard, func(b []byte) error {
			to := binary.LittleEndian.Uint32(b)
			blocks[to] = append(blocks[to], b)
			return nil
		}); err != nil {
			return nil, err
		}
	}
	for bucket, of := range blocks {
		one, err := p.Sum(ctx, bucket, func() ([]byte, error) {
			if len(of) == 0 {
				return nil, io.EOF
			}
			b := of[0]
			of = of[1:]
			return b, nil
		})
		if err != nil {
			return nil, err
		}
		parts = append(parts, one)
		blocks[bucket] = nil
	}
	return parts, nil
}

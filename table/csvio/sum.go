package csvio

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"sync"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/table"
)

var _ table.Summed = (*Source)(nil)

// sums is the SHA-256 of a file's bytes, once a reading has kept it.
type sums struct {
	sync.Mutex
	wanted, have bool
	of           [table.SumSize]byte
}

// begin is what a reading that begins hashes its bytes with, nil where none is wanted.
func (s *sums) begin() hash.Hash {
	s.Lock()
	defer s.Unlock()
	if !s.wanted || s.have {
		return nil
	}
	return sha256.New()
}

func (s *sums) keep(sum []byte) {
	s.Lock()
	defer s.Unlock()
	s.have = true
	copy(s.of[:], sum)
}

// KeepSum implements [table.Summed].
func (src *Source) KeepSum() {
	src.sums.Lock()
	defer src.sums.Unlock()
	src.sums.wanted = true
}

// ended checks the file when a reading has come to its end, and keeps the sum where it is
// wanted.
func (src *Source) ended(in *input) error {
	if err := src.unchanged(); err != nil || in.file.sum == nil {
		return err
	}
	// What lies behind the end of packed data was not read.
	if _, err := io.Copy(io.Discard, in.file); err != nil {
		return in.failure(err, 0, 0)
	}
	src.sums.keep(in.file.sum.Sum(nil))
	in.file.sum = nil
	return nil
}

// Sum implements [table.Summed]: of the bytes of the file, and of how they are read as
// records.
func (src *Source) Sum(ctx context.Context) (sum [table.SumSize]byte, err error) {
	src.sums.Lock()
	have, of := src.sums.have, src.sums.of
	src.sums.Unlock()
	if !have {
		if of, err = table.SumBytes(ctx, src.file, src.size); err == nil {
			err = src.unchanged()
		} else if ctx.Err() == nil {
			err = &noren.Error{Where: noren.File(src.name), What: "cannot be read", Err: atomicfile.Reason(err)}
		}
		if err != nil {
			return sum, err
		}
		src.sums.keep(of[:])
	}
	d := src.dialect
	return table.SumFile(fmt.Sprintf("text delimiter %d encoding %d cr %t nameless %t above %d", d.Delimiter, d.Encoding, d.CR, src.nameless,
		src.skip), of), nil
}

package uploads

import (
	"crypto/sha256"
	"encoding/base64"
	"io"
	"path/filepath"
	"strconv"
	"strings"
)

// Part is a part of a file: bytes First to Last of a file of Size bytes.
type Part struct {
	First, Last, Size int64
	Digest            [sha256.Size]byte
}

// ParsePart reads the headers of a part: Content-Range as in "bytes 0-99/1000", and
// Content-Digest or Repr-Digest as in "sha-256=:BASE64:".
func ParsePart(contentRange, digest string) (Part, error) {
	var p Part
	rest, ok := strings.CutPrefix(contentRange, "bytes ")
	span, size, ok2 := strings.Cut(rest, "/")
	first, last, ok3 := strings.Cut(span, "-")
	if !ok || !ok2 || !ok3 {
		return p, ErrRange
	}
	for _, number := range []struct {
		text string
		into *int64
	}{{first, &p.First}, {last, &p.Last}, {size, &p.Size}} {
		if number.text == "" || len(number.text) > 18 || strings.Trim(number.text, "0123456789") != "" {
			return p, ErrRange
		}
		*number.into, _ = strconv.ParseInt(number.text, 10, 64) // 18 digits fit
	}
	if p.First > p.Last || p.Last >= p.Size {
		return p, ErrRange
	}
	for _, field := range strings.Split(digest, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(field), "=")
		if !ok || name != "sha-256" {
			continue
		}
		if len(value) < 2 || value[0] != ':' || value[len(value)-1] != ':' {
			return p, ErrNoDigest
		}
		sum, err := base64.StdEncoding.Strict().DecodeString(value[1 : len(value)-1])
		if err != nil || len(sum) != sha256.Size {
			return p, ErrNoDigest
		}
		copy(p.Digest[:], sum)
		return p, nil
	}
	return p, ErrNoDigest
}

// bufferBytes is the memory that writing a part takes.
const bufferBytes = 256 << 10

// Write writes a part that begins where the upload ends and returns the upload as it is
// then. After an error the upload is as it was before. The part is read from body, which
// must not hold more.
func (s *Store) Write(by, id string, p Part, body io.Reader) (*Upload, error) {
	if _, err := s.Get(by, id); err != nil {
		return nil, err
	}
	if !s.lock(id) {
		return nil, ErrBusy
	}
	defer s.unlock(id)
	u, err := s.Get(by, id)
	switch {
	case err != nil:
		return nil, err
	case p.Size != u.Size:
		return u, ErrRange
	case p.First != u.Offset:
		return u, ErrOffset
	}
	written, err := s.config.Space(p.Last - p.First + 1)
	if err != nil {
		return u, err
	}
	defer written()
	f, err := s.config.open(filepath.Join(s.path(id), dataFile))
	if err != nil {
		return u, reason(err)
	}
	if err := receive(f, p, body); err != nil {
		// What was written does not count: Offset is as before. Should the file stay
		// longer, the next part is written over it.
		_ = f.Truncate(p.First)
		_ = f.Close()
		return u, err
	}
	if err := f.Close(); err != nil {
		return u, reason(err)
	}
	after := *u
	after.Offset, after.Expires = p.Last+1, s.expiry()
	if err := writeMeta(s.path(id), &after); err != nil {
		return u, err
	}
	return &after, nil
}

// receive copies a part to its place in the file.
func receive(f file, p Part, body io.Reader) error {
	h := sha256.New()
	buffer := make([]byte, bufferBytes)
	at, left := p.First, p.Last-p.First+1
	for left > 0 {
		n, err := io.ReadFull(body, buffer[:min(left, bufferBytes)])
		if n > 0 {
			h.Write(buffer[:n])
			if _, err := f.WriteAt(buffer[:n], at); err != nil {
				return reason(err)
			}
			at, left = at+int64(n), left-int64(n)
		}
		if err != nil {
			return ErrCut
		}
	}
	if n, _ := io.ReadFull(body, buffer[:1]); n > 0 {
		return ErrRange
	}
	if [sha256.Size]byte(h.Sum(nil)) != p.Digest {
		return ErrDigest
	}
	if err := f.Sync(); err != nil {
		return reason(err)
	}
	return nil
}

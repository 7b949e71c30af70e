package parquetio

import (
	"os"

	"github.com/noren-privacy/noren/table"
)

// Open is [OpenFile] for the file at path.
func Open(path string, opts Options) (*Source, error) {
	if opts.Name == "" {
		opts.Name = path
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return OpenFile(f, opts)
}

// ownFile is a sink that closes its file.
type ownFile struct {
	*Sink
	f *os.File
}

func (s *ownFile) Close() error {
	err := s.Sink.Close()
	_ = s.f.Close()
	return err
}

func (s *ownFile) Abort() {
	s.Sink.Abort()
	_ = s.f.Close()
	_ = os.Remove(s.f.Name())
}

// Create is [NewSink] for a new file at path.
func Create(path string, columns []table.StoredColumn) (*ownFile, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	s, err := NewSink(f, path, columns)
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return &ownFile{s, f}, nil
}

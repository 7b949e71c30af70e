package server

import (
	"bytes"
	"context"
	"crypto/sha256"

	"github.com/noren-privacy/noren/internal/server/tables"
	"github.com/noren-privacy/noren/internal/server/uploads"
)

// AddTable adds a table from data in memory, as a principal would by an upload, and returns
// its id. The table is read by a job. It serves a demonstration.
func (s *Server) AddTable(ctx context.Context, by, name string, data []byte) (string, error) {
	u, err := s.uploads.Create(by, name, int64(len(data)))
	if err != nil {
		return "", uploadProblem(err)
	}
	n := int64(len(data))
	if _, err := s.uploads.Write(by, u.ID, uploads.Part{Last: n - 1, Size: n, Digest: sha256.Sum256(data)},
		bytes.NewReader(data)); err != nil {
		return "", uploadProblem(err)
	}
	t, _, err := s.tables.Add(ctx, tables.Adding{Source: tables.Source{Kind: tables.FromUpload, Upload: u.ID}, By: by})
	if err != nil {
		return "", jobProblem(err)
	}
	return t.ID, nil
}

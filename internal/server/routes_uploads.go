package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/internal/server/store"
	"github.com/noren-privacy/noren/internal/server/uploads"
)

// mostPart is the size of the largest part of an upload.
const mostPart = 4 * uploads.PartBytes

type uploadBody struct {
	ID        string    `json:"id" doc:"up_ and 16 characters."`
	Name      string    `json:"name" doc:"The name of the file."`
	Size      int64     `json:"size" doc:"The size of the file, in bytes."`
	Offset    int64     `json:"offset" doc:"How many bytes have arrived."`
	PartBytes int64     `json:"part_bytes" doc:"The size that parts should have; at most four times as much."`
	Expires   time.Time `json:"expires" doc:"When the upload is deleted unless it is used."`
}

func shownUpload(u *uploads.Upload) *uploadBody {
	return &uploadBody{u.ID, u.Name, u.Size, u.Offset, u.PartBytes, u.Expires}
}

type uploadInput struct {
	Body struct {
		Name string `json:"name" minLength:"1" maxLength:"255" doc:"The name of the file, without folders."`
		Size int64  `json:"size" minimum:"1" doc:"The size of the file, in bytes."`
	}
}

type uploadOutput struct {
	Offset string `header:"Upload-Offset"`
	Body   *uploadBody
}

// uploadProblem is the problem of a request about an upload.
func uploadProblem(err error) error {
	switch {
	case errors.Is(err, uploads.ErrUnknown):
		return problem.NotFound()
	case errors.Is(err, uploads.ErrTooLarge):
		return problem.New("too-large", "The file is larger than the limit of uploads.")
	case errors.Is(err, uploads.ErrName), errors.Is(err, uploads.ErrSize):
		return problem.New("invalid", "expected the name of a file, without folders, and a size of at least 1 byte")
	case errors.Is(err, uploads.ErrRange):
		return problem.New("invalid", "expected Content-Range: bytes FIRST-LAST/SIZE, of the bytes that the body holds")
	case errors.Is(err, uploads.ErrNoDigest):
		return problem.New("invalid", "expected Content-Digest: sha-256=:BASE64: of the part")
	case errors.Is(err, uploads.ErrDigest):
		return problem.New("invalid", "The part differs from its SHA-256.").Hinted("send the part again")
	case errors.Is(err, uploads.ErrCut):
		return problem.New("invalid", "The part ended early.").Hinted("send the part again")
	case errors.Is(err, uploads.ErrOffset):
		return problem.New("range", "The part does not begin where the upload ends.").
			Hinted("ask for the upload: Upload-Offset says where it goes on")
	case errors.Is(err, uploads.ErrBusy):
		p := problem.New("conflict", "Another request writes to the upload.")
		p.RetryAfter = 1
		return p
	case errors.Is(err, uploads.ErrMany):
		return problem.New("too-many", "You have too many uploads at once.").Hinted("list your uploads and delete one, or wait until one expires")
	case errors.Is(err, uploads.ErrDiskFull):
		return problem.New("unavailable", "The disk is full.").Hinted("free space on the server")
	}
	return err
}

// registerUploads adds uploads in parts.
func (s *Server) registerUploads(api huma.API, mux *http.ServeMux) {
	begin := op("POST", "/uploads", "Begin an upload")
	begin.DefaultStatus = http.StatusCreated
	register(s, api, begin, access{roles: stewards, changes: true, action: "upload.begin"}, s.beginUpload)
	register(s, api, op("GET", "/uploads", "The uploads of the principal itself, those that expire first before others"),
		access{roles: stewards}, s.listUploads)
	register(s, api, op("GET", "/uploads/{id}", "An upload, with the place where it goes on"), access{roles: stewards, object: "id"},
		s.getUpload)
	register(s, api, op("DELETE", "/uploads/{id}", "Delete an upload"), access{roles: stewards, object: "id", action: "upload.delete"},
		s.deleteUpload)
	part := op("PUT", "/uploads/{id}", "Send the next part of an upload")
	part.Parameters = []*huma.Param{
		pathParameter("id", "The id of the upload."),
		{
			Name: "Content-Range", In: "header", Required: true,
			Description: "bytes FIRST-LAST/SIZE: the place of the part, which begins where the upload ends.", Schema: &huma.Schema{
				Type: huma.TypeString,
			},
		},
		{
			Name: "Content-Digest", In: "header", Description: "sha-256=:BASE64: of the part. Repr-Digest is read where it is missing.",
			Schema: &huma.Schema{Type: huma.TypeString},
		},
	}
	part.RequestBody = &huma.RequestBody{
		Required: true,
		Content:  map[string]*huma.MediaType{"application/octet-stream": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}},
	}
	part.Responses = map[string]*huma.Response{"200": {
		Description: "The upload as it is then.",
		Content:     map[string]*huma.MediaType{"application/json": {Schema: huma.SchemaFromType(api.OpenAPI().Components.Schemas, uploadType)}},
	}}
	s.handle(api, mux, part, access{roles: stewards, object: "id", changes: true, media: "application/octet-stream", most: mostPart},
		s.putPart)
}

func (s *Server) beginUpload(ctx context.Context, c *call, in *uploadInput) (*uploadOutput, error) {
	if err := s.uploads.Expire(); err != nil {
		return nil, uploadProblem(err)
	}
	u, err := s.uploads.Create(c.actor.ID, in.Body.Name, in.Body.Size)
	if err != nil {
		return nil, uploadProblem(err)
	}
	c.note("upload", u.ID)
	// The audit log names it when it is gone.
	if err := s.store.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.Name(ctx, u.ID, u.Name) }); err != nil {
		_ = s.uploads.Remove(u.ID)
		return nil, err
	}
	return &uploadOutput{"0", shownUpload(u)}, nil
}

func (s *Server) listUploads(_ context.Context, c *call, _ *empty) (*output[page[uploadBody]], error) {
	own, err := s.uploads.List(c.actor.ID)
	if err != nil {
		return nil, uploadProblem(err)
	}
	items := make([]uploadBody, len(own))
	for i, u := range own {
		items[i] = *shownUpload(u)
	}
	return &output[page[uploadBody]]{page[uploadBody]{Items: items}}, nil
}

func (s *Server) getUpload(_ context.Context, c *call, in *idInput) (*uploadOutput, error) {
	u, err := s.uploads.Get(c.actor.ID, in.ID)
	if err != nil {
		return nil, uploadProblem(err)
	}
	return &uploadOutput{strconv.FormatInt(u.Offset, 10), shownUpload(u)}, nil
}

func (s *Server) deleteUpload(_ context.Context, c *call, in *idInput) (*empty, error) {
	return nil, uploadProblem(s.uploads.Delete(c.actor.ID, in.ID))
}

func (s *Server) putPart(w http.ResponseWriter, r *http.Request, c *call) error {
	digest := r.Header.Get("Content-Digest")
	if digest == "" {
		digest = r.Header.Get("Repr-Digest")
	}
	part, err := uploads.ParsePart(r.Header.Get("Content-Range"), digest)
	if err != nil {
		return uploadProblem(err)
	}
	if length := part.Last - part.First + 1; length > mostPart || r.ContentLength >= 0 && r.ContentLength != length {
		return uploadProblem(uploads.ErrRange)
	}
	u, err := s.uploads.Write(c.actor.ID, c.id, part, r.Body)
	if u != nil {
		w.Header().Set("Upload-Offset", strconv.FormatInt(u.Offset, 10))
	}
	if err != nil {
		return uploadProblem(err)
	}
	return writeJSON(w, http.StatusOK, shownUpload(u))
}

// writeJSON sends a body of a plain route. It fails only before anything was sent.
func writeJSON(w http.ResponseWriter, status int, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // the client has gone if this fails
	return nil
}

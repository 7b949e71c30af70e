package server

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/server/tables"
)

type sourcesBody struct {
	Upload    uploadLimits `json:"upload" doc:"Files that are uploaded."`
	Roots     []named      `json:"roots" nullable:"false" doc:"The granted folders."`
	Databases []named      `json:"databases" nullable:"false" doc:"The configured databases."`
}

type uploadLimits struct {
	Limit int64    `json:"limit" doc:"The size of the largest file, in bytes."`
	Forms []string `json:"forms" nullable:"false" doc:"The endings of files that can be read."`
}

type named struct {
	Name string `json:"name" doc:"The name."`
}

type rootInput struct {
	Name string `path:"name" maxLength:"100" doc:"The name of the granted folder."`
	Path string `query:"path" maxLength:"1000" doc:"A folder within it, with slashes; the granted folder itself where left out."`
}

type rootBody struct {
	Path    string         `json:"path" doc:"The folder."`
	Entries []tables.Entry `json:"entries" nullable:"false" doc:"Its folders and the files that can be read."`
}

type nameInput struct {
	Name string `path:"name" maxLength:"100" doc:"The name of the database."`
}

type databaseBody struct {
	Tables []api.DatabaseTable `json:"tables" nullable:"false" doc:"The tables and views that can be read."`
}

// registerSources adds what tables can be made of.
func (s *Server) registerSources(api huma.API, _ *http.ServeMux) {
	register(s, api, op("GET", "/sources", "What tables can be made of"), access{roles: stewards}, s.listSources)
	register(s, api, op("GET", "/sources/roots/{name}", "The files of a granted folder"), access{roles: stewards}, s.browseRoot)
	register(s, api, op("GET", "/sources/databases/{name}", "The tables of a configured database"), access{roles: stewards}, s.browseDatabase)
}

func (s *Server) listSources(context.Context, *call, *empty) (*output[sourcesBody], error) {
	list := func(names []string) []named {
		out := []named{}
		for _, n := range names {
			out = append(out, named{n})
		}
		return out
	}
	return &output[sourcesBody]{sourcesBody{
		uploadLimits{s.uploads.Limit(), tables.Forms()},
		list(s.tables.Roots()),
		list(s.tables.Databases()),
	}}, nil
}

func (s *Server) browseRoot(ctx context.Context, _ *call, in *rootInput) (*output[rootBody], error) {
	path, entries, err := s.tables.Browse(ctx, in.Name, in.Path)
	return &output[rootBody]{rootBody{path, entries}}, err
}

func (s *Server) browseDatabase(ctx context.Context, _ *call, in *nameInput) (*output[databaseBody], error) {
	found, err := s.tables.DatabaseTables(ctx, in.Name)
	return &output[databaseBody]{databaseBody{found}}, err
}

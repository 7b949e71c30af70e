package server

import (
	"context"
	"io"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/server/auth"
	"github.com/noren-privacy/noren/internal/server/jobs"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/internal/server/spoken"
	"github.com/noren-privacy/noren/internal/server/tables"
)

type tableOutput struct {
	ETag string `header:"ETag"`
	Body *tables.Table
}

func tableAnswer(t *tables.Table, err error) (*tableOutput, error) {
	if err != nil {
		return nil, jobProblem(err)
	}
	return &tableOutput{etag(t.Version), t}, nil
}

type addInput struct {
	Body struct {
		Name   string        `json:"name,omitempty" maxLength:"800" doc:"The name of the table; that of its source where left out."`
		Source tables.Source `json:"source" doc:"Where the table comes from."`
		Sheet  string        `json:"sheet,omitempty" maxLength:"200" doc:"The worksheet of a workbook, by its name or number from 1; the first that is not hidden where left out. The same as in form."`
		Form   *tables.Form  `json:"form,omitempty" doc:"What is known of the form of the file; what is left out is found."`
	}
}

type addedOutput struct {
	Location string `header:"Location"`
	ETag     string `header:"ETag"`
	Body     struct {
		Table *tables.Table `json:"table" doc:"The table."`
		Job   *jobs.Job     `json:"job" doc:"The job that reads it."`
	}
}

type Changing struct {
	ID      string `path:"id" maxLength:"64" doc:"The id of the object."`
	IfMatch string `header:"If-Match" maxLength:"64" doc:"The ETag of the object as it was read."`
}

type renameInput struct {
	Changing
	Body struct {
		Name string `json:"name" maxLength:"800" doc:"The name of the table."`
	}
}

type readInput struct {
	Changing
	Body tables.Form
}

type columnsInput struct {
	Changing
	Body tables.Stated
}

// registerTables adds tables, their columns and hierarchies.
func (s *Server) registerTables(a huma.API, mux *http.ServeMux) {
	register(s, a, op("GET", "/tables", "Tables, the newest first"), access{roles: auth.Roles(), object: anyObject}, s.listTables)
	add := op("POST", "/tables", "Add a table")
	add.DefaultStatus = http.StatusAccepted
	register(s, a, add, access{roles: stewards, changes: true, action: "table.add"}, s.addTable)
	register(s, a, op("GET", "/tables/{id}", "A table with its columns"), access{roles: auth.Roles(), object: "id"}, s.getTable)
	register(s, a, op("PATCH", "/tables/{id}", "Rename a table"), access{roles: stewards, object: "id", changes: true, action: "table.rename"},
		s.renameTable)
	register(s, a, op("DELETE", "/tables/{id}", "Delete a table; its releases stay"),
		access{roles: stewards, object: "id", changes: true, action: "table.delete"}, s.deleteTable)
	register(s, a, op("PUT", "/tables/{id}/columns", "State, and confirm, the columns of a table"),
		access{roles: stewards, object: "id", changes: true, action: "table.columns"}, s.stateColumns)
	again := op("POST", "/tables/{id}/read", "Read a table again by another form of its file; its columns are proposed again")
	again.DefaultStatus = http.StatusAccepted
	register(s, a, again, access{roles: stewards, object: "id", changes: true, action: "table.read"}, s.readTable)
	register(s, a, op("GET", "/tables/{id}/rows", "The first rows of a table"),
		access{roles: stewards, object: "id", changes: true, action: "table.rows"}, s.tableRows)
	s.registerHierarchies(a, mux)
}

// registerHierarchies adds the hierarchies of columns.
func (s *Server) registerHierarchies(a huma.API, mux *http.ServeMux) {
	const path = "/tables/{id}/hierarchies/{column}"
	parameters := []*huma.Param{pathParameter("id", "The id of the table."), pathParameter("column", "The name of the column.")}
	match := &huma.Param{
		Name: "If-Match", In: "header", Required: true, Description: "The ETag of the table as it was read.",
		Schema: &huma.Schema{Type: huma.TypeString},
	}
	csv := map[string]*huma.MediaType{"text/csv": {Schema: &huma.Schema{Type: huma.TypeString}}}
	shown := map[string]*huma.Response{"200": {
		Description: "The table.", Content: map[string]*huma.MediaType{
			"application/json": {Schema: huma.SchemaFromType(a.OpenAPI().Components.Schemas, tableType)},
		},
	}}
	get := op("GET", path, "The hierarchy of a column")
	get.Parameters, get.Responses = parameters, map[string]*huma.Response{
		"200": {Description: "One line a value: the value, its group, ..., the root.", Content: csv},
	}
	s.handle(a, mux, get, access{roles: stewards, object: "id", action: "hierarchy.read"},
		func(w http.ResponseWriter, r *http.Request, c *call) error {
			text, err := s.tables.Hierarchy(r.Context(), c.id, r.PathValue("column"))
			return s.csv(w, r, c, "hierarchy.read", text, err)
		})
	propose := op("POST", path+"/proposal", "Propose a hierarchy for the values of a column")
	propose.Parameters, propose.Responses = parameters, map[string]*huma.Response{"200": {Description: "A proposed hierarchy.", Content: csv}}
	s.handle(a, mux, propose, access{roles: stewards, object: "id", action: "hierarchy.propose"},
		func(w http.ResponseWriter, r *http.Request, c *call) error {
			text, err := s.tables.ProposeHierarchy(r.Context(), c.id, r.PathValue("column"))
			return s.csv(w, r, c, "hierarchy.propose", text, err)
		})
	put := op("PUT", path, "Store the hierarchy of a column")
	put.Parameters, put.Responses = append(parameters, match), shown
	put.RequestBody = &huma.RequestBody{Required: true, Content: csv}
	s.handle(a, mux, put, access{
		roles: stewards, object: "id", changes: true, action: "hierarchy.set", media: "text/csv",
		most: tables.MostHierarchy,
	}, func(w http.ResponseWriter, r *http.Request, c *call) error {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return err
		}
		t, err := s.tables.SetHierarchy(r.Context(), c.id, version(r.Header.Get("If-Match")), r.PathValue("column"), text)
		return s.tableJSON(w, r, t, err)
	})
	drop := op("DELETE", path, "Remove the hierarchy of a column")
	drop.Parameters, drop.Responses = append(parameters, match), shown
	s.handle(a, mux, drop, access{roles: stewards, object: "id", changes: true, action: "hierarchy.remove"},
		func(w http.ResponseWriter, r *http.Request, c *call) error {
			t, err := s.tables.DropHierarchy(r.Context(), c.id, version(r.Header.Get("If-Match")), r.PathValue("column"))
			return s.tableJSON(w, r, t, err)
		})
}

// csv sends a hierarchy once the audit log has it: it holds values of the table.
func (s *Server) csv(w http.ResponseWriter, r *http.Request, c *call, action string, text []byte, err error) error {
	if err != nil {
		return err
	}
	if err := s.record(r.Context(), c, &access{action: action}, nil); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="hierarchy.csv"`)
	_, _ = w.Write(text) // the client has gone if this fails
	return nil
}

// tableJSON sends a table from a plain route.
func (s *Server) tableJSON(w http.ResponseWriter, r *http.Request, t *tables.Table, err error) error {
	if err != nil {
		return err
	}
	w.Header().Set("ETag", etag(t.Version))
	l := languageOf(r.Context())
	setLanguage(w.Header(), l)
	return writeJSON(w, http.StatusOK, spoken.In(l, t))
}

// seen is a table as a principal may see it: stewards see all, others what is public once
// a steward has confirmed it.
func seen(c *call, t *tables.Table) *tables.Table {
	if c.actor.Has(t.ID, auth.Steward) {
		return t
	}
	out := &tables.Table{Line: public(&t.Line), ColumnsDetail: []tables.Column{}, Version: t.Version}
	if t.Confirmed == nil {
		return out
	}
	for i := range t.ColumnsDetail {
		c := &t.ColumnsDetail[i]
		out.ColumnsDetail = append(out.ColumnsDetail, tables.Column{
			Name: c.Name, Type: c.Type, Format: c.Format, Order: c.Order, Role: c.Role, Bounds: c.Bounds, Round: c.Round, Decided: c.Decided,
		})
	}
	return out
}

// public is a line of a list as those see it who are no stewards.
func public(l *tables.Line) tables.Line {
	out := tables.Line{
		ID: l.ID, Name: l.Name, Source: tables.Origin{Kind: l.Source.Kind}, State: l.State, Added: l.Added,
		LastRelease: l.LastRelease, Health: l.Health,
	}
	if l.Confirmed != nil {
		out.Confirmed, out.Unit, out.Columns = l.Confirmed, l.Unit, l.Columns
	}
	return out
}

func (s *Server) listTables(ctx context.Context, c *call, in *Listing) (*output[page[tables.Line]], error) {
	before, err := in.number()
	if err != nil {
		return nil, err
	}
	items, next, unreadable, err := s.tables.List(ctx, before, in.Limit, func(id string) bool { return c.actor.Has(id, auth.Roles()...) })
	if err != nil {
		return nil, err
	}
	for i := range items {
		if !c.actor.Has(items[i].ID, auth.Steward) {
			items[i] = public(&items[i])
		}
	}
	return &output[page[tables.Line]]{pageOf(items, next, unreadable)}, nil
}

func (s *Server) addTable(ctx context.Context, c *call, in *addInput) (*addedOutput, error) {
	adding := tables.Adding{Name: in.Body.Name, Source: in.Body.Source, By: c.actor.ID}
	if in.Body.Form != nil {
		adding.Form = *in.Body.Form
	}
	if adding.Form.Sheet == "" {
		adding.Form.Sheet = in.Body.Sheet
	}
	t, job, err := s.tables.Add(ctx, adding)
	if err != nil {
		return nil, jobProblem(err)
	}
	c.note("table", t.ID)
	return added(t, job), nil
}

// added is a table with the job that reads it.
func added(t *tables.Table, job *jobs.Job) *addedOutput {
	out := &addedOutput{Location: apiPrefix + "/jobs/" + job.ID, ETag: etag(t.Version)}
	out.Body.Table, out.Body.Job = t, job
	return out
}

func (s *Server) readTable(ctx context.Context, c *call, in *readInput) (*addedOutput, error) {
	t, job, err := s.tables.Again(ctx, in.ID, version(in.IfMatch), c.actor.ID, &in.Body)
	if err != nil {
		return nil, jobProblem(err)
	}
	return added(t, job), nil
}

func (s *Server) getTable(ctx context.Context, c *call, in *idInput) (*tableOutput, error) {
	t, err := s.tables.Get(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	t = seen(c, t)
	t.Failure = problem.Said(t.Failure, t.FailureTexts, languageOf(ctx))
	return tableAnswer(t, nil)
}

func (s *Server) renameTable(ctx context.Context, _ *call, in *renameInput) (*tableOutput, error) {
	return tableAnswer(s.tables.Rename(ctx, in.ID, version(in.IfMatch), in.Body.Name))
}

func (s *Server) deleteTable(ctx context.Context, _ *call, in *Changing) (*empty, error) {
	return nil, s.tables.Delete(ctx, in.ID, version(in.IfMatch))
}

func (s *Server) stateColumns(ctx context.Context, c *call, in *columnsInput) (*tableOutput, error) {
	if in.Body.Confirm {
		c.note("confirm", "true")
	}
	return tableAnswer(s.tables.State(ctx, in.ID, version(in.IfMatch), c.actor.ID, &in.Body))
}

func (s *Server) tableRows(ctx context.Context, _ *call, in *idInput) (*output[*api.Rows], error) {
	rows, err := s.tables.Rows(ctx, in.ID)
	return &output[*api.Rows]{rows}, err
}

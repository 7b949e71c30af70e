package server

import (
	"context"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/noren-privacy/noren/internal/server/records"
	"github.com/noren-privacy/noren/internal/server/tables"
)

// Types of bodies of plain routes.
var (
	uploadType = reflect.TypeFor[uploadBody]()
	tableType  = reflect.TypeFor[tables.Table]()
)

type recipeOutput struct {
	ETag string `header:"ETag"`
	Body *records.Recipe
}

func recipeAnswer(r *records.Recipe, err error) (*recipeOutput, error) {
	if err != nil {
		return nil, err
	}
	return &recipeOutput{etag(r.Version), r}, nil
}

type tableListing struct {
	ID string `path:"id" maxLength:"64" doc:"The id of the table."`
	Listing
}

type makeInput struct {
	ID   string `path:"id" maxLength:"64" doc:"The id of the table."`
	Body *struct{}
}

type putRecipeInput struct {
	Changing
	Body struct {
		Parameters records.Parameters `json:"parameters" doc:"The parameters."`
	}
}

type trialInput struct {
	ID   string `path:"id" maxLength:"64" doc:"The id of the recipe."`
	Body struct {
		Parameters records.Parameters `json:"parameters" doc:"The parameters to try."`
	}
}

type curveInput struct {
	ID   string `path:"id" maxLength:"64" doc:"The id of the recipe."`
	Body *struct {
		K []int `json:"k,omitempty" nullable:"false" maxItems:"50" doc:"The values of k; a choice from 2 to 50 where left out."`
	}
}

type compareInput struct {
	ID   string `path:"id" maxLength:"64" doc:"The id of the object."`
	Body struct {
		With string `json:"with" maxLength:"64" doc:"The id of the other release."`
	}
}

// registerRecipes adds recipes, curves and previews.
func (s *Server) registerRecipes(api huma.API, mux *http.ServeMux) {
	register(s, api, op("GET", "/tables/{id}/recipes", "The recipes of a table, the newest first"), access{roles: stewards, object: "id"},
		s.listRecipes)
	create := op("POST", "/tables/{id}/recipes", "Make a recipe with default parameters")
	create.DefaultStatus = http.StatusCreated
	register(s, api, create, access{roles: stewards, object: "id", changes: true, action: "recipe.make"}, s.makeRecipe)
	register(s, api, op("GET", "/recipes/{id}", "A recipe"), access{roles: stewards, object: "id"}, s.getRecipe)
	register(s, api, op("PUT", "/recipes/{id}", "Change the parameters of a recipe"),
		access{roles: stewards, object: "id", changes: true, action: "recipe.change"}, s.putRecipe)
	file := op("GET", "/recipes/{id}/file", "A recipe as a noren.yaml for the command line")
	file.Parameters = []*huma.Param{pathParameter("id", "The id of the recipe.")}
	file.Responses = map[string]*huma.Response{"200": {
		Description: "The noren.yaml.",
		Content:     map[string]*huma.MediaType{"application/yaml": {}},
	}}
	s.handle(api, mux, file, access{roles: stewards, object: "id"}, s.recipeFile)
	job := func(path, summary, action string) huma.Operation {
		o := op("POST", path, summary)
		o.DefaultStatus = http.StatusAccepted
		return o
	}
	register(s, api, job("/recipes/{id}/curve", "Compute loss and risk over k", ""), access{roles: stewards, object: "id"}, s.startCurve)
	register(s, api, op("GET", "/recipes/{id}/curve", "The curve of a recipe so far"), access{roles: stewards, object: "id"}, s.getCurve)
	register(s, api, job("/recipes/{id}/preview", "Make and verify the file of a release, without releasing it", ""),
		access{roles: stewards, object: "id", action: "preview"}, s.startPreview)
	register(s, api, op("GET", "/recipes/{id}/preview", "The latest preview of a recipe"),
		access{roles: stewards, object: "id", action: "preview.read"}, s.getPreview)
	register(s, api, job("/recipes/{id}/trial", "Compare the preview with one of other parameters, without changing the recipe", ""),
		access{roles: stewards, object: "id", action: "preview"}, s.startTrial)
	register(s, api, job("/recipes/{id}/compare", "Compare the preview with an earlier release of the same people", ""),
		access{roles: stewards, object: "id", action: "compare"}, s.comparePreview)
}

func (s *Server) listRecipes(ctx context.Context, _ *call, in *tableListing) (*output[page[records.Recipe]], error) {
	before, err := in.number()
	if err != nil {
		return nil, err
	}
	items, next, unreadable, err := s.records.List(ctx, in.ID, before, in.Limit)
	if err != nil {
		return nil, err
	}
	return &output[page[records.Recipe]]{pageOf(items, next, unreadable)}, nil
}

func (s *Server) makeRecipe(ctx context.Context, c *call, in *makeInput) (*recipeOutput, error) {
	return recipeAnswer(s.records.Make(ctx, in.ID, c.actor.ID))
}

func (s *Server) getRecipe(ctx context.Context, _ *call, in *idInput) (*recipeOutput, error) {
	return recipeAnswer(s.records.Get(ctx, in.ID))
}

func (s *Server) putRecipe(ctx context.Context, c *call, in *putRecipeInput) (*recipeOutput, error) {
	return recipeAnswer(s.records.Put(ctx, in.ID, version(in.IfMatch), c.actor.ID, &in.Body.Parameters))
}

func (s *Server) recipeFile(w http.ResponseWriter, r *http.Request, c *call) error {
	text, err := s.records.Text(r.Context(), c.id)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/yaml")
	w.Header().Set("Content-Disposition", `attachment; filename="noren.yaml"`)
	_, _ = w.Write([]byte(text)) // the client has gone if this fails
	return nil
}

func (s *Server) startCurve(ctx context.Context, c *call, in *curveInput) (*accepted, error) {
	var values []int
	if in.Body != nil {
		values = in.Body.K
	}
	return begun(s.records.StartCurve(ctx, in.ID, c.actor.ID, values))
}

func (s *Server) getCurve(ctx context.Context, _ *call, in *idInput) (*output[*records.Curve], error) {
	curve, err := s.records.Curve(ctx, in.ID)
	return &output[*records.Curve]{curve}, err
}

func (s *Server) startPreview(ctx context.Context, c *call, in *makeInput) (*accepted, error) {
	return begun(s.records.StartPreview(ctx, in.ID, c.actor.ID))
}

func (s *Server) startTrial(ctx context.Context, c *call, in *trialInput) (*accepted, error) {
	return begun(s.records.StartTrial(ctx, in.ID, c.actor.ID, &in.Body.Parameters))
}

func (s *Server) getPreview(ctx context.Context, _ *call, in *idInput) (*output[*records.Preview], error) {
	preview, err := s.records.GetPreview(ctx, in.ID)
	return &output[*records.Preview]{preview}, err
}

func (s *Server) comparePreview(ctx context.Context, c *call, in *compareInput) (*accepted, error) {
	if err := s.mayCompare(ctx, c, in.Body.With); err != nil {
		return nil, err
	}
	return begun(s.records.ComparePreview(ctx, in.ID, in.Body.With, c.actor.ID))
}

package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/noren-privacy/noren/internal/server/auth"
	"github.com/noren-privacy/noren/internal/server/books"
	"github.com/noren-privacy/noren/internal/server/jobs"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/internal/server/records"
	"github.com/noren-privacy/noren/internal/server/spoken"
	"github.com/noren-privacy/noren/lang"
)

// jobProblem is the problem of a request about a job.
func jobProblem(err error) error {
	switch {
	case errors.Is(err, jobs.ErrFull):
		p := problem.New("too-many", "The queue of jobs is full.")
		p.RetryAfter = 10
		return p
	case errors.Is(err, jobs.ErrShare):
		p := problem.New("too-many", "Your jobs fill your share of the queue.").Hinted("wait until one ends, or cancel one")
		p.RetryAfter = 10
		return p
	case errors.Is(err, jobs.ErrClosed):
		return problem.New("unavailable", "The server is stopping.")
	case errors.Is(err, jobs.ErrUnknown):
		return problem.NotFound()
	}
	return err
}

// registerJobs adds jobs. They tell of private data: only stewards of their tables see
// them.
func (s *Server) registerJobs(api huma.API, mux *http.ServeMux) {
	register(s, api, op("GET", "/jobs", "Jobs, the newest first"), access{roles: stewards, object: anyObject}, s.listJobs)
	register(s, api, op("GET", "/jobs/{id}", "A job"), access{roles: stewards, object: "id"}, s.getJob)
	cancel := op("DELETE", "/jobs/{id}", "Cancel a job")
	cancel.DefaultStatus = http.StatusAccepted
	register(s, api, cancel, access{roles: stewards, object: "id", action: "job.cancel"}, s.cancelJob)
	events := op("GET", "/jobs/{id}/events", "The events of a job, as they come")
	events.Parameters = []*huma.Param{
		inLanguage(),
		pathParameter("id", "The id of the job."),
		{
			Name: "Last-Event-ID", In: "header", Description: "The number of the last event that was seen.",
			Schema: &huma.Schema{Type: huma.TypeString},
		},
	}
	events.Responses = map[string]*huma.Response{"200": {
		Description: "Server-sent events with a number each: progress {stage, done, total, left_s}, point (of a curve), and one final event " +
			"done, failed, cancelled or closing.",
		Content: map[string]*huma.MediaType{"text/event-stream": {}},
	}}
	may := access{roles: stewards, object: "id"}
	s.handle(api, mux, events, may, func(w http.ResponseWriter, r *http.Request, c *call) error {
		l, err := downloadLanguage(r)
		if err != nil {
			return err
		}
		end, ok := s.streams.Take(c.actor.ID)
		if !ok {
			return problem.New("too-many", "You follow too many jobs at once.").Hinted("close pages that you do not need")
		}
		defer end()
		setLanguage(w.Header(), l)
		return jobProblem(s.jobs.Follow(w, r, c.id, func() bool { return s.mayStill(r, c, &may) }, eventIn(l)))
	})
}

// pathParameter documents a parameter in the path of a plain route.
func pathParameter(name, text string) *huma.Param {
	return &huma.Param{Name: name, In: "path", Required: true, Description: text, Schema: &huma.Schema{Type: huma.TypeString}}
}

func (s *Server) listJobs(ctx context.Context, c *call, in *Listing) (*output[page[jobs.Job]], error) {
	after, err := in.position()
	if err != nil {
		return nil, err
	}
	items := s.jobs.List(after, in.Limit+1, func(j *jobs.Job) bool { return c.actor.Has(j.Table, auth.Steward) })
	for i := range items {
		items[i] = jobIn(languageOf(ctx), items[i])
		items[i].ByName = s.nameOf(ctx, items[i].By)
	}
	return &output[page[jobs.Job]]{paged(append([]jobs.Job{}, items...), in.Limit, func(j *jobs.Job) string { return j.ID })}, nil
}

func (s *Server) getJob(ctx context.Context, _ *call, in *idInput) (*output[*jobs.Job], error) {
	job, ok := s.jobs.Get(in.ID)
	if !ok {
		return nil, problem.NotFound()
	}
	job = jobIn(languageOf(ctx), job)
	job.ByName = s.nameOf(ctx, job.By)
	return &output[*jobs.Job]{&job}, nil
}

// eventIn says what the events of a job hold in a language.
func eventIn(l lang.Lang) func(event string, data []byte, job *jobs.Job) []byte {
	return func(event string, data []byte, job *jobs.Job) []byte {
		var p jobs.Progress
		said := data
		switch {
		case l == lang.English:
		case event == "progress" && json.Unmarshal(data, &p) == nil:
			p.Stage = l.Stage(p.Stage)
			if text, err := json.Marshal(p); err == nil {
				said = text
			}
		case event == "done" && len(job.Result) > 0:
			said = jobIn(l, *job).Result
		case event == "failed" && len(job.Problem) > 0:
			said = jobIn(l, *job).Problem
		}
		return said
	}
}

// jobIn is a job with its stage, its problem and the messages of its result in a language.
func jobIn(l lang.Lang, job jobs.Job) jobs.Job {
	job.Stage = l.Stage(job.Stage)
	job.Problem = problem.Said(job.Problem, job.ProblemTexts, l)
	texts := job.ResultTexts
	job.ProblemTexts, job.ResultTexts = nil, nil
	switch job.Kind {
	case "compare":
		job.Result = spoken.JSON[records.Comparison](l, job.Result, texts)
	case "check":
		job.Result = spoken.JSON[books.LedgerCheck](l, job.Result, texts)
	}
	return job
}

func (s *Server) cancelJob(ctx context.Context, _ *call, in *idInput) (*output[*jobs.Job], error) {
	job, err := s.jobs.Cancel(in.ID)
	if err != nil {
		return nil, jobProblem(err)
	}
	job = jobIn(languageOf(ctx), job)
	return &output[*jobs.Job]{&job}, nil
}

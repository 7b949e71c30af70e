package server

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/noren-privacy/noren/internal/server/audit"
	"github.com/noren-privacy/noren/internal/server/auth"
	"github.com/noren-privacy/noren/internal/server/jobs"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/internal/server/records"
	"github.com/noren-privacy/noren/internal/server/spoken"
	"github.com/noren-privacy/noren/internal/server/store"
	"github.com/noren-privacy/noren/internal/server/tables"
	"github.com/noren-privacy/noren/internal/server/uploads"
)

// keptJobs is how many jobs of one principal are known after a restart.
const keptJobs = 500

// openResources opens jobs, uploads, tables and records, in this order: each uses those
// before it.
func (s *Server) openResources(ctx context.Context) (err error) {
	if s.jobs, err = s.openJobs(ctx); err != nil {
		return err
	}
	newID := func() (string, error) { return store.NewID("up"), nil }
	if s.uploads, err = uploads.Open(uploads.Config{
		Dir: s.path("uploads"), Limit: s.cfg.UploadLimit, NewID: newID, Space: s.space,
		Now: s.store.Now,
	}); err != nil {
		return err
	}
	s.tables, err = tables.New(ctx, tables.Config{
		Dir: s.path("tables"), Store: s.store, Uploads: s.uploads, Jobs: s.jobs, Service: s.service, Apart: s.apart(), Roots: s.cfg.Roots,
		Databases: s.cfg.Databases, Name: s.nameOf, Explain: s.explained,
		Deleted: func(ctx context.Context, id string) error {
			s.records.TableDeleted(id)
			return s.books.TableDeleted(ctx, id)
		},
		Space: s.space, Watch: s.watchSpace, Sealed: s.Sealed,
		LastRelease: func(ctx context.Context, table string) (*tables.LastRelease, error) {
			return records.LastRelease(ctx, s.store, table)
		},
	})
	if err != nil {
		return err
	}
	s.records, err = records.New(ctx, records.Config{
		Work: s.path("work"), Releases: s.path("releases"), Store: s.store, Tables: s.tables, Jobs: s.jobs, Service: s.service, Apart: s.apart(),
		LeastK: s.cfg.LeastK, Space: s.space,
		Watch: s.watchSpace, Sealed: s.Sealed, Note: s.noteObject, Name: s.nameOf, Explain: s.explained,
	})
	if err != nil {
		return err
	}
	s.owners["tb"] = func(ctx context.Context, id string) (string, error) {
		_, err := s.store.FindResource(ctx, store.KindTable, id)
		return id, err
	}
	s.owners["rc"], s.owners["rl"] = s.records.TableOf, s.records.TableOf
	s.owners["up"] = func(context.Context, string) (string, error) { return auth.Everything, nil }
	s.owners["jb"] = func(_ context.Context, id string) (string, error) {
		job, ok := s.jobs.Get(id)
		if !ok {
			return "", store.ErrNotFound
		}
		return job.Table, nil
	}
	for state, count := range map[string]func() int{
		"running": func() int { n, _ := s.jobs.Counts(); return n },
		"queued":  func() int { _, n := s.jobs.Counts(); return n },
	} {
		s.metrics.add(gauge{
			name: "noren_jobs", help: "Jobs by state.", labels: `state="` + state + `"`,
			value: func() float64 { return float64(count()) },
		})
	}
	s.atStop = append(s.atStop, func(ctx context.Context) {
		if err := s.jobs.Close(ctx); err != nil {
			s.cfg.Log.Error("jobs did not end in time", "error", err)
		}
	})
	go s.expireUploads()
	return nil
}

// expireUploads deletes uploads that expire, each hour until the server stops.
func (s *Server) expireUploads() {
	hour := time.NewTicker(time.Hour)
	defer hour.Stop()
	for {
		select {
		case <-s.closing:
			return
		case <-hour.C:
			if err := s.uploads.Expire(); err != nil {
				s.cfg.Log.Error("an upload that expired cannot be deleted", "error", err)
			}
		}
	}
}

func (s *Server) openJobs(ctx context.Context) (*jobs.Manager, error) {
	err := s.store.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.TrimResources(ctx, store.KindJob, keptJobs) })
	if err != nil {
		return nil, err
	}
	rows, err := s.store.Resources(ctx, store.KindJob, "", 0, 1<<20)
	if err != nil {
		return nil, err
	}
	slices.Reverse(rows)
	former := make([]jobs.Job, 0, len(rows))
	for _, row := range rows {
		var job jobs.Job
		if json.Unmarshal(row.Doc, &job) != nil {
			job = jobs.Job{Kind: "unreadable", State: jobs.Lost}
		}
		job.ID, job.Table = row.ID, row.Parent
		former = append(former, job)
	}
	return jobs.New(jobs.Config{
		Memory: s.cfg.Memory, Ended: keptJobs, Now: s.store.Now,
		NewID: func() (string, error) { return store.NewID("jb"), nil },
		Save: func(job jobs.Job) error {
			doc, err := json.Marshal(job)
			if err != nil {
				return err
			}
			return s.store.Write(context.Background(), func(ctx context.Context, tx *store.Tx) error {
				return tx.PutResource(ctx, &store.Resource{ID: job.ID, Kind: store.KindJob, Parent: job.Table, Doc: doc})
			})
		},
		Forget: func(id string) {
			// What cannot be removed is trimmed at the next start.
			_ = s.store.Write(context.Background(), func(ctx context.Context, tx *store.Tx) error { return tx.DropResource(ctx, store.KindJob, id) })
		},
		Problem: func(err error) (document, texts json.RawMessage) {
			p := s.explained(err)
			if p.Code == "internal" {
				s.cfg.Log.Error("a job failed", "error", err)
			}
			document, err = json.Marshal(p)
			if err != nil {
				return nil, nil
			}
			return document, p.Texts()
		},
		Texts: spoken.Texts,
	}, former)
}

// explained is the problem of an error.
func (s *Server) explained(err error) *problem.Problem {
	if uploads.DiskFull(err) {
		return problem.New("unavailable", "The disk is full.").Hinted("free space on the server")
	}
	return problem.From(err)
}

// noteObject writes to the audit log what a job did for a principal.
func (s *Server) noteObject(ctx context.Context, by, action, object string, detail map[string]string) error {
	if err := s.audit.Append(ctx, audit.Entry{
		Actor: by, Role: string(auth.Steward), Action: action, Object: object, Outcome: "ok",
		Detail: detail,
	}); err != nil {
		s.cfg.Log.Error("the audit log cannot be written", "error", err)
		return problem.New("sealed", "The audit log cannot be written.")
	}
	return nil
}

// nameOf is the name of a principal; its id where it has none.
func (s *Server) nameOf(ctx context.Context, id string) string {
	p, err := s.store.PrincipalByID(ctx, id)
	if err != nil {
		return id
	}
	return p.Name
}

// etag writes a version as an ETag.
func etag(version int64) string { return `"` + strconv.FormatInt(version, 10) + `"` }

// version reads If-Match: 0 where there is none, and -1 for what is no ETag of a version.
func version(match string) int64 {
	if match == "" {
		return 0
	}
	text, ok := strings.CutPrefix(match, `"`)
	text, ok2 := strings.CutSuffix(text, `"`)
	n, err := strconv.ParseInt(text, 10, 64)
	if !ok || !ok2 || err != nil || n < 1 {
		return -1
	}
	return n
}

// number reads the position of a list of resources; 0 for the first page.
func (l *Listing) number() (int64, error) {
	at, err := l.position()
	if at == "" || err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(at, 10, 64)
	if err != nil || n < 1 {
		return 0, problem.New("invalid", "expected the value of next of an earlier page")
	}
	return n, nil
}

// pageOf is a page of items that goes on behind a number; 0 for the last page. unreadable are
// the ids of members that cannot be read.
func pageOf[T any](items []T, next int64, unreadable []string) page[T] {
	out := page[T]{Items: items, Unreadable: unreadable}
	if next > 0 {
		out.Next = cursor(strconv.FormatInt(next, 10))
	}
	return out
}

// accepted is an answer to a request that began a job.
type accepted struct {
	Location string `header:"Location"`
	Body     *jobs.Job
}

// begun is the answer with a job.
func begun(job *jobs.Job, err error) (*accepted, error) {
	if err != nil {
		return nil, jobProblem(err)
	}
	return &accepted{Location: apiPrefix + "/jobs/" + job.ID, Body: job}, nil
}

// stewards may do what shows private data.
var stewards = []auth.Role{auth.Steward}

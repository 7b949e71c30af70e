package server

import (
	"context"
	"runtime"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/server/audit"
	"github.com/noren-privacy/noren/internal/server/books"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/internal/server/quantum"
	"github.com/noren-privacy/noren/internal/server/questions"
)

// waiting is how many paid questions wait to be accepted at once.
const waiting = 2048

// openBooks opens books and questions, in this order.
func (s *Server) openBooks(ctx context.Context) (err error) {
	if err := s.loadCalibration(); err != nil {
		return err
	}
	s.desk = quantum.New(runtime.GOMAXPROCS(0), waiting, s.cfg.Meter)
	s.books, err = books.New(ctx, books.Config{
		Dir: s.path("books"), Store: s.store, Tables: s.tables, Jobs: s.jobs, Host: booksHost{s}, Public: s.cfg.Public,
	})
	if err != nil {
		return err
	}
	s.questions, err = questions.New(ctx, questions.Config{
		Store: s.store, Books: s.books, Desk: s.desk, Kept: s.kept, Host: questionsHost{s}, Secret: s.key.Seed(), Public: s.cfg.Public,
		Fault: s.cfg.Fault,
	})
	if err != nil {
		return err
	}
	s.mayRead = s.questions.MayRead
	s.owners["bk"], s.owners["an"] = s.books.TableOf, s.questions.TableOf
	s.deskMetrics()
	if s.Sealed() == "" {
		s.background.Go(func() {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			go func() {
				select {
				case <-s.closing:
					cancel()
				case <-ctx.Done():
				}
			}()
			s.books.LoadAll(ctx)
		})
	}
	s.atStop = append(s.atStop, func(ctx context.Context) {
		if err := s.desk.Close(ctx); err != nil {
			s.cfg.Log.Error("paid questions did not end in time", "error", err)
		}
	})
	return nil
}

// noteEnded writes to the audit log that the paid questions of a principal in a book have
// ended.
func (s *Server) noteEnded(ctx context.Context, book, principal string) {
	err := s.audit.Append(ctx, audit.Entry{
		Actor: "host", Action: "book.asking-end", Object: book, Outcome: "ok",
		Detail: map[string]string{"principal": principal},
	})
	if err != nil {
		s.cfg.Log.Error("the audit log cannot be written", "error", err)
	}
}

// sealLedger seals the server because its ledger is behind what is known of it.
func (s *Server) sealLedger() {
	s.setSealed(sealLedgerOld)
}

// deskMetrics adds the metrics of paid questions.
func (s *Server) deskMetrics() {
	count := func(name, help, labels string, counter bool, value func(quantum.Counts) int64) {
		s.metrics.add(gauge{
			name: name, help: help, labels: labels, counter: counter,
			value: func() float64 { return float64(value(s.desk.Counts())) },
		})
	}
	count("noren_questions", "Paid questions that wait to be accepted or are worked on.", `state="waiting"`, false,
		func(c quantum.Counts) int64 { return c.Waiting })
	count("noren_questions", "Paid questions that wait to be accepted or are worked on.", `state="running"`, false,
		func(c quantum.Counts) int64 { return c.Running })
	for _, class := range quantum.Classes() {
		s.metrics.add(gauge{
			name: "noren_answers_total", help: "Replies at a boundary, by time class.", labels: `class="` + class.String() + `"`,
			counter: true, value: func() float64 { return float64(s.desk.Released(class)) },
		})
	}
	count("noren_answers_missed_total", "Answers whose work took longer than their class.", "", true,
		func(c quantum.Counts) int64 { return c.Missed })
	count("noren_answers_passed_total", "Answers whose computation used more processor time than its bound and took longer than bound and "+
		"allowance.", "", true, func(c quantum.Counts) int64 { return c.Passed })
	count("noren_answers_refused_total", "Paid questions that were refused.", "", true, func(c quantum.Counts) int64 { return c.Refused })
	s.metrics.add(gauge{
		name: "noren_table_reads_total", help: "Times that a file of a book was read.", counter: true,
		value: func() float64 { return float64(s.kept.Reads()) },
	})
}

// limitAnswers limits the paid questions of a principal.
func (s *Server) limitAnswers(principal string) error {
	if s.answers == nil {
		return nil
	}
	if ok, wait := s.answers.Allow(principal, s.store.Now()); !ok {
		p := tooMany(wait).(*problem.Problem)
		return p.Saying(noren.Textf("The principal has asked for too many answers."))
	}
	return nil
}

package ledger

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/noren-privacy/noren"
)

// Goroutines that share a ledger commit their work in groups. One of them leads: it
// begins a transaction, runs the work of all that wait, each in a savepoint of its own,
// commits once, and brings the head file and the anchor up once. Then it passes the lead
// to one that came meanwhile. No work counts as done before the commit that holds it,
// and the head file where it needs one, are durable. Work that fails is rolled back to
// its savepoint; when all of it fails nothing is written. Holds are decided by a leader too,
// between two transactions.

// maxGroup is the largest number of works in one transaction.
const maxGroup = 64

// job is the work of one goroutine.
type job struct {
	ctx context.Context
	do  func(ctx context.Context, tx *sql.Tx, now int64) error
	// guarded work is refused by a sealed ledger.
	guarded bool
	// synced work is done only when the head file has its entries.
	synced bool
	// step names the moment when the transaction is durable and the head file is not
	// written yet, for tests.
	step string
	// hold ends when the work is done: what it kept is charged in the transaction then.
	hold *Hold
	// check is work without a transaction, at a moment when no charge of this process is
	// under way. Work has either do or check.
	check func(ctx context.Context, known *moment) error

	// idle is set by work that changed nothing: it needs no commit of its own.
	idle bool

	since     time.Time     // when it began to wait
	lead      chan struct{} // the lead is passed to this goroutine
	done      chan struct{} // closed when err is final
	committed bool
	err       error
}

func (j *job) end(err error) {
	j.err = err
	close(j.done)
}

// grouped runs j with others in one transaction. committed says that the transaction is
// durable: with an error, the head file or the anchor is not.
func (l *Ledger) grouped(ctx context.Context, what noren.Format, j *job) (committed bool, err error) {
	j.ctx, j.since, j.lead, j.done = ctx, time.Now(), make(chan struct{}, 1), make(chan struct{})
	l.groupMu.Lock()
	l.queue = append(l.queue, j)
	lead := !l.leading
	l.leading = true
	l.groupMu.Unlock()
	if !lead {
		select {
		case <-j.done:
			return j.committed, failOr(l.path, what, j.err)
		case <-j.lead:
		case <-ctx.Done():
			if l.leave(j) {
				return false, fail(l.path, what, ctx.Err())
			}
			<-j.done // it is being done: its end is worth knowing
			return j.committed, failOr(l.path, what, j.err)
		}
	}
	defer l.passLead()
	if j.check != nil {
		l.runChecks(ctx, j)
		return false, failOr(l.path, what, j.err)
	}
	if err := l.runGroup(ctx, j); err != nil && l.leave(j) {
		return false, fail(l.path, what, err)
	}
	<-j.done
	return j.committed, failOr(l.path, what, j.err)
}

func failOr(path string, what noren.Format, err error) error {
	if err == nil {
		return nil
	}
	return fail(path, what, err)
}

// leave takes j out of the queue, and reports whether it was still there. If the lead
// was passed to j meanwhile, it is passed on.
func (l *Ledger) leave(j *job) bool {
	l.groupMu.Lock()
	defer l.groupMu.Unlock()
	i := slices.Index(l.queue, j)
	if i < 0 {
		return false
	}
	l.queue = slices.Delete(l.queue, i, i+1)
	select {
	case <-j.lead:
		l.passLeadLocked()
	default:
	}
	return true
}

// passLead gives the lead to the first that waits, if there is one.
func (l *Ledger) passLead() {
	l.groupMu.Lock()
	defer l.groupMu.Unlock()
	l.passLeadLocked()
}

func (l *Ledger) passLeadLocked() {
	l.leading = len(l.queue) > 0
	if l.leading {
		l.queue[0].lead <- struct{}{}
	}
}

// take removes a group from the queue. It always holds own, which leads.
func (l *Ledger) take(own *job) []*job {
	l.groupMu.Lock()
	defer l.groupMu.Unlock()
	var group []*job
	l.queue = slices.DeleteFunc(l.queue, func(j *job) bool {
		taken := j.check == nil && len(group) < maxGroup
		if taken {
			group = append(group, j)
		}
		return taken
	})
	if i := slices.Index(l.queue, own); i >= 0 {
		l.queue = slices.Delete(l.queue, i, i+1)
		group = append(group, own)
	}
	return group
}

// runGroup does the work of a group that own leads. An error means that no work
// was begun: the database could not be locked before ctx ended, or at all.
func (l *Ledger) runGroup(ctx context.Context, own *job) error {
	// The wait for the database ends with ctx. The transaction does not: it holds the
	// work of others.
	conn, err := l.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	whole := context.WithoutCancel(ctx)
	var tx *sql.Tx
	if err := l.retrySince(ctx, own.since, func() (err error) {
		tx, err = conn.BeginTx(whole, nil)
		return err
	}); err != nil {
		return err
	}
	defer tx.Rollback()
	group := l.take(own)
	finished := false
	defer func() {
		if !finished { // a panic passes through: the others must not wait for ever
			for _, j := range group {
				j.end(noren.Bug("the writer of the group failed"))
			}
		}
	}()
	errs := l.runJobs(whole, tx, group)
	done := 0
	for i, err := range errs {
		if err == nil && !group[i].idle {
			done++
		}
	}
	synced := false
	if done > 0 {
		if err := tx.Commit(); err != nil {
			for i := range errs {
				errs[i] = cmpErr(errs[i], err)
			}
		}
	} else {
		tx.Rollback()
	}
	conn.Close() // bringing the head file up takes a transaction of its own
	for i, j := range group {
		if errs[i] == nil && !j.idle {
			j.committed = true
			synced = synced || j.synced || l.anchored()
			if j.step != "" {
				l.at(j.step)
			}
		}
	}
	if synced {
		if err := l.syncHead(whole, 0); err != nil {
			for i, j := range group {
				if errs[i] == nil && !j.idle && (j.synced || l.anchored()) {
					errs[i] = err
				}
			}
		}
	}
	finished = true
	for i, j := range group {
		j.end(errs[i])
	}
	return nil
}

// cmpErr is first, or second where there is none.
func cmpErr(first, second error) error {
	if first != nil {
		return first
	}
	return second
}

// runJobs does the work of a group in tx, and returns an error for each that failed.
func (l *Ledger) runJobs(ctx context.Context, tx *sql.Tx, group []*job) []error {
	errs := make([]error, len(group))
	all := func(err error) []error {
		for i := range errs {
			errs[i] = cmpErr(errs[i], err)
		}
		return errs
	}
	now, err := l.tick(ctx, tx)
	if err != nil {
		return all(err)
	}
	var sealed error
	if slices.ContainsFunc(group, func(j *job) bool { return j.guarded }) {
		sealed = l.unsealed(ctx, tx)
	}
	var headErr error
	if slices.ContainsFunc(group, func(j *job) bool { return j.synced }) {
		headErr = l.headWritable()
	}
	for i, j := range group {
		errs[i] = context.Cause(j.ctx)
		if errs[i] != nil {
			continue
		}
		if j.synced && headErr != nil {
			errs[i] = headErr
			continue
		}
		if j.guarded && sealed != nil {
			errs[i] = sealed
			continue
		}
		if len(group) == 1 {
			errs[i] = j.do(ctx, tx, now) // the transaction is its savepoint
			j.endHold(errs[i])
			continue
		}
		if _, err := tx.ExecContext(ctx, "SAVEPOINT job"); err != nil {
			return all(err)
		}
		end := "RELEASE job"
		errs[i] = j.do(ctx, tx, now)
		if errs[i] != nil {
			end = "ROLLBACK TO job; RELEASE job"
		}
		j.endHold(errs[i])
		if _, err := tx.ExecContext(ctx, end); err != nil {
			// The failure ended the whole transaction, as a full disk does.
			return all(cmpErr(errs[i], noren.Reasonf("the transaction ended: %s", err)))
		}
	}
	return errs
}

// endHold ends the hold of work that was done. If the transaction fails after that, the
// request fails, and nothing is kept free for it.
func (j *job) endHold(err error) {
	if err == nil && !j.idle {
		j.hold.Release()
	}
}

// tick returns the ledger's time in milliseconds: the latest that any process has seen.
func (l *Ledger) tick(ctx context.Context, tx *sql.Tx) (now int64, err error) {
	err = tx.QueryRowContext(ctx, "UPDATE ledger SET last_seen = max(last_seen, ?) RETURNING last_seen", l.clock.wall().UnixMilli()).Scan(&now)
	return now, err
}

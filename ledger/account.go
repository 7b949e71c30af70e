package ledger

import (
	"context"
	"database/sql"
	"errors"
	"math"

	"github.com/noren-privacy/noren"
)

// account is a row of the table of that name.
type account struct {
	id, parent        int64
	kind, name, unit  string
	neighbours        string
	fingerprint, path string
	cap, spent        amounts // in zCDP the cap of epsilon is math.MaxInt64; no cap has a Gaussian part
	closed            bool
	version           int64 // of a data set; 0 before its first definition
	accounting        string
	statementDelta    int64
	charges           int64
}

const accountColumns = `id, coalesce(parent, 0), kind, name, unit, neighbours, coalesce(fingerprint, ''), coalesce(path, ''),
	cap_eps_nano, spent_eps_nano, cap_delta, spent_delta, closed,
	coalesce((SELECT max(version) FROM dataset_version WHERE dataset_version.account = account.id), 0),
	accounting, statement_delta, cap_rho, spent_rho, spent_gaussian, charges`

func (a *account) scan(row interface{ Scan(...any) error }) error {
	return row.Scan(&a.id, &a.parent, &a.kind, &a.name, &a.unit, &a.neighbours, &a.fingerprint, &a.path,
		&a.cap.eps, &a.spent.eps, &a.cap.delta,
		&a.spent.delta, &a.closed, &a.version,
		&a.accounting, &a.statementDelta, &a.cap.rho, &a.spent.rho, &a.spent.gaussian, &a.charges)
}

func (a *account) zcdp() bool { return a.accounting == string(ZCDP) }

// limit is the cap, in the account's accounting.
func (a *account) limit() Cost {
	return a.cap.cost(a.zcdp())
}

// setCap sets the cap, in the account's accounting.
func (a *account) setCap(c Cost) {
	a.cap = amounts{eps: c.Epsilon, delta: c.Delta}
	if a.zcdp() {
		a.cap = amounts{eps: math.MaxInt64, rho: int64(c.Rho)}
	}
}

// total is what is spent, in the account's accounting.
func (a *account) total() Cost {
	return a.spent.cost(a.zcdp())
}

// loss is what is spent of a budget in zCDP.
func (a *account) loss() Loss {
	if !a.zcdp() {
		return Loss{}
	}
	return Loss{Rho: rho(a.spent.rho), Pure: a.spent.eps, Gaussian: rho(a.spent.gaussian)}
}

func (a *account) left() Cost {
	return a.cap.minus(a.spent).cost(a.zcdp())
}

// amounts are the parts of what is spent, or of a cap, in the units of the ledger: epsilon in
// 1e-9 (in zCDP that of pure answers), delta in 1e-18, rho in 1e-15, and its Gaussian part.
type amounts struct{ eps, delta, rho, gaussian int64 }

func (a amounts) plus(b amounts) amounts {
	return amounts{a.eps + b.eps, a.delta + b.delta, a.rho + b.rho, a.gaussian + b.gaussian}
}

func (a amounts) minus(b amounts) amounts {
	return amounts{a.eps - b.eps, a.delta - b.delta, a.rho - b.rho, a.gaussian - b.gaussian}
}

// most is the larger of a and b, part by part.
func (a amounts) most(b amounts) amounts {
	return amounts{max(a.eps, b.eps), max(a.delta, b.delta), max(a.rho, b.rho), max(a.gaussian, b.gaussian)}
}

// within reports whether no part of a is above that of b.
func (a amounts) within(b amounts) bool { return a.most(b) == b }

// cost is a in the accounting of a budget, in zCDP or not.
func (a amounts) cost(zcdp bool) Cost {
	if zcdp {
		return Cost{Rho: rho(a.rho)}
	}
	return Cost{Epsilon: a.eps, Delta: a.delta}
}

// amounts are those that the line charges.
func (n *line) amounts() amounts { return amounts{n.Eps, n.Delta, n.Rho, n.Gaussian} }

// amounts are those that s states.
func (s *Spent) amounts() amounts { return amounts{s.Epsilon, s.Delta, s.Rho, s.Gaussian} }

// line is the line of a charge to a; the cost or the loss counts, by its accounting.
func (a *account) line(c Cost, l Loss) line {
	if a.zcdp() {
		return line{Account: a.id, Eps: l.Pure, Rho: int64(l.Rho), Gaussian: int64(l.Gaussian)}
	}
	return line{Account: a.id, Eps: c.Epsilon, Delta: c.Delta}
}

// spentBy is what a charge of that line spends, in both forms.
func (n *line) spentBy() (Cost, Loss) {
	if n.Rho > 0 {
		l := Loss{Rho: rho(n.Rho), Pure: n.Eps, Gaussian: rho(n.Gaussian)}
		return Cost{Rho: l.Rho}, l
	}
	return Cost{Epsilon: n.Eps, Delta: n.Delta}, Loss{}
}

// accounting is how the budget that b grants adds up losses.
func (b *grantBody) accounting() string {
	if b.Accounting == "" {
		return string(Basic)
	}
	return b.Accounting
}

// limit is the cap that b grants.
func (b *grantBody) limit() Cost {
	if b.accounting() == string(ZCDP) {
		return Cost{Rho: rho(b.CapRho)}
	}
	return Cost{Epsilon: b.CapEps, Delta: b.CapDelta}
}

// setLimit states a cap in a body.
func (b *grantBody) setLimit(in string, statementDelta int64, c Cost) {
	b.Accounting, b.StatementDelta, b.CapEps, b.CapDelta, b.CapRho = "", 0, c.Epsilon, c.Delta, int64(c.Rho)
	if in == string(ZCDP) {
		b.Accounting, b.StatementDelta = in, statementDelta
	}
}

// body is a grant that leaves a as it is.
func (a *account) body() *grantBody {
	b := &grantBody{
		Account: a.id, Parent: a.parent, Kind: a.kind, Name: a.name, Unit: a.unit, Neighbours: a.neighbours,
		Fingerprint: a.fingerprint, Path: a.path,
	}
	b.setLimit(a.accounting, a.statementDelta, a.limit())
	return b
}

// withCap is a grant of another cap, which also opens a closed analyst.
func (a *account) withCap(limit Cost) (*grantBody, error) {
	if a.zcdp() != (limit.Rho > 0) {
		return nil, otherAccounting(a.where(), a.accounting)
	}
	if !a.limit().Within(limit) {
		return nil, a.capFalls()
	}
	b := a.body()
	b.setLimit(a.accounting, a.statementDelta, limit)
	return b, nil
}

func (a *account) where() noren.Text { return accountName(a.kind, a.name) }

// inWords names the accounting of a.
func (a *account) inWords() noren.Text {
	if a.zcdp() {
		return noren.Textf("zCDP, stated at delta %s", decimal(a.statementDelta, 18))
	}
	return noren.Textf("epsilon and delta")
}

// fixed is the refusal to change what a's first charge fixed.
func (a *account) fixed(what noren.Text) error {
	var hint noren.Format = "nothing is spent: the steward may replace the grant"
	if a.isSpent() {
		what = noren.Textf("%s is spent; %s", a.total(), what)
		hint = "epsilons of different relations do not add up"
	}
	return &noren.Error{Kind: noren.Usage, Code: "fixed", Where: a.where(), What: what.Format, Args: what.Args, Hint: hint}
}

func (a *account) capFalls() error {
	hint := noren.Textf("its cap is %s", a.limit())
	switch {
	case a.kind == kindAnalyst:
		hint = noren.Textf("its cap is %s; the steward may close the analyst", a.limit())
	case !a.isSpent():
		hint = noren.Textf("its cap is %s; nothing is spent: the steward may replace the grant", a.limit())
	}
	return &noren.Error{Kind: noren.Usage, Code: "fixed", Where: a.where(), What: "a cap cannot fall", Hint: hint.Format, HintArgs: hint.Args}
}

// findAccount returns nil where there is none.
func findAccount(ctx context.Context, q querier, parent int64, kind, name string) (*account, error) {
	return oneAccount(ctx, q, "coalesce(parent, 0) = ? AND kind = ? AND name = ?", parent, kind, name)
}

// accountByID returns nil where there is none.
func accountByID(ctx context.Context, q querier, id int64) (*account, error) {
	return oneAccount(ctx, q, "id = ?", id)
}

func oneAccount(ctx context.Context, q querier, where string, args ...any) (*account, error) {
	var a account
	err := a.scan(q.QueryRowContext(ctx, "SELECT "+accountColumns+" FROM account WHERE "+where, args...))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return &a, err
}

// accounts returns the accounts that where selects, in id order.
func accounts(ctx context.Context, q querier, where string, args ...any) ([]account, error) {
	rows, err := q.QueryContext(ctx, "SELECT "+accountColumns+" FROM account WHERE "+where+" ORDER BY id", args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []account
	for rows.Next() {
		var a account
		if err := a.scan(rows); err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, rows.Err()
}

package cli

import (
	"bufio"
	"context"
	"io"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/lang"
)

// spendAsks is the part of what an account has left above which a person is asked first.
const spendAsks = 0.1

// agree asks the person at the terminal before a request is paid that costs more than a tenth
// of what an account has left, or of which a warning says that it will miss what it asks.
// Without a terminal a command goes on, as scripts expect; the price is computed on a terminal
// alone. What does not fit is not asked about: it is refused.
func (f *dpFlags) agree(ctx context.Context, t *terminal, price func() (*api.Price, []api.Message, error)) error {
	if f.yes || f.unaccounted || !t.person {
		return nil
	}
	p, warnings, err := price()
	if err != nil || p.Before == nil || !p.Fits {
		return err
	}
	accounts := make([]api.AccountQuote, len(p.Before.Accounts))
	for i, a := range p.Before.Accounts {
		accounts[i] = api.AccountQuote{Name: a.Name, Left: amountOf(a.Cost)}
	}
	return t.agree(ctx, amountOf(p.Cost()), accounts, warnings, f.key != "" || f.reuse)
}

// agree is [dpFlags.agree] for several questions. The request is bound to the price: what changes
// while a person is asked, as the schema may by another command, cannot raise it.
func (f *askFlags) agree(ctx context.Context, t *terminal, r *api.AskRequest, price func() (*api.AskQuote, error)) error {
	if f.yes || !t.person {
		return nil
	}
	q, err := price()
	if err != nil {
		return err
	}
	r.Most, r.Definition = &q.Cost, q.Definition
	if !q.Fits {
		return nil
	}
	var warnings []api.Message
	for i := range q.Questions {
		warnings = append(warnings, q.Questions[i].Warnings...)
	}
	return t.agree(ctx, q.Cost, q.Accounts, warnings, f.key != "" || f.reuse)
}

// agree asks before a cost is paid from accounts, where it is a large part of what one holds or
// where there are warnings, which are printed. maybe says that an answer that was stored may be
// free.
func (t *terminal) agree(ctx context.Context, cost api.Amount, accounts []api.AccountQuote, warnings []api.Message, maybe bool) error {
	for _, w := range warnings {
		t.warn("%s", w.In(t.lang).Text)
	}
	for i := range accounts {
		if share := cost.Share(accounts[i].Left); share > spendAsks {
			format := lang.Key("this costs %s, %.0f %% of the %s that is left for %s")
			if maybe {
				format = "unless it was answered before, this costs %s, %.0f %% of the %s that is left for %s"
			}
			return t.confirm(ctx, t.lang.Text(format, cost.String(), 100*share, accounts[i].Left.String(), accounts[i].Name))
		}
	}
	if len(warnings) > 0 {
		return t.confirm(ctx, t.lang.Text("this costs %s", cost.String()))
	}
	return nil
}

func amountOf(c api.Cost) api.Amount {
	return api.Amount{Epsilon: c.Epsilon.String(), Delta: c.Delta.String(), Rho: c.Rho.String()}
}

// confirm asks a question whose answer must be yes. An interrupt ends the waiting.
func (t *terminal) confirm(ctx context.Context, what string) error {
	t.progress.clear()
	lang.Fprintf(t.stderr, "%s. Pay it? [y/N] ", what)
	said := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(io.LimitReader(t.stdin, 256)).ReadString('\n')
		said <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case line := <-said:
		if line == "y" || line == "yes" || line == "はい" {
			return nil
		}
	}
	return noren.Usagef("--yes", "not confirmed: nothing was charged").Hinted("--dry-run prints the price; --yes pays without a question")
}

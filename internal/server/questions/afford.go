package questions

import (
	"context"
	"math"
	"strconv"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/server/books"
	"github.com/noren-privacy/noren/kinds"
)

// Affordable is a typical question with what it would cost, and how often what is left
// covers it.
type Affordable struct {
	Asked  []api.Message  `json:"asked" nullable:"false" doc:"The question in words."`
	Margin PromisedMargin `json:"margin" doc:"How close its answer would be."`
	Cost   api.Amount     `json:"cost" doc:"What it would cost."`
	Times  int            `json:"times" doc:"How often what is left covers it."`
}

// Afford prices typical questions to a book, each alone. It reads no data.
func (q *Questions) Afford(ctx context.Context, book *books.Book, r *Reader) ([]Affordable, error) {
	h, err := q.config.Books.Hold(book.ID)
	if err != nil || h.Gone {
		return []Affordable{}, err
	}
	left := book.Left
	for _, a := range book.Accounts {
		if a.Principal == r.ID {
			left = a.Left
		}
	}
	out := []Affordable{}
	for _, one := range typical(book.Columns, book.Records) {
		request, err := q.ask(h, r.ID, []api.Question{one})
		if err != nil {
			return nil, err
		}
		price, err := q.config.Host.Service().AskPrice(ctx, request)
		switch {
		case noren.KindOf(err) == noren.Usage: // no price reaches the margin
			continue
		case err != nil:
			return nil, q.failed(err)
		}
		p := &price.Questions[0]
		times := 0
		if share := price.Cost.Share(left); share > 0 && !left.Zero() && price.Cost.Within(left) {
			times = int(math.Floor(1/share + 1e-9))
		}
		out = append(out, Affordable{
			Asked: list(p.Asked), Margin: PromisedMargin{p.Accuracy.Within, p.Accuracy.At}, Cost: price.Cost,
			Times: times,
		})
	}
	return out, nil
}

// typical are questions that columns allow: counts, a count by a column with keys, and the
// mean of a number column with bounds to a fiftieth of its width, of all records where their
// number is public, else of 1,000.
func typical(columns []books.DefinedColumn, records int64) []api.Question {
	within := func(v float64) *api.Margin { return &api.Margin{Within: v, At: "0.95"} }
	out := []api.Question{{Of: kinds.Count{}, Margin: within(30)}, {Of: kinds.Count{}, Margin: within(10)}}
	for _, c := range columns {
		if len(c.Keys) > 1 {
			out = append(out, api.Question{Of: kinds.Count{By: []string{c.Name}}, Margin: within(20)})
			break
		}
	}
	for _, c := range columns {
		if width := width(&c); width > 0 {
			m := within(width / 50)
			if records == 0 {
				m.About = 1000
			}
			out = append(out, api.Question{Of: kinds.Mean{Column: c.Name}, Margin: m})
			break
		}
	}
	return out
}

// width is the distance of the bounds of a number column; 0 where it has none.
func width(c *books.DefinedColumn) float64 {
	if c.Type != "integer" && c.Type != "decimal" || len(c.Bounds) != 2 {
		return 0
	}
	low, err := strconv.ParseFloat(c.Bounds[0], 64)
	if err != nil {
		return 0
	}
	high, err := strconv.ParseFloat(c.Bounds[1], 64)
	if err != nil {
		return 0
	}
	return high - low
}

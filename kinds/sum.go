package kinds

import (
	"encoding/json"

	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/query"
)

// Sum asks for the sum of a column, with values moved into bounds.
type Sum statistic

// Facts are those of the kind.
func (Sum) Facts() *Facts {
	return statisticFacts(query.Sum, "the sum of a column, with values moved into bounds", OfColumn, ChangesNothing)
}

// Said is the question in words.
func (k Sum) Said() lang.Message { return said("sum", k) }

// Rows are the values of an answer, one for each group.
func (Sum) Rows(answer json.RawMessage, _ float64) ([]AnswerRow, error) { return queryRows(answer) }

package kinds

import (
	"encoding/json"

	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/query"
)

// Mean asks for the mean of a column, with values moved into bounds.
type Mean statistic

// Facts are those of the kind.
func (Mean) Facts() *Facts {
	return statisticFacts(query.Mean, "the mean of a column, with values moved into bounds", OfColumn, ChangesPrice)
}

// Said is the question in words.
func (k Mean) Said() lang.Message { return said("mean", k) }

// Rows are the values of an answer, one for each group.
func (Mean) Rows(answer json.RawMessage, _ float64) ([]AnswerRow, error) { return queryRows(answer) }

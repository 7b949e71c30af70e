package kinds

import (
	"encoding/json"

	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/query"
)

// Variance asks for the variance of a column, with values moved into bounds.
type Variance statistic

// Facts are those of the kind.
func (Variance) Facts() *Facts {
	return statisticFacts(query.Variance, "the variance of a column, with values moved into bounds", Squared, ChangesPrice)
}

// Said is the question in words.
func (k Variance) Said() lang.Message { return said("variance", k) }

// Rows are the values of an answer, one for each group.
func (Variance) Rows(answer json.RawMessage, _ float64) ([]AnswerRow, error) {
	return queryRows(answer)
}

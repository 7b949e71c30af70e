package kinds

import "github.com/noren-privacy/noren/table"

// measurable are the types of columns whose values have a distance.
var measurable = []table.Type{table.Integer, table.Decimal, table.Date}

// Fields that several kinds have.
var (
	where = Field{Name: "where", Form: Condition, Text: "selects records, as in age >= 65"}
	by    = Field{Name: "by", Form: Groups, Text: "columns whose values make groups"}
	keys  = Field{
		Name: "keys", Form: Lists, Filled: "keys",
		Text: "public values of the groups, a list for each column of by; all combinations are answered",
	}
	bounds = Field{
		Name: "bounds", Form: Interval, Filled: "bounds",
		Text: "the smallest and the largest value that counts; values outside are moved to the nearer one",
	}
	rank    = Field{Name: "rank", Form: Decimal, Default: "0.5", Text: "the share of records below the value, above 0 and below 1"}
	maxRows = Field{
		Name: "max_rows", Form: Whole,
		Text: "how many records of one person count at most; needed where the privacy unit is a person",
	}
	gridBits = Field{Name: "grid_bits", Form: Whole, Text: "values are rounded to multiples of 2 to the power of minus this number"}
)

// numberColumn is the column of a statistic.
var numberColumn = Field{Name: "column", Form: AColumn, Required: true, Columns: measurable, Text: "the column that is asked about"}

// queryNoises are the mechanisms of counts and of statistics of a column.
var queryNoises = []string{"laplace", "gaussian"}

// queryDelta are those of them that are paid with a delta in a budget of epsilon.
var queryDelta = []string{"gaussian"}

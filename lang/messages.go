package lang

import "strings"

// tableMessages are about tables and their columns. The reasons of types and roles end without a point.
var tableMessages = []message{
	// how a table stands
	{"table-reading", "The table is being read."},
	{"table-failed", "The table could not be read."},
	{"table-changed", "The file has changed at its source since its columns were confirmed. Confirm them again."},
	{"table-unconfirmed", "Types and roles are proposals. Check each column and confirm them."},
	{"table-confirmed", "A steward has confirmed the columns."},
	{
		"hidden-open",
		"The workbook hides {rows} {rows|row|rows} and {number} {number|column|columns} of the table. Decide whether they are read or left out.",
	},
	{"hidden-read", "The workbook hides {rows} {rows|row|rows} and {number} {number|column|columns} of the table. They are read."},
	{"hidden-left", "The workbook hides {rows} {rows|row|rows} and {number} {number|column|columns} of the table. They are left out."},
	{"hierarchy-uncovered", "{uncovered} of {values} {values|value|values} of column {column} {uncovered|has|have} no line in its hierarchy."},
	{"unit-open", "Column {column} seems to name persons who have several records each. With it as the unit, persons are counted."},
	{"no-quasi-identifier", "No column is a quasi-identifier. Name the columns that others may know."},
	// why a type is proposed
	{"type-declared", "the file itself declares it"},
	{"type-empty", "it holds no value"},
	{"type-words", "its values are words"},
	{"type-odd", "{odd} of its {values} {values|value|values} {odd|is no number|are no numbers}, the first [at?at {at:text}|[file?in " +
		"{file} ]on [line?line {line}|[row?row {row}|record {record}]]]; correct {odd|it|them} in the file, or, if {odd|it stands for a " +
		"missing value|they stand for missing values}, say so: then the column is numbers"},
	{"type-odd-format", "{odd} of its {values} {values|value|values} {odd|is no number|are no numbers} written as {format}, the first " +
		"[at?at {at:text}|[file?in {file} ]on [line?line {line}|[row?row {row}|record {record}]]]; correct {odd|it|them} in the file, or, if " +
		"{odd|it stands for a missing value|they stand for missing values}, say so: then the column is numbers"},
	{"type-odd-date", "{odd} of its {values} {values|value|values} {odd|is no valid date|are no valid dates} written as {format}, the " +
		"first [at?at {at:text}|[file?in {file} ]on [line?line {line}|[row?row {row}|record {record}]]]; correct {odd|it|them} in the file, " +
		"or, if {odd|it stands for a missing value|they stand for missing values}, say so: then the column is dates"},
	{"type-zeros", "some of its numbers begin with a zero or a plus, as codes do, and would lose it"},
	{"type-code-name", "its values are numbers, but its name says that they are codes"},
	{"type-two", "it has at most two whole numbers as values, as codes do"},
	{"type-integer", "all its values are whole numbers"},
	{"type-decimal", "all its values are numbers, and some are not whole"},
	{"type-date", "all its values read as {format}"},
	{
		"type-date-open",
		"all its values read as {format}, and as {other} too: no day above the 12th tells which number is the month; say the format",
	},
	{"type-format", "all its values are numbers written as {format}"},
	{"type-format-open", "all its values are numbers written as {format}, and read as {other} too: no value tells them apart; say the format"},
	{"type-scale", "its {values} {values|value is a step|values are steps} of a well-known scale"},
	// why a role is proposed
	{"role-index", "it is the row index of the tool that wrote the file, and can link a release to it"},
	{"role-nested", "it holds lists, maps or groups, which cannot be grouped by: dropped unless it is kept on purpose"},
	{"role-empty", "it holds no value"},
	{"role-person", "its name says that it names a person"},
	{"role-person-unit", "its name says that it names a person; [unique?every value is different|[about?about ]{values} " +
		"{values|value|values}] among {records} records, so a person has several"},
	{"role-personal", "[both?its name and its values look like {kind:kind}|[header?its name says that it holds {kind:kind}|its values look " +
		"like {kind:kind}]][values? ({share} % of the values)]"},
	{"role-sensitive-name", "its name says that it tells what a person would not want known; [unique?every value is different|[about?about " +
		"]{values} {values|value|values}]"},
	{
		"role-number",
		"its name says that it numbers the records; [unique?every value is different|[about?about ]{values} {values|value|values}]",
	},
	{"role-number-unit", "its name says that it numbers something; [unique?every value is different|[about?about ]{values} " +
		"{values|value|values}] among {records} records, so that several records may be one person's"},
	{
		"role-number-unique",
		"its name says that it numbers something; [unique?every value is different|[about?about ]{values} {values|value|values}]",
	},
	{"role-reaches", "its name says that it names or reaches a person"},
	{"role-address", "its name says that it is an address; [unique?every value is different|[about?about ]{values} {values|value|values}]"},
	{
		"role-place",
		"[unique?every value is different|[about?about ]{values} {values|value|values}], typical of what others know (where a person lives)",
	},
	{
		"role-quasi-name",
		"[unique?every value is different|[about?about ]{values} {values|value|values}], typical of what others know by its name",
	},
	{"role-free-text", "it is free text, which can name persons"},
	{"role-near-date", "nearly all its values are dates, and dates are what others know"},
	{"role-date", "it is a date, and dates are what others know"},
	{"role-unique-word", "every value is different and it is a word or a code"},
	{"role-running", "its numbers rise from record to record, as running numbers do"},
	{"role-nearly-unique", "[unique?every value is different|[about?about ]{values} {values|value|values}] among {records} records: nearly " +
		"every one is different and it is a word or a code"},
	{"answered", "[unit?it tells persons apart][known?others may know it][harmful?it would harm a person if others learned " +
		"it][neither?others neither know it nor would it harm], as the steward answered"},
	{
		"role-open-below",
		"[unique?every value is different|[about?about ]{values} {values|value|values}]; nothing tells what they are (see below)",
	},
	{"role-open", "[unique?every value is different|[about?about ]{values} {values|value|values}]; nothing tells what they are. If others " +
		"may know them, make the column a quasi-identifier; if others must not know them, sensitive"},
}

// releaseMessages are about recipes, previews, releases and their comparison.
var releaseMessages = []message{
	// recipes and the gate
	{"least-k", "k is {k}, and the rule of this server is {least} or more."},
	{"no-sensitive", "l and t are about sensitive columns, and no column is sensitive."},
	{"ranges", "Fixed ranges are a way to generalize."},
	{"pseudonym", "Pseudonyms need the linkage of all records of a person."},
	{"k-large", "k is {k}, and the table has {n}."},
	{"unit-role", "The column that tells persons apart must be an identifier."},
	{"no-preview", "There is no preview. Make one and look at it."},
	{"preview-stale", "Table or recipe have changed since the preview. Preview again."},
	{"preview-other", "The preview is another one than the one that was looked at. Preview again."},
	{"previous-unstudied", "An earlier release of the same people was not compared with this one: {release}."},
	// previews
	{"classes", "{#classes}, of {least} to {most} {most|record|records}"},
	{"persons", "{#persons} by {column}, {least} to {most} in a class, {mean} on average[unassigned?; {#unassigned} " +
		"{unassigned|record|records} without one]"},
	{"intersect", "an attacker who knows all records of a person is left with at least {#least} {least|candidate|candidates}, {mean} on " +
		"average[asked? ({k} required)][below?; {#below} {below|person has|persons have} fewer than {k} candidates]"},
	{"pseudonyms", "{#pseudonyms}, each with the sequence of {#least} or more; {#without} {without|record|records} without one"},
	{"free-text", "Free text in {columns}: no check reads sentences; they may name persons, places and what happened. Read them before the " +
		"release, or drop the column."},
	{"sensitive-open", "A class may show one sensitive value for all its records: neither l-diversity nor t-closeness was asked for."},
	{"verified", "The file was read back: each of its {#classes} classes holds {k} {unit} or more."},
	{"sensitive", "In every class, column {column} has at least {l} different values and is at most {#t} from the whole table."},
	{"suppressed", "{#records} {records|record is|records are} left out."},
	{"formulas-none", "no cell or column name is taken for a formula by spreadsheets"},
	{"formulas", "spreadsheets take [cells?{#cells} {cells|cell|cells}[names? and ]][names?{names} column {names|name|names}] for formulas " +
		"(columns {columns}); they are written as they are"},
	{"formulas-text", "spreadsheets take [cells?{#cells} {cells|cell|cells}[names? and ]][names?{names} column {names|name|names}] for " +
		"formulas (columns {columns}); each is written as text, with an apostrophe before it"},
	{"identifier-repeats", "records were counted, not persons: column {columns} repeats ({#persons} persons, up to {#most} records each), " +
		"and by it {#below} of {#classes} {classes|class|classes} {below|holds|hold} fewer than k = {k} persons ({#records} " +
		"{records|record|records}), {#one} of them one person"},
	// comparison of two releases
	{"overlap-none", "No {unit} are in both tables."},
	{
		"overlap",
		"{#common} {unit} are in both tables. To a reader of both releases at least {#least} candidates remain for each, {#mean} on average.",
	},
	{"overlap-below", "For {#below} of them fewer than {k} candidates remain, for {#alone} only one."},
}

// bookMessages are about budget books and the ledger.
var bookMessages = []message{
	{"book-now", "Whether one {unit} {neighbours:neighbours} changes the odds of all answers so far at most {odds} times (epsilon " +
		"{epsilon}[#delta?, except with a probability of the order of delta {delta}][rho?; rho {rho}])."},
	{"book-cap", "Whether one {unit} {neighbours:neighbours} would change the odds of all answers that the cap allows at most {odds} times " +
		"(epsilon {epsilon}[#delta?, except with a probability of the order of delta {delta}][rho?; rho {rho}])."},
	{"book-model", "The same holds for a person who knows other records and how records depend on each other, as long as the states in " +
		"column {column} follow the public model of this book."},
	{"chain-whole", "The chain is whole."},
	{"sums-equal", "What is spent equals the sum of the entries."},
	{"ledger-fault", "{fault:text}"},
	{"ledger-sealed", "The ledger is behind what is known of it: nothing is paid until it is reconciled."},
}

// questionMessages are about questions, their prices and their answers.
var questionMessages = []message{
	// what is asked
	{"asked.count", "Number of records[by? by {by}][where?, where {where}]"},
	{"asked.histogram", "Histogram of {column}[by? by {by}][where?, where {where}]"},
	{"asked.median", "Median of {column}[by? by {by}][where?, where {where}]"},
	{"asked.quantile", "{rank}-quantile of {column}[by? by {by}][where?, where {where}]"},
	{"asked.sum", "Sum of {column}[by? by {by}][where?, where {where}]"},
	{"asked.mean", "Mean of {column}[by? by {by}][where?, where {where}]"},
	{"asked.variance", "Variance of {column}[by? by {by}][where?, where {where}]"},
	{"asked.outliers", "Number of records with fewer than {k} others within {radius} in {columns}"},
	{"asked.ratio_share", "Share of records, estimated from a public table weighted by {columns}[where?, where {where}]"},
	{"asked.ratio_mean", "Mean of {column}, estimated from a public table weighted by {columns}[where?, where {where}]"},
	{
		"asked.ratio_quantile",
		"Quantile {rank} of {column}, estimated from a public table weighted by {columns}[where?, where {where}]",
	},
	{
		"asked.correlated_count",
		"Number of records in state {states}, under the model of dependent records",
	},
	{"asked.edges", "Edges of {bins} {bins|bin|bins} of {column}"},
	{"asked.weights", "Weights of a public table, by {columns}"},
	{"asked.weights_check", "Check of the weights of a public table, by {columns}"},
	{"asked.randomised", "Randomised reports of {columns}[epsilon?, each at epsilon {epsilon}]"},
	{"asked.mechanism", "Answer of the mechanism {name}"},
	{"asked.correlated", "Query {query} under the model of dependent records"},
	// how it is paid
	{"composition.one", "One value."},
	{"composition.persons", "The {cells} {cells|value is|values are} paid for together: the noise covers up to {rows} " +
		"{rows|record|records} of one {unit}, in whatever groups they are."},
	{"composition.replace", "The {cells} {cells|value is|values are} paid for together: a record that is replaced can leave one group and " +
		"enter another, and the noise covers both."},
	{"composition.parallel", "One record counts in one group only, so that the {cells} {cells|value is|values are} paid for once."},
	// what one unit changes
	{"odds.answer", "Whether one {unit} is in the table changes the odds of this answer at most {times} times (epsilon {epsilon})."},
	{"odds.answer_delta", "Whether one {unit} is in the table changes the odds of this answer at most {times} times (epsilon {epsilon}), " +
		"but for a probability of {delta}."},
	{
		"odds_replace.answer",
		"Whether one {unit} is in the table or another in its place changes the odds of this answer at most {times} times (epsilon {epsilon}).",
	},
	{"odds_replace.answer_delta", "Whether one {unit} is in the table or another in its place changes the odds of this answer at most " +
		"{times} times (epsilon {epsilon}), but for a probability of {delta}."},
	// what is not promised
	{"not.small_groups", "The error of a mean or variance holds for groups of at least the stated size: in a group of half that size it is " +
		"about twice as large. Each answer states its own."},
	{"not.all_at_once", "Each value lies within its margin with the stated confidence by itself: of many values some lie outside."},
	{"not.value", "The error of a quantile is stated as a rank: where few values lie, its value may be far off."},
	{"not.guess", "The error holds if the guess of the local sensitivity is right. The privacy guarantee does not depend on it."},
	{"not.inference", "What people have in common may be learned, also about those who are not in the table."},
	{
		"not.others",
		"The guarantee is for one {unit} and covers answers of this budget only: other files and answers from elsewhere are not counted.",
	},
	// values that are not counted
	{"outside.clamped", "Values below {lo} count as {lo} and values above {hi} as {hi}; records without a value are left out."},
	{"outside.bins", "Values below {lo} and from {hi} up are in no bin; records without a value are left out."},
	{"outside.listed", "{listed} {listed|value counts|values count}; records with any other value are left out."},
	{"outside.person", "At most {rows} {rows|record|records} of one {column} {rows|counts|count}; records without one are left out."},
	{"outside.box", "Values below {lo} count as {lo} and values above {hi} as {hi}; a record without a value has no neighbours."},
	{"outside.model", "A value that is no state of its record counts as the record's first state."},
	{"outside.weights", "The public table is weighted so that it matches the private one in this column."},
	{"outside.condition", "Records that do not meet the condition are left out."},
	// the error of sampling
	{"sampling.count", "From the guess of {about} {about|record|records}: a count of people who come independently."},
	{
		"sampling.quartiles",
		"From the guess of {about} {about|record|records} and a spread of {spread}, by the stated quartiles of a normal distribution.",
	},
	{
		"sampling.bounds",
		"At most this much, from the guess of {about} {about|record|records} and the largest spread between the bounds, {spread}.",
	},
	// for which groups a margin holds
	{
		"reach.one_exact",
		"The table has {records} {records|record|records}. The margin holds where at least {about} of them {about|counts|count}.",
	},
	{"reach.one", "About {records} {records|record of the table counts|records of the table count}, as its steward states. The margin " +
		"holds where at least {about} of them {about|counts|count}."},
	{"reach.groups_exact", "The table has {records} {records|record|records}, on average {mean} in each of {groups} {groups|group|groups}. " +
		"The margin holds for groups of at least {about}; smaller groups have wider ones."},
	{"reach.groups", "About {records} {records|record of the table counts|records of the table count}, as its steward states, on average " +
		"{mean} in each of {groups} {groups|group|groups}. The margin holds for groups of at least {about}; smaller groups have wider ones."},
	{"reach.one_most", "The margin holds where at least {about} {about|record counts|records count}. How many records the table has is not " +
		"public; they are at most {records}."},
	{"reach.groups_most", "The margin holds for groups of at least {about} {about|record|records}; smaller groups have wider ones. How " +
		"many records the table has is not public; they are at most {records}."},
	{"reach.where", "The margin holds for at least {about} {about|record that meets|records that meet} the condition in a group; smaller " +
		"groups have wider ones. How many meet it is not public."},
	{
		"miss.one_most",
		"The table has at most {records} {records|record|records}, fewer than the {about} for which the margin holds: the answer will miss it.",
	},
	{"miss.one", "A group of the average size has about {mean} {mean|record|records}, fewer than the {about} for which the margin holds: " +
		"the answer will probably miss it."},
	{"miss.groups_most", "The table has at most {records} {records|record|records}: at most {most} of the {groups} {groups|group|groups} " +
		"can have the {about} for which the margin holds, and the others miss it."},
	{"miss.groups", "A group of the average size has {mean} {mean|record|records}, fewer than the {about} for which the margin holds: at " +
		"most about {most} of the {groups} {groups|group|groups} can keep it, and the others will miss it."},
	{
		"miss.nothing",
		"At this cost the noise is as wide as the bounds for a group of {about} {about|record|records}: the answer will say nothing about it.",
	},
	{
		"reach.rank",
		"In a group of {about} {about|record|records} that is between percentiles {lo} and {hi} of the values. No margin of values is stated.",
	},
	{
		"miss.rank",
		"At this cost the value of a group of {about} {about|record|records} may have any rank: the answer will say nothing about it.",
	},
	{
		"miss.count",
		"The noise moves a value by up to {within}, and the table has at most {records} {records|record|records}: the answer will say nothing.",
	},
	{"miss.count_groups", "The noise moves a value by up to {within}, and a group of the average size, of {groups}, has {mean} " +
		"{mean|record|records}: most values will say nothing."},
	{"miss.count_guess", "The noise moves a value by up to {within}: of fewer records than that, the answer will say nothing. How many the " +
		"table has is not public."},
	{"miss.sum_guess", "The noise moves the sum by up to {within}, as much as {records} records between the bounds can add up to: of fewer " +
		"records, the answer will say nothing. How many the table has is not public."},
	{"miss.sum", "The noise moves the sum by up to {within}, as much as all records between the bounds can add up to, and these are at " +
		"most {records}: the answer will say nothing."},
	{"miss.unlisted", "{other} {n|is|are} not among the public values of {column}: {public}.[near? Did you mean {near}?] Perhaps no record " +
		"has {n|it|them}, and then an answer about {n|it|them} alone is only noise."},
	{"time.outliers", "The estimate of time of a count of outliers was compared with measurements up to {above} records, and this table " +
		"may have more: on a server, a reply that misses its time class may tell something about the data that the cost does not cover."},
	{"time.ratio", "The time of this answer is not bounded by a measured estimate: on a server, a reply that misses its time class may " +
		"tell something about the data that the cost does not cover."},
	// how to read an answer
	{"care.rows_low", "At most {rows} {rows|record|records} of one {unit} {rows|counts|count}: the figure of all records can be higher " +
		"than the interval, however narrow it is."},
	{"care.rows", "At most {rows} {rows|record|records} of one {unit} {rows|counts|count}: the figure of all records can lie outside of " +
		"the interval, however narrow it is."},
	{"care.rows_rank", "At most {rows} {rows|record|records} of one {unit} {rows|counts|count}: the figure of all records can be another."},
	{"care.moved", "Values below {lo} count as {lo} and values above {hi} as {hi}: the figure of the values as they are can lie outside of " +
		"the interval, however narrow it is."},
	{"care.box", "A value outside of the box of its column counts as the nearer bound: a record far outside of it can have neighbours " +
		"there, and is then no outlier."},
	{"care.rank", "Its error is of the rank and not of the value: with confidence {at} it is at most {within} {within|record|records}. No " +
		"interval of values is stated."},
	{"care.bounds", "{count} of {of} {of|value|values} {count|says nothing: its interval is|say nothing: their intervals are} the whole of " +
		"the bounds, {lo} to {hi}."},
	{"care.none", "{count} of {of} {of|value|values} {count|is|are} missing: too few records for a value."},
	{"care.wide", "{count} of {of} {of|value|values} {count|has|have} a wider margin than the {within} that was stated before: {count|its " +
		"group is|their groups are} smaller than the guess."},
	{
		"care.negative",
		"{count} of {of} {of|count|counts} {count|is|are} below 0: noise was added to small counts. Sums of them stay right on average.",
	},
	{"care.hidden_bias", "The error does not contain {what:text}."},
	{"care.fit", "{finding:sentence}."},
	{"care.differences", "Two values differ only if they lie further apart than their margins together."},
	// changes by which a request would fit
	{"change.margin", "A margin of {to} instead of {from} in question {question}"},
	{"change.pay", "Pay {to} instead of {from} for question {question}"},
	{"change.bounds", "Bounds of {lo} to {hi} in question {question}, with the same margin"},
	{"change.by", "All groups together, without {by}, in question {question}"},
	{"change.drop", "Without question {question}"},
}

// marginMessages say how far the noise moves an answer, by all that a margin depends on.
func marginMessages() []message {
	all := []message{
		{"promise.none", "No bound on the error is known before the answer."},
	}
	for _, of := range []message{
		{"promise.value", "Off by at most {within} with confidence {at}"},
		{"promise.rank", "Its rank is off by at most {within} {within|record|records} with confidence {at}"},
	} {
		for bits := range 8 {
			m := of
			for i, more := range []message{
				{"_about", ", in a group of at least {about} {about|record|records}"},
				{"_guess", ", if the guess of the local sensitivity is right"},
				{"_each", "; each of the {cells} {cells|value|values} by itself, all at once with confidence {all_at}"},
			} {
				if bits&(1<<i) != 0 {
					m.code, m.english = m.code+more.code, m.english+more.english
				}
			}
			m.english += "."
			all = append(all, m)
		}
	}
	return all
}

// messageWords are the sets of words of ours that are arguments, by the set and the word. A unit
// is never a column of the name record.
var messageWords = map[string]string{
	"kind.e-mail addresses":                        "e-mail addresses",
	"kind.bank account numbers (IBAN)":             "bank account numbers (IBAN)",
	"kind.web addresses":                           "web addresses",
	"kind.network addresses":                       "network addresses",
	"kind.national identification numbers":         "national identification numbers",
	"kind.Japanese individual numbers (My Number)": "Japanese individual numbers (My Number)",
	"kind.payment card numbers":                    "payment card numbers",
	"kind.Japanese insurer numbers":                "Japanese insurer numbers",
	"kind.telephone numbers":                       "telephone numbers",
	"kind.postal addresses":                        "postal addresses",
	"kind.initials":                                "initials",
	"kind.names of persons":                        "names of persons",
	"kind.dates of birth":                          "dates of birth",
	"kind.contact data of several kinds":           "contact data of several kinds",
	"kind.free text":                               "free text",
	"unit.record":                                  "record",
	"counted.records":                              "records",
	"counted.persons":                              "persons",
	"times.over 1,000,000":                         "over 1,000,000",
	"neighbours.add-remove":                        "is in the table or not",
	"neighbours.replace-one":                       "is in the table or another in its place",
}

// MessageWords are the words of messages: the context of their translation, and the word in English.
func MessageWords() [][2]string {
	var all [][2]string
	for key, word := range messageWords {
		set, _, _ := strings.Cut(key, ".")
		all = append(all, [2]string{"word " + set, word})
	}
	return all
}

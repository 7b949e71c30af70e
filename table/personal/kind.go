package personal

import (
	"fmt"

	"github.com/noren-privacy/noren"
)

// Kind is a kind of personal identifier.
type Kind uint8

// The kinds, the more specific ones first.
const (
	None Kind = iota
	Email
	IBAN
	URL
	IP
	NationalNumber
	MyNumber
	Card
	Insurer
	Phone
	Address
	Initials
	Name
	BirthDate
	Contact
	FreeText
	kinds
)

var kindNames = [...]noren.Phrase{
	None: "none", Email: "e-mail addresses", IBAN: "bank account numbers (IBAN)", URL: "web addresses", IP: "network addresses",
	NationalNumber: "national identification numbers", MyNumber: "Japanese individual numbers (My Number)", Card: "payment card numbers",
	Insurer: "Japanese insurer numbers", Phone: "telephone numbers", Address: "postal addresses", Initials: "initials",
	Name: "names of persons", BirthDate: "dates of birth", Contact: "contact data of several kinds", FreeText: "free text",
}

// String names k in the plural: "telephone numbers".
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return string(kindNames[k])
	}
	return fmt.Sprintf("kind(%d)", k)
}

// plural is String as a text.
func (k Kind) plural() noren.Phrase { return kindNames[min(int(k), len(kindNames)-1)] }

// set is a set of kinds.
type set uint32

func (s set) has(k Kind) bool { return s&(1<<k) != 0 }

func (s *set) add(k Kind, holds bool) {
	if holds {
		*s |= 1 << k
	}
}

// Finding says what a column seems to hold.
type Finding struct {
	Kind Kind
	// ByHeader tells that the column's name says so, ByValues that its values
	// do. One of them is set at least.
	ByHeader, ByValues bool
	// Share is the share of the values that match, 0 where none was asked for.
	// It is computed from private data.
	Share float64
}

// Reason says why in a sentence that holds no figure of the table and no value.
func (f Finding) Reason() noren.Text {
	switch {
	case f.ByHeader && f.ByValues:
		return noren.Textf("its name and its values look like %s", f.Kind.plural())
	case f.ByHeader:
		return noren.Textf("its name says that it holds %s", f.Kind.plural())
	}
	return noren.Textf("its values look like %s", f.Kind.plural())
}

// Rule is how many values of a column must match for its kind to be found.
type Rule struct {
	Kind Kind
	// Share of the values, each record counted; and of the different values.
	Share, DistinctShare float64
	// Distinct is the least number of different values that match.
	Distinct int
	// Numbers says that the shares are of the values that are digits alone, which
	// must be half of all: check digits are looked for among numbers.
	Numbers bool
}

// Rules are the rules by which single values are counted. Kinds whose form alone
// is beyond coincidence need few matches: an e-mail address in one of a hundred
// comments is one too many. Check digits hold by chance for one number in ten,
// so that nearly all must hold.
func Rules() []Rule {
	return []Rule{
		{Email, 0.01, 0, 1, false},
		{IBAN, 0.05, 0, 1, false},
		{URL, 0.05, 0, 1, false},
		{IP, 0.5, 0.5, 2, false},
		{NationalNumber, 0.5, 0.5, 2, false},
		{MyNumber, 0.9, 0.9, 3, true},
		{Card, 0.9, 0.9, 3, true},
		{Insurer, 0.9, 0.9, 3, true},
		{Phone, 0.3, 0.3, 2, false},
		{Address, 0.3, 0.3, 2, false},
		{Initials, 0.6, 0.6, 3, false},
	}
}

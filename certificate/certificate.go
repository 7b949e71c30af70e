package certificate

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"strings"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
)

// Format is the form that this package writes. [Format1] is read and checked as
// well.
const Format = "noren.certificate/2"

// Format1 is the first form. It states neither a schema nor a query.
const Format1 = "noren.certificate/1"

// Accounting says whether a release was charged to a budget.
type Accounting string

const (
	// Charged: the cost was reserved in a ledger before data was read.
	Charged Accounting = "charged"
	// Unaccounted: a differentially private release that was charged to no ledger.
	// Its guarantee covers this release only and does not compose with others.
	Unaccounted Accounting = "unaccounted"
	// NoBudget: the guarantee's model has nothing to add up (k-anonymity).
	NoBudget Accounting = "no-budget"
)

// Certificate is what is stated and signed. Every field but those said to be
// optional is required.
type Certificate struct {
	// Format is set by [Sign].
	Format string `json:"format"`
	// Released is what was released.
	Released Released `json:"released"`
	// Mechanism is how it was made.
	Mechanism Mechanism `json:"mechanism"`
	// Guarantee is the guarantee of the release.
	Guarantee  noren.Guarantee `json:"guarantee"`
	Accounting Accounting      `json:"accounting"`
	// Source is the private data set and how it was read. Required for answers of
	// differential privacy, optional otherwise.
	Source *Source `json:"source,omitempty"`
	// Analyst is the analyst of the query. Required with [Charged].
	Analyst *Analyst `json:"analyst,omitempty"`
	// RequestSHA256 identifies the whole query: data set, definition, version
	// and mechanism with all its parameters. Required with [Charged] and
	// [Unaccounted].
	RequestSHA256 string `json:"request_sha256,omitempty"`
	// Charge is required with [Charged], and forbidden otherwise.
	Charge *Charge `json:"charge,omitempty"`
	// Notes are further public facts in plain sentences; optional.
	Notes []string `json:"notes,omitempty"`
	Tool  Tool     `json:"tool"`
	// Time of the release: RFC 3339 in UTC, to the second (see [Time]).
	Time string `json:"time"`
}

// Kinds of what is released.
const (
	// KindFile: the bytes are those of a file.
	KindFile = "file"
	// KindAnswer: the bytes are those of an answer.
	KindAnswer = "answer"
	// KindTable: the bytes are the canonical form of a table of a database, whatever the order
	// of its records (SumRecords of package table).
	KindTable = "table"
)

// Released names what was released by its plain SHA-256.
type Released struct {
	Kind   string `json:"kind"`           // one of [KindFile], [KindAnswer] and [KindTable]
	Name   string `json:"name,omitempty"` // the own name of the released file or table; optional
	SHA256 string `json:"sha256"`         // 64 hexadecimal digits in lower case
	Size   int64  `json:"size"`           // bytes
}

// Mechanism is the way a release was computed.
type Mechanism struct {
	Name string `json:"name"`
	// Parameters is a JSON object of public parameters only; optional.
	Parameters json.RawMessage `json:"parameters,omitempty"`
}

// Source is the private data set: its name and version in the ledger, the
// schema under which it was read, and its keyed fingerprint. An unaccounted
// release has no name, version or fingerprint.
type Source struct {
	Dataset string `json:"dataset,omitempty"`
	Version int64  `json:"version,omitempty"` // from 1
	// DefinitionSHA256 identifies the data set's definition.
	DefinitionSHA256 string `json:"definition_sha256,omitempty"`
	Fingerprint      string `json:"fingerprint,omitempty"` // "hmac-sha256:" and 64 hexadecimal digits
	// Reading is a JSON object: the reading rule, the missing texts and the
	// definitions of the columns that were read.
	Reading json.RawMessage `json:"reading,omitempty"`
	// ModelSHA256 identifies the model of dependence of the data set; optional.
	ModelSHA256 string `json:"model_sha256,omitempty"`
}

// Identity says how the name of an analyst was established.
type Identity string

const (
	// Declared: the analyst gave the name, and nothing checked it.
	Declared Identity = "declared"
	// Authenticated: a server signed the analyst in under this name.
	Authenticated Identity = "authenticated"
)

// Analyst is the analyst of a query.
type Analyst struct {
	Name     string   `json:"name"`
	Identity Identity `json:"identity"`
}

// Charge is the entry of the budget ledger for the release.
type Charge struct {
	Ledger string `json:"ledger"` // the ledger's id
	ID     string `json:"id"`     // the charge's id
	Link   int64  `json:"link"`   // its place in the ledger's hash chain, from 1
	Head   string `json:"head"`   // the chain's head there: 64 hexadecimal digits
	// Accounts are the ledger's numbers of the accounts that were charged.
	Accounts []int64 `json:"accounts"`
	// EpsilonNano and DeltaAtto are the cost in units of 1e-9 and 1e-18. They
	// are written as strings: 1e18 is beyond what JSON readers agree on.
	EpsilonNano int64 `json:"epsilon_nano,string"`
	DeltaAtto   int64 `json:"delta_atto,string"`
	// Accounting is "zcdp" where the budget adds up losses in zCDP, and absent
	// otherwise. The charge is then RhoFemto, in units of 1e-15; EpsilonNano is the sum
	// of the epsilons of the parts of the answer that are private without a delta, and
	// GaussianFemto the share of the other parts in RhoFemto, absent where it is 0.
	Accounting    account.Accounting `json:"accounting,omitempty"`
	RhoFemto      account.Rho        `json:"rho_femto,string,omitempty"`
	GaussianFemto account.Rho        `json:"gaussian_femto,string,omitempty"`
}

// Tool is the program that made the release.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Time writes t as a certificate does.
func Time(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Table describes a table of a database that is released, without its name: by the SHA-256 and
// the size of its canonical form.
func Table(sum [sha256.Size]byte, size int64) Released {
	return Released{Kind: KindTable, SHA256: hex.EncodeToString(sum[:]), Size: size}
}

// Answer describes an answer that is released as bytes, not as a file.
func Answer(payload []byte) Released {
	return Released{Kind: KindAnswer, SHA256: sha256Hex(payload), Size: int64(len(payload))}
}

func isHash(s string) bool {
	raw, err := hex.DecodeString(s)
	return err == nil && len(raw) == 32 && strings.ToLower(s) == s
}

// validate lists everything that c lacks or contradicts.
func (c *Certificate) validate() error {
	var faults noren.Texts
	fault := func(bad bool, format noren.Format, args ...any) {
		if bad {
			faults = append(faults, noren.Textf(format, args...))
		}
	}
	fault(c.Format != Format && c.Format != Format1, "its format is neither %s nor %s", Format, Format1)
	known := c.Released.Kind == KindFile || c.Released.Kind == KindAnswer || c.Released.Kind == KindTable && c.Format == Format
	fault(!known, `released.kind is none of "file", "answer" and "table"`)
	fault(!isHash(c.Released.SHA256), "released.sha256 is not 64 hexadecimal digits")
	fault(c.Released.Size < 0, "released.size is negative")
	fault(strings.ContainsAny(c.Released.Name, `/\`), "released.name is a path, not a name")
	fault(c.Mechanism.Name == "", "mechanism.name is missing")
	p := strings.TrimSpace(string(c.Mechanism.Parameters))
	fault(p != "" && p[0] != '{', "mechanism.parameters is not an object")
	fault(c.Tool.Name == "" || c.Tool.Version == "", "tool.name or tool.version is missing")
	t, err := time.Parse(time.RFC3339, c.Time)
	fault(err != nil || Time(t) != c.Time, "time is not RFC 3339 in UTC to the second")
	if s := c.Source; s != nil {
		keyed, ok := strings.CutPrefix(s.Fingerprint, "hmac-sha256:")
		fault(s.Fingerprint != "" && (!ok || !isHash(keyed)), "source.fingerprint is not hmac-sha256: and 64 hexadecimal digits")
	}
	if c.Format == Format1 {
		c.validateForm1(fault)
	} else {
		c.validateForm2(fault)
	}
	c.validateGuarantee(fault)
	if len(faults) == 0 {
		return nil
	}
	return &noren.Error{Kind: noren.BadData, Where: "certificate", What: "%s", Args: []any{faults}}
}

// StatesSchema reports whether c says how the private table was read. Form 1
// does not: its guarantee holds for the column types that its query declared.
func (c *Certificate) StatesSchema() bool { return c.Source != nil && len(c.Source.Reading) > 0 }

func (c *Certificate) validateForm1(fault func(bool, noren.Format, ...any)) {
	fault(c.Analyst != nil || c.RequestSHA256 != "", "analyst and request_sha256 are not of form %s", Format1)
	if s := c.Source; s != nil {
		fault(s.Dataset == "", "source.dataset is missing")
		fault(s.Version != 0 || s.DefinitionSHA256 != "" || len(s.Reading) > 0 || s.ModelSHA256 != "",
			"the source states a schema, which is not of form %s", Format1)
	}
}

func (c *Certificate) validateForm2(fault func(bool, noren.Format, ...any)) {
	if s := c.Source; s != nil {
		fault(s.DefinitionSHA256 != "" && !isHash(s.DefinitionSHA256), "source.definition_sha256 is not 64 hexadecimal digits")
		fault(s.ModelSHA256 != "" && !isHash(s.ModelSHA256), "source.model_sha256 is not 64 hexadecimal digits")
		reading := strings.TrimSpace(string(s.Reading))
		fault(reading != "" && reading[0] != '{', "source.reading is not an object")
		fault(s.Version < 0, "source.version is negative")
	}
	if a := c.Analyst; a != nil {
		fault(a.Name == "", "analyst.name is missing")
		fault(a.Identity != Declared && a.Identity != Authenticated, "analyst.identity is neither %q nor %q", Declared, Authenticated)
	}
	fault(c.RequestSHA256 != "" && !isHash(c.RequestSHA256), "request_sha256 is not 64 hexadecimal digits")
	if c.Accounting == NoBudget {
		return
	}
	fault(c.RequestSHA256 == "", "request_sha256 is missing")
	s := c.Source
	if s == nil {
		fault(true, "source is missing")
		return
	}
	fault(s.DefinitionSHA256 == "" || len(s.Reading) == 0, "source.definition_sha256 or source.reading is missing")
	charged := c.Accounting == Charged
	fault(charged && (s.Dataset == "" || s.Version == 0 || s.Fingerprint == ""),
		"source.dataset, source.version or source.fingerprint is missing")
	fault(!charged && (s.Dataset != "" || s.Version != 0 || s.Fingerprint != ""), "an unaccounted release names a data set of a ledger")
	fault(charged && c.Analyst == nil, "analyst is missing")
}

func (c *Certificate) validateGuarantee(fault func(bool, noren.Format, ...any)) {
	g := &c.Guarantee
	fault(g.Model == "", "guarantee.model is missing")
	fault(!(g.Epsilon >= 0) || math.IsInf(g.Epsilon, 0), "guarantee.epsilon is not a finite number from 0")
	fault(!(g.Delta >= 0 && g.Delta <= 1), "guarantee.delta is not within 0 and 1")
	private := g.Epsilon > 0 || g.Delta > 0
	fault(private && (g.Neighbours == "" || g.Unit == ""),
		"guarantee.neighbours or guarantee.unit is missing, without which epsilon means nothing")
	switch c.Accounting {
	case Charged:
		fault(c.Charge == nil, "charge is missing from a release that was charged")
	case Unaccounted, NoBudget:
		fault(c.Charge != nil, "charge is stated for a release that was not charged")
		fault(private && c.Accounting == NoBudget, "a guarantee with an epsilon is either charged or unaccounted")
	default:
		fault(true, "accounting is none of charged, unaccounted, no-budget")
	}
	ch := c.Charge
	if ch == nil {
		return
	}
	fault(ch.Ledger == "" || ch.ID == "", "charge.ledger or charge.id is missing")
	fault(ch.Link < 1, "charge.link is not from 1")
	fault(!isHash(ch.Head), "charge.head is not 64 hexadecimal digits")
	fault(len(ch.Accounts) == 0, "charge.accounts is empty")
	fault(ch.EpsilonNano < 0 || ch.DeltaAtto < 0, "charge is negative")
	fault(c.Source == nil, "source is missing from a release that was charged")
	// A charge below the guarantee would give budget away. The figures are
	// doubles on one side and integers on the other: one part in 1e12 and one
	// unit are left for the conversion.
	const slack = 1 - 1e-12
	if ch.Accounting == "" {
		fault(ch.RhoFemto != 0 || ch.GaussianFemto != 0, "the charge states a rho and not the accounting zcdp")
		fault(g.Epsilon*1e9*slack > float64(ch.EpsilonNano)+1, "less epsilon was charged than is guaranteed")
		fault(g.Delta*1e18*slack > float64(ch.DeltaAtto)+1, "less delta was charged than is guaranteed")
		return
	}
	fault(ch.Accounting != account.ZCDP, "charge.accounting is not zcdp")
	fault(ch.DeltaAtto != 0, "the charge in zCDP has a delta")
	loss := account.Loss{Rho: ch.RhoFemto, Pure: ch.EpsilonNano, Gaussian: ch.GaussianFemto}
	fault(loss.Validate() != nil, "the parts of charge.rho_femto do not add up")
	// Without a delta the guarantee is that of the pure parts; with one, a part must be
	// charged for it.
	fault(g.Delta == 0 && g.Epsilon*1e9*slack > float64(ch.EpsilonNano)+1, "less epsilon was charged than is guaranteed")
	fault(g.Delta > 0 && ch.GaussianFemto == 0, "less delta was charged than is guaranteed")
}

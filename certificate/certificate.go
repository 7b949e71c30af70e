package certificate

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"noren"
)

// Format is the version of the form this package writes and reads.
const Format = "noren.certificate/1"

// Accounting says how a release stands to a budget.
type Accounting string

const (
	// Charged: the cost was reserved in a ledger before data was read.
	Charged Accounting = "charged"
	// Unaccounted: a release of differential privacy that no ledger knows of.
	// Its guarantee holds for this release alone: nothing bounds what it adds
	// up to with others.
	Unaccounted Accounting = "unaccounted"
	// NoBudget: the guarantee's model has nothing to add up (k-anonymity).
	NoBudget Accounting = "no-budget"
)

// Certificate is what is stated and signed. Every field but those said to be
// optional is required.
type Certificate struct {
	// Format is set by [Sign].
	Format string `json:"format"`
	// Released is what left.
	Released Released `json:"released"`
	// Mechanism is how it was made.
	Mechanism Mechanism `json:"mechanism"`
	// Guarantee is what is promised.
	Guarantee  noren.Guarantee `json:"guarantee"`
	Accounting Accounting      `json:"accounting"`
	// Source is the private data set; optional.
	Source *Source `json:"source,omitempty"`
	// Charge is required with [Charged], and forbidden otherwise.
	Charge *Charge `json:"charge,omitempty"`
	// Notes are further public facts in plain sentences; optional.
	Notes []string `json:"notes,omitempty"`
	Tool  Tool     `json:"tool"`
	// Time of the release: RFC 3339 in UTC, to the second (see [Time]).
	Time string `json:"time"`
}

// Released names what left by its plain SHA-256.
type Released struct {
	Kind   string `json:"kind"`           // "file" or "answer"
	Name   string `json:"name,omitempty"` // the released file's own name; optional
	SHA256 string `json:"sha256"`         // 64 hexadecimal digits in lower case
	Size   int64  `json:"size"`           // bytes
}

// Mechanism is the way a release was computed.
type Mechanism struct {
	Name string `json:"name"`
	// Parameters is a JSON object of public parameters only; optional.
	Parameters json.RawMessage `json:"parameters,omitempty"`
}

// Source is the private data set as the steward named it, and its keyed
// fingerprint.
type Source struct {
	Dataset     string `json:"dataset"`
	Fingerprint string `json:"fingerprint,omitempty"` // "hmac-sha256:" and 64 hexadecimal digits
}

// Charge is the entry of the budget ledger that paid for the release.
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
}

// Tool is the program that made the release.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Time writes t as a certificate does.
func Time(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Answer describes an answer that is handed out as bytes, not as a file.
func Answer(payload []byte) Released {
	return Released{Kind: "answer", SHA256: sha256Hex(payload), Size: int64(len(payload))}
}

func isHash(s string) bool {
	raw, err := hex.DecodeString(s)
	return err == nil && len(raw) == 32 && strings.ToLower(s) == s
}

// validate lists everything that c lacks or contradicts.
func (c *Certificate) validate() error {
	var faults []string
	fault := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Sprintf(format, args...))
		}
	}
	fault(c.Format != Format, "its format is not %s", Format)
	fault(c.Released.Kind != "file" && c.Released.Kind != "answer", `released.kind is neither "file" nor "answer"`)
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
		fault(s.Dataset == "", "source.dataset is missing")
		fault(s.Fingerprint != "" && (!ok || !isHash(keyed)), "source.fingerprint is not hmac-sha256: and 64 hexadecimal digits")
	}
	c.validateGuarantee(fault)
	if len(faults) == 0 {
		return nil
	}
	return &noren.Error{Kind: noren.BadData, Where: "certificate", What: strings.Join(faults, "; ")}
}

func (c *Certificate) validateGuarantee(fault func(bool, string, ...any)) {
	g := &c.Guarantee
	fault(g.Model == "", "guarantee.model is missing")
	fault(!(g.Epsilon >= 0) || math.IsInf(g.Epsilon, 0), "guarantee.epsilon is not a finite number from 0")
	fault(!(g.Delta >= 0 && g.Delta <= 1), "guarantee.delta is not within 0 and 1")
	private := g.Epsilon > 0 || g.Delta > 0
	fault(private && (g.Neighbours == "" || g.Unit == ""), "guarantee.neighbours or guarantee.unit is missing, without which epsilon means nothing")
	switch c.Accounting {
	case Charged:
		fault(c.Charge == nil, "charge is missing from a release that was charged")
	case Unaccounted, NoBudget:
		fault(c.Charge != nil, "charge stands in a release that was not charged")
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
	fault(g.Epsilon*1e9*slack > float64(ch.EpsilonNano)+1, "less epsilon was charged than is guaranteed")
	fault(g.Delta*1e18*slack > float64(ch.DeltaAtto)+1, "less delta was charged than is guaranteed")
}

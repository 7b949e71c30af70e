package service_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/internal/meter/metertest"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/query"
	"github.com/noren-privacy/noren/service"
)

// exported is a ledger with two data sets, one of them in zCDP, and its export.
func exported(t *testing.T) (s *stage, lines []string) {
	t.Helper()
	s = zcdpStage(t)
	ctx := t.Context()
	r := s.people(t)
	r.Dataset, r.Table.OtherPeople = "epsilons", true
	r.Table.File = s.write(t, "other.csv", "age,city\n50,Nara\n51,Kobe\n")
	_, err := s.LedgerGrant(ctx, r)
	must(t, err)
	for _, dataset := range []string{"people", "epsilons"} {
		q := &api.LedgerGrantAnalystRequest{Dataset: dataset, Analyst: "ana", Epsilon: "0.5"}
		if dataset == "people" {
			q.Epsilon, q.Rho = "", "0.2"
		}
		_, err := s.LedgerGrantAnalyst(ctx, q)
		must(t, err)
		for _, epsilon := range []string{"0.1", "0.2"} {
			q := count(epsilon, "", "")
			q.Dataset = dataset
			_, err := s.Query(ctx, q)
			must(t, err)
		}
	}
	_, err = s.Query(ctx, count("0.3", "1e-6", query.Gaussian))
	must(t, err)
	_, err = s.LedgerRaise(ctx, &api.LedgerRaiseRequest{Dataset: "people", Rho: "0.6"})
	must(t, err)
	path := filepath.Join(s.dir, "book.jsonl")
	out, err := s.LedgerExport(ctx, &api.LedgerExportRequest{Output: path})
	must(t, err)
	if out.Answers != 5 || out.KeyID != certificate.KeyID(s.key.Public().(ed25519.PublicKey)) {
		t.Fatalf("%+v", out)
	}
	if _, err := s.LedgerExport(ctx, &api.LedgerExportRequest{Output: path}); err == nil {
		t.Error("an export replaced a file")
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	text, err := os.ReadFile(path)
	must(t, err)
	var stream bytes.Buffer
	_, err = s.LedgerExport(ctx, &api.LedgerExportRequest{To: &stream})
	must(t, err)
	if stream.Len() < len(text)-10 {
		t.Error("the stream is shorter than the file")
	}
	if strings.Contains(string(text), s.dir) || strings.Contains(string(text), ".csv") {
		t.Error("the export holds a path of this machine")
	}
	lines = strings.SplitAfter(string(text), "\n")
	return s, lines[:len(lines)-1]
}

type (
	fields = map[string]any
	object struct{ fields }
)

func parsed(t *testing.T, line string) fields {
	t.Helper()
	var f fields
	dec := json.NewDecoder(strings.NewReader(line))
	dec.UseNumber()
	must(t, dec.Decode(&f))
	return f
}

// The order of the fields of each kind of line.
var orders = [][]string{
	{"format", "ledger", "tool"},
	{"entry", "kind", "body", "prev", "hash"},
	{"entry", "kind", "body", "prev", "hash", "paths"},
	{"answer_of", "charge", "payload", "certificate", "key_id"},
	{"end", "signature"},
	{"ledger", "entries", "answers", "head", "sha256", "time"},
	{"algorithm", "key_id", "public_key", "value"},
	{"name", "version"},
}

func (o object) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for _, order := range orders {
		if _, ok := o.fields[order[0]]; !ok || len(order) != len(o.fields) {
			continue
		}
		if _, ok := o.fields[order[len(order)-1]]; !ok {
			continue
		}
		for i, name := range order {
			if i > 0 {
				out.WriteByte(',')
			}
			v := o.fields[name]
			if f, ok := v.(fields); ok {
				v = object{f}
			}
			key, _ := json.Marshal(name)
			value, err := json.Marshal(v)
			if err != nil {
				return nil, err
			}
			out.Write(key)
			out.WriteByte(':')
			out.Write(value)
		}
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// edit changes the fields of a line.
func edit(t *testing.T, line string, change func(fields)) string {
	t.Helper()
	f := parsed(t, line)
	change(f)
	text, err := json.Marshal(object{f})
	must(t, err)
	return string(text) + "\n"
}

// relink gives every entry the hash and the predecessor that fit.
func relink(t *testing.T, lines []string) []string {
	t.Helper()
	prev, n := make([]byte, 32), uint64(0)
	out := slices.Clone(lines)
	for i, line := range out {
		f := parsed(t, line)
		if f["answer_of"] != nil {
			out[i] = edit(t, line, func(f fields) { f["answer_of"] = n })
			continue
		}
		if f["entry"] == nil {
			continue
		}
		n++
		h := sha256.New()
		if paths, ok := f["paths"].(string); ok {
			commitment, err := hex.DecodeString(paths)
			must(t, err)
			h.Write([]byte("noren.ledger.link/2\x00"))
			h.Write(commitment)
		} else {
			h.Write([]byte("noren.ledger.link/1\x00"))
		}
		h.Write(binary.BigEndian.AppendUint64(nil, n))
		h.Write(prev)
		h.Write([]byte(f["kind"].(string)))
		h.Write([]byte{0})
		h.Write([]byte(f["body"].(string)))
		sum := h.Sum(nil)
		f["entry"], f["prev"], f["hash"] = n, hex.EncodeToString(prev), hex.EncodeToString(sum)
		text, err := json.Marshal(object{f})
		must(t, err)
		out[i], prev = string(text)+"\n", sum
	}
	return out
}

// resign makes the end fit the lines, under key.
func resign(t *testing.T, lines []string, key ed25519.PrivateKey) []string {
	t.Helper()
	body := lines[:len(lines)-1]
	type end struct {
		Ledger  string `json:"ledger"`
		Entries int64  `json:"entries"`
		Answers int64  `json:"answers"`
		Head    string `json:"head"`
		SHA256  string `json:"sha256"`
		Time    string `json:"time"`
	}
	e := end{Time: "2026-01-01T00:00:00Z"}
	for _, line := range body {
		f := parsed(t, line)
		switch {
		case f["entry"] != nil:
			e.Entries++
			e.Head = f["hash"].(string)
		case f["answer_of"] != nil:
			e.Answers++
		default:
			e.Ledger = f["ledger"].(string)
		}
	}
	sum := sha256.Sum256([]byte(strings.Join(body, "")))
	e.SHA256 = hex.EncodeToString(sum[:])
	signature, err := certificate.SignStatement(key, api.LedgerExportSchema, e)
	must(t, err)
	text, err := json.Marshal(struct {
		End       end                   `json:"end"`
		Signature certificate.Signature `json:"signature"`
	}{e, signature})
	must(t, err)
	return append(slices.Clone(body), string(text)+"\n")
}

// Every change is found and named, whether or not the changer mended the hashes or signed
// the end anew.
func TestCheckExport(t *testing.T) {
	randtest.SkipShort(t)
	s, lines := exported(t)
	id := certificate.KeyID(s.key.Public().(ed25519.PublicKey))
	check := func(t *testing.T, lines []string) *api.LedgerExportCheck {
		t.Helper()
		out, err := service.CheckExport(t.Context(), strings.NewReader(strings.Join(lines, "")), id)
		must(t, err)
		return out
	}
	sound := check(t, lines)
	if !sound.Sound || !sound.Trusted || sound.Answers != 5 || sound.Charges != 5 || sound.Entries != 16 {
		t.Fatalf("%+v", sound)
	}
	if sound.Unbound != 0 {
		t.Errorf("%d grants are not bound by their hash", sound.Unbound)
	}
	if again := check(t, resign(t, relink(t, lines), s.key)); !again.Sound {
		t.Fatalf("the helpers of this test do not keep an export: %+v", again.Faults)
	}
	stranger := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))

	// The places of the charges, releases and answers.
	var charges, releases, answers, grants []int
	for i, line := range lines {
		f := parsed(t, line)
		switch {
		case f["kind"] == "charge":
			charges = append(charges, i)
		case f["kind"] == "release":
			releases = append(releases, i)
		case f["kind"] == "grant":
			grants = append(grants, i)
		case f["answer_of"] != nil:
			answers = append(answers, i)
		}
	}
	body := func(i int, old, new string) func([]string) []string {
		return func(l []string) []string {
			l[i] = edit(t, l[i], func(f fields) {
				text := f["body"].(string)
				if !strings.Contains(text, old) {
					t.Fatalf("%q is not in %s", old, text)
				}
				f["body"] = strings.Replace(text, old, new, 1)
			})
			return l
		}
	}
	answer := func(i int, change func(fields)) func([]string) []string {
		return func(l []string) []string {
			l[i] = edit(t, l[i], change)
			return l
		}
	}
	mended := func(change func([]string) []string) func([]string) []string {
		return func(l []string) []string { return resign(t, relink(t, change(l)), s.key) }
	}
	signed := func(change func([]string) []string) func([]string) []string {
		return func(l []string) []string { return resign(t, change(l), s.key) }
	}
	drop := func(i, n int) func([]string) []string {
		return func(l []string) []string { return slices.Delete(l, i, i+n) }
	}
	swap := func(i, j int) func([]string) []string {
		return func(l []string) []string { l[i], l[j] = l[j], l[i]; return l }
	}
	entryOf := func(i int) int64 {
		f := parsed(t, lines[i])
		n, ok := f["entry"].(json.Number)
		if !ok {
			n = f["answer_of"].(json.Number)
		}
		v, err := n.Int64()
		must(t, err)
		return v
	}
	withCertificate := func(i int, change func(*certificate.Certificate)) func([]string) []string {
		return answer(i, func(f fields) {
			c, err := certificate.Parse([]byte(f["certificate"].(string)))
			must(t, err)
			change(&c.Certificate)
			c, err = certificate.Sign(s.key, c.Certificate)
			must(t, err)
			text, err := c.Encode()
			must(t, err)
			f["certificate"] = string(text)
		})
	}
	// restored makes the release entry before an answer fit the answer's line.
	restored := func(change func([]string) []string) func([]string) []string {
		return mended(func(l []string) []string {
			l = change(l)
			for i, line := range l {
				f := parsed(t, line)
				if f["answer_of"] == nil {
					continue
				}
				l[i-1] = edit(t, l[i-1], func(e fields) {
					b := parsed(t, e["body"].(string))
					payload, stored := sha256.Sum256([]byte(f["payload"].(string))), sha256.Sum256([]byte(f["certificate"].(string)))
					old := e["body"].(string)
					old = strings.Replace(old, b["payload_sha256"].(string), hex.EncodeToString(payload[:]), 1)
					e["body"] = strings.Replace(old, b["signature_sha256"].(string), hex.EncodeToString(stored[:]), 1)
				})
			}
			return l
		})
	}
	for name, c := range map[string]struct {
		change func([]string) []string
		entry  int64
		want   string
	}{
		"cost of a charge": {
			body(charges[0], `"rho_femto":5000000000000`, `"rho_femto":4000000000000`), entryOf(charges[0]),
			"hash does not fit",
		},
		"cost, hashes mended": {
			mended(body(charges[0], `"rho_femto":5000000000000`, `"rho_femto":4000000000000`)), entryOf(answers[0]),
			"charges its accounts different costs",
		},
		"cost in epsilon, mended": {
			mended(body(charges[2], `"eps":100000000,`, `"eps":10000000,`)), entryOf(answers[2]),
			"charges its accounts different costs",
		},
		"cost of all lines, mended": {mended(func(l []string) []string {
			return body(charges[2], `"eps":100000000,`, `"eps":10000000,`)(body(charges[2], `"eps":100000000,`, `"eps":10000000,`)(l))
		}), entryOf(answers[2]), "was charged, the chain says epsilon 0.01"},
		"analyst of a charge, mended": {
			mended(body(charges[1], `"principal":"ana"`, `"principal":"eve"`)), entryOf(answers[1]),
			"another analyst",
		},
		"query of a charge, mended": {mended(body(charges[1], `query.count`, `query.total`)), entryOf(answers[1]), "another mechanism"},
		"hash of the query, mended": {
			mended(body(charges[1], `"request_hash":"`, `"request_hash":"0`)), entryOf(answers[1]),
			"another query",
		},
		"time of a charge, mended": {mended(body(charges[3], `"time":1`, `"time":2`)), entryOf(answers[3]), "another hash of its entry"},
		"a higher cap": {
			body(grants[0], `"cap_rho_femto":500000000000000`, `"cap_rho_femto":900000000000000`),
			entryOf(grants[0]), "hash does not fit",
		},
		"a higher cap, mended": {
			mended(body(grants[0], `"cap_rho_femto":500000000000000`, `"cap_rho_femto":900000000000000`)), 0,
			"more than one fault or",
		},
		"a cap below what is spent": {
			mended(body(grants[3], `"cap_eps_nano":500000000`, `"cap_eps_nano":200000000`)), entryOf(charges[3]),
			"beyond its cap",
		},
		"the definition, mended": {
			mended(body(grants[0], `"definition_sha256":"`, `"definition_sha256":"0`)), entryOf(grants[0]),
			"hash of its definition",
		},
		"the relation, mended": {
			mended(body(grants[0], `"neighbours":"add-remove"`, `"neighbours":"replace-one"`)), 0,
			"more than one fault or",
		},
		"a dropped charge":         {drop(charges[0], 1), entryOf(charges[0]) + 1, "it follows entry"},
		"a dropped charge, mended": {mended(drop(charges[0], 3)), entryOf(answers[1]) - 2, "its certificate names entry"},
		"a dropped answer":         {signed(drop(answers[2], 1)), entryOf(releases[2]), "its answer is missing"},
		"a doubled answer": {
			signed(func(l []string) []string { return slices.Insert(l, answers[2]+1, l[answers[2]]) }),
			entryOf(releases[2]), "is there twice",
		},
		"swapped entries":         {swap(charges[0], releases[0]), entryOf(releases[0]), "it follows entry"},
		"swapped entries, mended": {mended(swap(charges[0], grants[0])), 0, "more than one fault or"},
		"swapped answers":         {signed(swap(answers[0], answers[1])), entryOf(answers[1]), "does not follow the release"},
		"a changed answer": {
			signed(answer(answers[0], func(f fields) { f["payload"] = strings.Replace(f["payload"].(string), "value", "valve", 1) })),
			entryOf(answers[0]), "is not the one that was released",
		},
		"a changed answer, mended": {
			restored(answer(answers[0], func(f fields) { f["payload"] = strings.Replace(f["payload"].(string), "value", "valve", 1) })),
			entryOf(answers[0]), "of another answer",
		},
		"a certificate of another": {
			signed(answer(answers[0], func(f fields) { f["certificate"] = parsed(t, lines[answers[1]])["certificate"] })), entryOf(answers[0]),
			"is not the one that was stored",
		},
		"that, mended": {
			restored(answer(answers[0], func(f fields) { f["certificate"] = parsed(t, lines[answers[1]])["certificate"] })), entryOf(answers[0]),
			"of another charge",
		},
		"a changed certificate": {
			restored(answer(answers[0], func(f fields) { f["certificate"] = strings.Replace(f["certificate"].(string), `"0.1"`, `"0.2"`, 1) })),
			entryOf(answers[0]), "the signature of its certificate does not hold",
		},
		"no certificate": {
			restored(answer(answers[0], func(f fields) { f["certificate"] = "{}" })), entryOf(answers[0]),
			"does not have the form",
		},
		"a certificate signed anew": {signed(withCertificate(answers[4], func(c *certificate.Certificate) {
			c.Time = "2020-01-01T00:00:0" +
				"0Z"
		})), entryOf(answers[4]), "is not the one that was stored"},
		"another version in it": {
			restored(withCertificate(answers[4], func(c *certificate.Certificate) { c.Source.Version = 2 })),
			entryOf(answers[4]), "a version of the data set",
		},
		"another data set in it": {
			restored(withCertificate(answers[4], func(c *certificate.Certificate) { c.Source.Dataset = "epsilons" })), entryOf(answers[4]),
			"another data set",
		},
		"another rho in it": {
			restored(withCertificate(answers[4], func(c *certificate.Certificate) { c.Charge.RhoFemto--; c.Charge.GaussianFemto-- })),
			entryOf(answers[4]), "was charged, the chain says",
		},
		"other accounts in it": {
			restored(withCertificate(answers[4], func(c *certificate.Certificate) { c.Charge.Accounts = []int64{1} })), entryOf(answers[4]),
			"other accounts",
		},
		"the end cut off": {func(l []string) []string { return l[:len(l)-1] }, 0, "the signed end is missing"},
		"the last entries cut off": {
			func(l []string) []string { return slices.Delete(l, len(l)-2, len(l)-1) }, 0,
			"the signed head is entry 16",
		},
		"a byte cut off":            {func(l []string) []string { return append(l[:len(l)-1], l[len(l)-1][:200]) }, 0, "is cut short"},
		"the end signed by another": {func(l []string) []string { return resign(t, l, stranger) }, 0, "not one of the stated keys"},
		"a lower end, signed by another": {
			func(l []string) []string { return resign(t, slices.Delete(l, len(l)-2, len(l)-1), stranger) }, 0,
			"not one of the stated keys",
		},
		"the signature of the end": {func(l []string) []string {
			l[len(l)-1] = strings.Replace(l[len(l)-1], `"entries":16`, `"entries":15`, 1)
			return l
		}, 0, "does not hold"},
		"another ledger": {
			func(l []string) []string { l[0] = strings.Replace(l[0], `"ledger":"`, `"ledger":"0`, 1); return l }, 0,
			"another ledger",
		},
		"a line more":       {func(l []string) []string { return append(l, l[len(l)-1]) }, 0, "follows the signed end"},
		"a blank in a line": {func(l []string) []string { l[3] = strings.Replace(l[3], ",", ", ", 1); return l }, 3, "does not have the form"},
		"an unknown field": {
			func(l []string) []string { l[3] = strings.Replace(l[3], "{", `{"note":1,`, 1); return l }, 3,
			"does not have the form",
		},
		"another form": {
			func(l []string) []string { l[0] = strings.Replace(l[0], "export/2", "export/3", 1); return l }, 0,
			"the first line",
		},
	} {
		t.Run(name, func(t *testing.T) {
			out := check(t, c.change(slices.Clone(lines)))
			if out.Sound || len(out.Faults) == 0 {
				t.Fatal("nothing was found")
			}
			if c.want == "more than one fault or" { // a change that shows in many places
				return
			}
			if !slices.ContainsFunc(out.Faults, func(f api.ExportFault) bool {
				return f.Entry == c.entry &&
					strings.Contains(f.What.String(), c.want)
			}) {
				t.Errorf("entry %d, %q is not among %+v", c.entry, c.want, out.Faults)
			}
		})
	}
	// With no key stated the file vouches for itself alone, and says so.
	path := s.write(t, "forged.jsonl", strings.Join(resign(t, slices.Clone(lines), stranger), ""))
	_, err := s.LedgerCheckExport(t.Context(), &api.LedgerCheckExportRequest{File: path})
	is(t, err, noren.NotMet, path, "unsound")
	path = s.write(t, "sound.jsonl", strings.Join(lines, ""))
	s.notes = nil
	out, err := s.LedgerCheckExport(t.Context(), &api.LedgerCheckExportRequest{File: path})
	must(t, err)
	if !out.Sound || out.Trusted || s.codes() != "key-unknown" {
		t.Errorf("%+v, %s", out, s.codes())
	}
	_, err = s.LedgerCheckExport(t.Context(), &api.LedgerCheckExportRequest{
		File: path,
		Keys: []string{certificate.KeyID(stranger.Public().(ed25519.PublicKey))},
	})
	is(t, err, noren.NotMet, path, "unsound")
	_, err = s.LedgerCheckExport(t.Context(), &api.LedgerCheckExportRequest{File: filepath.Join(s.dir, "none")})
	is(t, err, noren.Usage, filepath.Join(s.dir, "none"), "file-missing")
}

// No input stops the check, and none but the export itself is found sound under its key.
func FuzzCheckExport(f *testing.F) {
	f.Add("")
	f.Add(`{"format":"noren.ledger.export/1","ledger":"x","tool":{"name":"noren","version":"1"}}` + "\n")
	f.Add(`{"entry":1,"kind":"create","body":"{}","prev":"00","hash":"00"}` + "\n" +
		`{"answer_of":1,"charge":"","payload":"","certificate":"","key_id":""}` + "\n")
	f.Add(`{"end":{"ledger":"","entries":0,"answers":0,"head":"","sha256":"","time":""},"signature":{"algorithm":"","key_id":"","public_key":"","value":""}}`)
	f.Fuzz(func(t *testing.T, text string) {
		metertest.Hold(t, len(text))
		out, err := service.CheckExport(t.Context(), strings.NewReader(text), "ed25519:none")
		if err != nil || out.Sound {
			t.Fatalf("%+v, %v", out, err)
		}
	})
}

package certificate

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
)

// checkerPairs are pairs of a certificate and a file that all checkers find the same of:
// this package, the Python client and the page. A pair is a base with one piece replaced in
// its certificate and one in its file.
type checkerPairs struct {
	Bases []checkerBase `json:"bases"`
	Pairs []checkerPair `json:"pairs"`
}

type checkerBase struct {
	Name        string `json:"name"`
	Certificate string `json:"certificate"`
	Released    string `json:"released"`
}

type checkerPair struct {
	Name string `json:"name"`
	Base int    `json:"base"`
	// Finding is holds, refused (the certificate), or file (it holds, for another file).
	Finding string `json:"finding"`
	// Certificate and Released replace bytes of the base: from, to, and base64.
	Certificate *checkerEdit `json:"certificate,omitempty"`
	Released    *checkerEdit `json:"released,omitempty"`
	// Signed says that the changed certificate was signed again, by the key that it names.
	Signed bool `json:"signed,omitempty"`
}

type checkerEdit struct {
	From int    `json:"from"`
	To   int    `json:"to"`
	By   []byte `json:"by"`
}

// editOf is the one piece by which two texts differ; nil where they are equal.
func editOf(from, to string) *checkerEdit {
	if from == to {
		return nil
	}
	begin, end := 0, 0
	for begin < len(from) && begin < len(to) && from[begin] == to[begin] {
		begin++
	}
	for end < len(from)-begin && end < len(to)-begin && from[len(from)-1-end] == to[len(to)-1-end] {
		end++
	}
	return &checkerEdit{begin, len(from) - end, []byte(to[begin : len(to)-end])}
}

func (e *checkerEdit) apply(text string) string {
	if e == nil {
		return text
	}
	return text[:e.From] + string(e.By) + text[e.To:]
}

// finding is what this package finds.
func finding(t *testing.T, certificate, released string) string {
	s, err := Parse([]byte(certificate))
	if err == nil {
		_, err = s.VerifySignature()
	}
	if err != nil {
		return "refused"
	}
	if _, err := Check(t.Context(), s, strings.NewReader(released)); err != nil {
		return "file"
	}
	return "holds"
}

// resigned is a statement under a new signature, whatever it states; "" where it has no
// canonical form.
func resigned(key ed25519.PrivateKey, statement any, format string) string {
	text, err := json.Marshal(statement)
	if err != nil {
		return ""
	}
	body, err := Canonical(text)
	if err != nil {
		return ""
	}
	public := key.Public().(ed25519.PublicKey)
	signed := map[string]any{"certificate": json.RawMessage(body), "signature": Signature{
		Algorithm: "ed25519", KeyID: KeyID(public), PublicKey: base64.StdEncoding.EncodeToString(public),
		Value: base64.StdEncoding.EncodeToString(ed25519.Sign(key, append([]byte(format+"\x00"), body...))),
	}}
	out, err := json.Marshal(signed)
	if err != nil {
		return ""
	}
	return string(out)
}

// withSuppressed are releases as they were certified until 2026-11-23: with the number of
// records that were left out.
func withSuppressed(t *testing.T, format string) string {
	t.Helper()
	c := anonymous([]byte("age,sex\n30,f\n30,f\n"))
	c.Format = format
	c.Mechanism.Parameters = json.RawMessage(
		`{"k":5,"method":"tomobiki","publish":"centroid","quasi_identifiers":["age","sex"],"refine":"auto","scale":"minmax","suppressed":50}`)
	var statement any
	text, err := json.Marshal(c)
	if err == nil {
		err = json.Unmarshal(text, &statement)
	}
	if err != nil {
		t.Fatal(err)
	}
	return resigned(testKey(3), statement, format)
}

// checkerBases are certificates of both forms, of all kinds.
func checkerBases(t *testing.T) []checkerBase {
	t.Helper()
	payload := `{"format":"noren.query/1","query":"count","value":42}`
	unaccounted := charged([]byte(payload))
	unaccounted.Accounting, unaccounted.Charge, unaccounted.Notes = Unaccounted, nil, []string{"a public fact", "別の事実 🎐"}
	unaccounted.Source = &Source{DefinitionSHA256: strings.Repeat("cd", 32), Reading: unaccounted.Source.Reading}
	persons := anonymous([]byte(payload))
	persons.Guarantee.Unit, persons.Guarantee.Linkage, persons.Guarantee.Pseudonyms = "id", "one", true
	persons.Guarantee.Diversity = []noren.Diversity{{Column: "ill", Model: "recursive", L: 2.5, C: 3, CountMissing: true}}
	persons.Source = &Source{ModelSHA256: strings.Repeat("ef", 32)}
	model := charged([]byte(payload))
	model.Source.ModelSHA256, model.Mechanism.Parameters = strings.Repeat("ef", 32), nil
	var bases []checkerBase
	for _, one := range []struct {
		name string
		of   Certificate
	}{
		{"charged", charged([]byte(payload))},
		{"unaccounted", unaccounted},
		{"zcdp", inZCDP([]byte(payload))},
		{"records", anonymous([]byte(payload))},
		{"a table of a database", ofTable(payload)},
		{"persons", persons},
		{"model", model},
	} {
		text, err := mustSign(t, one.of).Encode()
		if err != nil {
			t.Fatal(err)
		}
		bases = append(bases, checkerBase{one.name, compacted(t, text), payload})
	}
	for _, name := range []string{"charged", "unaccounted", "records"} {
		text, err := os.ReadFile(filepath.Join("testdata", "form1", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		released, err := os.ReadFile(filepath.Join("testdata", "form1", name+".answer"))
		if err != nil {
			t.Fatal(err)
		}
		bases = append(bases, checkerBase{"form 1: " + name, compacted(t, text), string(released)})
	}
	return append(
		bases,
		checkerBase{"form 1 with suppressed", withSuppressed(t, Format1), "age,sex\n30,f\n30,f\n"},
		checkerBase{"form 2 with suppressed", withSuppressed(t, Format), "age,sex\n30,f\n30,f\n"},
	)
}

// ofTable is of a table whose canonical form is the payload.
func ofTable(payload string) Certificate {
	c := anonymous([]byte(payload))
	c.Released.Kind, c.Released.Name = KindTable, "clinic.visits_k5"
	return c
}

// compacted is a certificate without space between its parts, for a small file of pairs.
func compacted(t *testing.T, text []byte) string {
	t.Helper()
	out, err := Canonical(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// checkerMaker makes pairs.
type checkerMaker struct {
	t    *testing.T
	r    *rand.Rand
	out  checkerPairs
	seen map[string]bool
}

func (m *checkerMaker) add(name string, base int, certificate, released string, signed bool) {
	key := certificate + "\x00" + released
	if certificate == "" || m.seen[key] {
		return
	}
	m.seen[key] = true
	b := m.out.Bases[base]
	p := checkerPair{
		Name: b.Name + ": " + name, Base: base, Finding: finding(m.t, certificate, released),
		Certificate: editOf(b.Certificate, certificate), Released: editOf(b.Released, released), Signed: signed,
	}
	m.out.Pairs = append(m.out.Pairs, p)
}

// paths are the paths of all members and items below v.
func paths(v any, at []any) [][]any {
	var out [][]any
	each := func(key, value any) {
		path := append(slices.Clone(at), key)
		out = append(out, path)
		out = append(out, paths(value, path)...)
	}
	switch v := v.(type) {
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			each(name, v[name])
		}
	case []any:
		for i := range v {
			each(i, v[i])
		}
	}
	return out
}

// changedAt is a copy of v in which change was applied to what holds the end of the path.
func changedAt(t *testing.T, v any, path []any, change func(parent any, key any)) any {
	t.Helper()
	text, err := json.Marshal(v)
	var out any
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	parent := out
	for _, key := range path[:len(path)-1] {
		if i, ok := key.(int); ok {
			parent = parent.([]any)[i]
		} else {
			parent = parent.(map[string]any)[key.(string)]
		}
	}
	change(parent, path[len(path)-1])
	return out
}

func set(value any) func(parent, key any) {
	return func(parent, key any) {
		if i, ok := key.(int); ok {
			parent.([]any)[i] = value
			return
		}
		parent.(map[string]any)[key.(string)] = value
	}
}

func remove(parent, key any) {
	if object, ok := parent.(map[string]any); ok {
		delete(object, key.(string))
	}
}

func rename(to string) func(parent, key any) {
	return func(parent, key any) {
		if object, ok := parent.(map[string]any); ok {
			object[to] = object[key.(string)]
			delete(object, key.(string))
		}
	}
}

// values take the place of a field's.
func (m *checkerMaker) values() []any {
	return []any{
		nil, true, false, 0, -1, 1, 50, 1.5, 1e-9, 1 << 53, "", "0", "50", "-1", "007", "1e3", "9223372036854775807", "9223372036854775808",
		[]any{},
		[]any{"x"},
		[]any{1},
		[]any{nil},
		[]any{""},
		map[string]any{},
		map[string]any{"x": 1},
		"table", "add-remove", "charged", "no-budget", "unaccounted", "noren.certificate/3", "noren.certificate/99", "noren.certificate/1",
		"noren.certificate/2",
		strings.Repeat("AB", 32), strings.Repeat("ab", 32), "hmac-sha256:" + strings.Repeat("0", 63), "2026-02-29T00:00:00Z",
		"2024-02-29T23:59:59Z", "0000-02-29T00:00:00Z", "2026-11-21T24:00:00Z",
		"2026-11-21T07:00:60Z", "2026-11-21T07:00:00+00:00", "2026-11-21t07:00:00z", "a/b", `a\b`, "answer", "file", "zcdp", "epsilon", "😀",
	}
}

// signedPairs are statements that were changed and signed again.
func (m *checkerMaker) signedPairs() {
	key := testKey(9)
	for i := range m.out.Bases {
		b := &m.out.Bases[i]
		var read struct {
			Certificate map[string]any `json:"certificate"`
		}
		if err := json.Unmarshal([]byte(b.Certificate), &read); err != nil {
			m.t.Fatal(err)
		}
		format := read.Certificate["format"].(string)
		add := func(name string, statement any) {
			of := format
			if f, ok := statement.(map[string]any)["format"].(string); ok {
				of = f
			}
			m.add(name+", signed", i, resigned(key, statement, of), b.Released, true)
		}
		add("as it is", read.Certificate)
		for _, path := range paths(read.Certificate, nil) {
			at := strings.Trim(fmt.Sprint(path), "[]")
			inside := len(path) > 2 && (path[1] == "parameters" || path[1] == "reading")
			if inside && m.r.IntN(4) > 0 {
				continue
			}
			if _, item := path[len(path)-1].(int); !item {
				add("without "+at, changedAt(m.t, read.Certificate, path, remove))
				add("capital "+at, changedAt(m.t, read.Certificate, path, rename(strings.ToUpper(path[len(path)-1].(string)))))
				add("a field beside "+at, changedAt(m.t, read.Certificate, append(slices.Clone(path[:len(path)-1]), "unknown"), set(1)))
			}
			all := m.values()
			for range 6 {
				v := all[m.r.IntN(len(all))]
				text, _ := json.Marshal(v)
				add(fmt.Sprintf("%s is %s", at, text), changedAt(m.t, read.Certificate, path, set(v)))
			}
		}
	}
	m.thin(map[string]int{"holds": 60, "refused": 260})
}

// underWeakKey is a certificate under a key of small order: the number of the signature is 0,
// and the equation holds for every message, or for one of 2, 4 or 8.
func underWeakKey(t *testing.T, certificate, point, r string) string {
	t.Helper()
	public, err := hex.DecodeString(point)
	if err != nil {
		t.Fatal(err)
	}
	value, err := hex.DecodeString(r + strings.Repeat("00", 32))
	if err != nil {
		t.Fatal(err)
	}
	signature, err := json.Marshal(Signature{
		"ed25519", KeyID(public), base64.StdEncoding.EncodeToString(public),
		base64.StdEncoding.EncodeToString(value),
	})
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(certificate, `"signature":`)
	return certificate[:at] + `"signature":` + string(signature) + "}"
}

// unreduced is a certificate of which the second half of the signature, a number, was
// increased by the order of the group: another text for the same equation (RFC 8032,
// section 5.1.7, refuses it).
func unreduced(t *testing.T, certificate string) string {
	t.Helper()
	s, err := Parse([]byte(certificate))
	if err != nil {
		t.Fatal(err)
	}
	value, err := DecodeBase64(s.Signature.Value)
	if err != nil {
		t.Fatal(err)
	}
	order, _ := new(big.Int).SetString("7237005577332262213973186563042994240857116359379907606001950938285454250989", 10)
	slices.Reverse(value[32:])
	sum := new(big.Int).Add(new(big.Int).SetBytes(value[32:]), order)
	sum.FillBytes(value[32:])
	slices.Reverse(value[32:])
	return strings.Replace(certificate, s.Signature.Value, base64.StdEncoding.EncodeToString(value), 1)
}

// thin keeps at most so many pairs of each finding.
func (m *checkerMaker) thin(most map[string]int) {
	m.r.Shuffle(len(m.out.Pairs), func(i, j int) { m.out.Pairs[i], m.out.Pairs[j] = m.out.Pairs[j], m.out.Pairs[i] })
	var kept []checkerPair
	for _, p := range m.out.Pairs {
		if most[p.Finding]--; most[p.Finding] >= 0 {
			kept = append(kept, p)
		}
	}
	m.out.Pairs = kept
}

// unsignedPairs change a certificate, its layout, its signature or its file.
func (m *checkerMaker) unsignedPairs() {
	before := len(m.out.Pairs)
	for i := range m.out.Bases {
		b := &m.out.Bases[i]
		add := func(name, certificate, released string) { m.add(name, i, certificate, released, false) }
		add("as it is", b.Certificate, b.Released)
		compact, err := Canonical([]byte(b.Certificate))
		if err != nil {
			m.t.Fatal(err)
		}
		var spaced bytes.Buffer
		if err := json.Indent(&spaced, compact, "", "\t"); err != nil {
			m.t.Fatal(err)
		}
		one := func(old, by string) string { return strings.Replace(string(compact), old, by, 1) }
		for name, text := range map[string]string{
			"with other space": spaced.String(), "with a byte order mark": "\ufeff" + b.Certificate, "with two byte order marks": "\ufeff\ufeff" +
				b.Certificate,
			"with a mark inside": one("{", "{\ufeff"), "with space around": " \r\n\t" + b.Certificate + "\n\n", "with a form feed": "\f" +
				b.Certificate, "with data after it": b.Certificate + "{}",
			"cut": b.Certificate[:len(b.Certificate)/2], "empty": "{}", "a list": "[" + b.Certificate + "]", "nested": `{"certificate":` +
				b.Certificate + `,"signature":{}}`,
			"twice a key":          one(`"time":`, `"time":"2026-01-01T00:00:00Z","time":`),
			"twice an escaped key": one(`"time":`, `"tim\u0065":"2026-01-01T00:00:00Z","time":`), "an escaped key": one(`"time":`, `"tim\u0065":`),
			"half a pair": one(`"tool":{`, `"tool":{"x":"\ud800",`), "no UTF-8": one(`"tool":{`, "\"tool\":{\"x\":\"\xff\","),
			"a replacement character": one(`"tool":{`, `"tool":{"x":"`+"\ufffd"+`",`),
			"another algorithm":       one(`"algorithm":"ed25519"`, `"algorithm":"ED25519"`), "without algorithm": one(`"algorithm":"ed25519",`, ""),
			"a field in the signature": one(`"algorithm":`, `"a":1,"algorithm":`),
			"a field beside":           one(`"signature":`, `"more":1,"signature":`), "a size as a fraction": one(`"size":`, `"size":0.`),
			"a size with an exponent": strings.Replace(string(compact), `"size":`, `"size":0e0,"x":`, 1),
			"a key that is no base64": one(`"public_key":"`, `"public_key":"\n`), "a value without padding": one(`==","value"`, `","value"`),
			"a later form": one("noren.certificate/", "noren.certificate/9"),
			"a comment":    one(`"tool"`, `/* */"tool"`), "a comma more": one(`}}`, `},}`),
			"single quotes": strings.ReplaceAll(string(compact), `"`, `'`), "null": "null", "nothing": " ",
		} {
			add(name, text, b.Released)
		}
		if i < 2 {
			add("a signature of which s is not reduced", unreduced(m.t, string(compact)), b.Released)
		}
		for name, released := range map[string]string{
			"another file": b.Released + " ", "no file": "", "a file with a mark": "\ufeff" + b.Released,
			"another line end": strings.ReplaceAll(b.Released, "\n", "\r\n") + "\r\n", "the file in capitals": strings.ToUpper(b.Released),
		} {
			add(name, b.Certificate, released)
		}
		for j := range m.out.Bases {
			add("the file of "+m.out.Bases[j].Name, b.Certificate, m.out.Bases[j].Released)
			var own, other map[string]json.RawMessage
			if json.Unmarshal([]byte(b.Certificate), &own) == nil && json.Unmarshal([]byte(m.out.Bases[j].Certificate), &other) == nil {
				own["signature"] = other["signature"]
				text, _ := json.Marshal(own)
				add("the signature of "+m.out.Bases[j].Name, string(text), b.Released)
			}
		}
		for k := range 30 {
			text := []byte(b.Certificate)
			at := m.r.IntN(len(text))
			switch k % 3 {
			case 0:
				text[at] ^= byte(1 + m.r.IntN(127))
			case 1:
				text = slices.Delete(text, at, at+1)
			case 2:
				text = slices.Insert(text, at, " \"{}[]0,:x\\"[m.r.IntN(11)])
			}
			add(fmt.Sprintf("byte %d of the certificate", at), string(text), b.Released)
		}
		for range 3 {
			if released := []byte(b.Released); len(released) > 0 {
				at := m.r.IntN(len(released))
				released[at] ^= 1
				add(fmt.Sprintf("byte %d of the file", at), b.Certificate, string(released))
			}
		}
	}
	signed := slices.Clone(m.out.Pairs[:before])
	m.out.Pairs = m.out.Pairs[before:]
	m.thin(map[string]int{"holds": 84, "file": 96, "refused": 134})
	m.out.Pairs = append(m.out.Pairs, signed...)
}

// weakPairs are signatures that hold under keys of small order.
func (m *checkerMaker) weakPairs() {
	b := m.out.Bases[0]
	for _, key := range []struct{ name, point string }{
		{"0", smallOrders[0]},
		{"1", smallOrders[1]},
		{"of order 8", smallOrders[2]},
		{"another of order 8", smallOrders[3]},
		{"-1", smallOrders[4]},
		{"1, not reduced", "ee" + strings.Repeat("ff", 30) + "7f"},
		{"0, not reduced", "ed" + strings.Repeat("ff", 30) + "7f"},
		{"1, with a sign", smallOrders[1][:62] + "80"},
		{"-1, with a sign", smallOrders[4][:62] + "ff"},
	} {
		for _, r := range []string{smallOrders[1], smallOrders[0], smallOrders[4]} {
			m.add(fmt.Sprintf("the weak key %s, and R %s", key.name, r[:2]), 0, underWeakKey(m.t, b.Certificate, key.point, r), b.Released, false)
		}
	}
}

// The pairs of testdata/checkers.json are what the Python client and the page test
// themselves with: all three find the same of each.
func TestCheckersAgree(t *testing.T) {
	path := filepath.Join("testdata", "checkers.json")
	if *updateCheckers {
		m := &checkerMaker{t: t, r: rand.New(rand.NewPCG(33, 2026)), out: checkerPairs{Bases: checkerBases(t)}, seen: map[string]bool{}}
		m.signedPairs()
		m.unsignedPairs()
		m.weakPairs()
		text, err := json.Marshal(m.out)
		if err == nil {
			err = os.WriteFile(path, append(text, '\n'), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all checkerPairs
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	found, signed := map[string]int{}, 0
	for _, p := range all.Pairs {
		b := all.Bases[p.Base]
		if got := finding(t, p.Certificate.apply(b.Certificate), p.Released.apply(b.Released)); got != p.Finding {
			t.Errorf("%s: %s, want %s", p.Name, got, p.Finding)
		}
		found[p.Finding]++
		if p.Signed && p.Finding == "refused" {
			signed++
		}
	}
	if len(all.Pairs) < 500 || signed < 100 || found["holds"] < 30 || found["file"] < 30 {
		t.Errorf("%d pairs, %d of them refused though signed: %v", len(all.Pairs), signed, found)
	}
	for i, b := range all.Bases {
		if got := finding(t, b.Certificate, b.Released); got != "holds" {
			t.Errorf("%d %s: %s", i, b.Name, got)
		}
	}
	if !bytes.Contains(text, []byte("suppressed")) {
		t.Error("no certificate that states a number of records left out")
	}
}

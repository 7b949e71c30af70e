package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/lang"
)

// assumptions are the assumptions of certificates of releases in Japanese, by their sentences. The page that checks
// a certificate without a server has no other text of them.
func assumptions() (string, error) {
	said := map[string]string{}
	attributes := []*privacy.Attribute{{Name: "a"}}
	diversities := []*privacy.Diversity{nil, {Model: privacy.Distinct, L: 2}, {Model: privacy.Entropy, L: 2}}
	for _, d := range diversities {
		for _, c := range []*privacy.Closeness{nil, {T: 1}} {
			g := privacy.Guarantee(nil, privacy.Requirement{K: 2, Diversity: d, Closeness: c}, attributes)
			all := g.Assumptions
			for _, linked := range []bool{false, true} {
				all = append(all, privacy.OfPersons(g, "a", linked, false).Assumptions...)
			}
			all = append(all, privacy.OfPersons(g, "a", true, true).Assumptions...)
			for _, sentence := range all {
				english := sentence.String()
				said[english] = lang.Japanese.Shown(sentence)
				if said[english] == english {
					return "", fmt.Errorf("the assumption %q has no translation", english)
				}
			}
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(said)
	return b.String(), err
}

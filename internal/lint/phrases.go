package main

import (
	"regexp"
	"strings"
)

// unusedPhrases are idioms that cost a reader time, each with what to write.
var unusedPhrases = []struct{ pattern, instead string }{
	{`\bnobody\b`, "no person, no user; or name the subject"},
	{`\bwhoever\b`, "a person who"},
	{`\bto be had\b`, "available"},
	{`\bat the (most|least)\b`, "at most, at least"},
	{`\bhand(s|ed|ing)? out\b`, "release, publish, return"},
	{`\b(is|are|was|were) told\b`, "is passed, gets, receives"},
	{`\blaws?\b`, "distribution"},
	{`\b(stands?|stood|standing) in\b`, "is in; replaces"},
	{`\bgets? its name\b`, "is created, is renamed into place"},
	{`\bso (many|much) (records|values|bytes|rows|bits|people)\b`, "n, this number of"},
	{`\bby so much\b`, "by up to"},
	{`\bminutes of\b`, "n minutes"},
	{`\brooms?\b`, "package; free space"},
	{`\bbettered\b`, "improved"},
	{`\bshaken\b`, "perturbed"},
	{`\btolls?\b`, "dual price"},
	{`\bdesign notes?\b`, "docs/NAME.md, section N"},
	{`\bcrowds?\b`, "population, sample"},
	{`\bprice tag\b`, "cost"},
	{`\b(bought|buys?|buying)\b`, "pays for; costs"},
	{`\bcame into being\b`, "was created"},
	{`\bthe curtain at the door\b`, "a privacy toolkit"},
	{`\ba file a thought\b`, "one topic per file"},
	{`\btaken apart\b`, "decomposed"},
	{`\b(the|a|no|this|its|is|are|was|were) promised?\b`, "guarantee"},
}

// allowedPhrases contain an unused phrase in another meaning.
var allowedPhrases = regexp.MustCompile(`(?i)\b(power laws?|` +
	`law of (large numbers|total (probability|variance|expectation)|cosines)|by law|data protection law|emergency room|` +
	`waiting rooms?|rooms? (number|occupancy))\b`)

func unusedPhrase(text string) (found, instead string) {
	lower := strings.ToLower(text)
	for _, p := range compiledPhrases {
		if !strings.Contains(lower, p.part) || !p.MatchString(text) {
			continue
		}
		if m := p.FindString(allowedPhrases.ReplaceAllString(text, "")); m != "" {
			return m, p.instead
		}
	}
	return "", ""
}

// compiledPhrase is a pattern, and a part that every text of it has in small letters,
// which is faster to look for.
type compiledPhrase struct {
	*regexp.Regexp
	part, instead string
}

var compiledPhrases = func() (all []compiledPhrase) {
	optional := regexp.MustCompile(`\([^()]*\)\??|\\b|[a-z]\?`)
	for _, p := range unusedPhrases {
		part := ""
		for _, s := range strings.Split(optional.ReplaceAllString(p.pattern, "|"), "|") {
			if len(s) > len(part) {
				part = s
			}
		}
		all = append(all, compiledPhrase{regexp.MustCompile("(?i)" + p.pattern), part, p.instead})
	}
	return all
}()

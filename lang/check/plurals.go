package main

import (
	"regexp"
	"strings"
)

// number is a verb that writes a number, or a text that may be one, with up to four words after it.
var number = regexp.MustCompile(`%(?:\[\d+\])?([ds]) ((?:[a-z'-]+ ){0,3}[a-z'-]+)`)

// ends are words after which another thing is meant than the one that is counted.
var ends = regexp.MustCompile(
	`^(-o|a|above|an|and|are|as|at|below|by|can|cannot|counts|differs|do|does|expects|for|from|has|have|hold|holds|in|is|its|left|` +
		`long|missing|names|needs|no|not|of|on|or|others|over|per|reads|seems|so|stays|tells|than|that|the|their|these|this|though|to|too|until|was|were|which|with|without|')$`)

// things are the things that a text may count whose number is written by %s.
var things = regexp.MustCompile(
	`^(answers|bits|bytes|candidates|categories|cells|charges|classes|columns|days|entries|fields|files|groups|kernels|labels|levels|lines|` +
		`people|persons|pseudonyms|questions|records|reports|rounds|rows|units|values|visits|words)$`)

// plural matches a word that is in the plural.
var plural = regexp.MustCompile(`^(people|samples|[a-z-]*[a-rt-z]s|[a-z-]+sses)$`)

// limit matches what stands before a number that is a limit, as of a type or a format of files: it is never 1.
// Thing matches what stands before a number that names a thing and counts none.
var (
	limit = regexp.MustCompile(
		`(more than|longer than|fewer than k =|at most|up to|beyond|between \d and|\d to|at least|k =|all|these|those) $`)
	thing = regexp.MustCompile(
		`(account|axis|bit|bound|charge|cohort|column|dimension|edge|entry|group|key|label|level|line|part|question|record|row|state|table|text|value|version|definition of its) $`)
)

// lacksPlural reports whether a format has a number and what it counts in the plural, whatever the
// number is. What is in a choice is no word of these.
func lacksPlural(format string) bool {
	for _, at := range number.FindAllStringSubmatchIndex(format, -1) {
		before, verb, words := format[:at[0]], format[at[2]:at[3]], format[at[4]:at[5]]
		if limit.MatchString(before) || thing.MatchString(before) {
			continue
		}
		for word := range strings.FieldsSeq(words) {
			if ends.MatchString(word) {
				break
			}
			if things.MatchString(word) || verb == "d" && plural.MatchString(word) {
				return true
			}
		}
	}
	return false
}

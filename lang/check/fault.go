package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/lang"
)

// verb matches what a format writes an argument by; group 1 is the number of the argument, and group 2 its letter.
var verb = regexp.MustCompile(`%[+#0-9.-]*(?:\[(\d+)\])?([a-zA-Z%])`)

// mostChoosers is by how many arguments a format may choose.
const mostChoosers = 4

// verbsOf are the letters by which a format writes its arguments, by argument. fault says what is wrong with its
// choices: each is by a verb that writes a number, or a number as a text.
func verbsOf(text, what string) (verbs map[int]string, fault string) {
	plain := noren.Format(text).Choose(func(int) bool { return false })
	if strings.Contains(plain, "|") && strings.ContainsAny(plain, "{}") {
		return nil, what + " has a choice that is not {one|other} or {1|one|other}"
	}
	verbs = map[int]string{}
	next := 0
	for _, m := range verb.FindAllStringSubmatch(plain, -1) {
		if m[2] == "%" {
			continue
		}
		if n, err := strconv.Atoi(m[1]); err == nil {
			next = n - 1
		}
		verbs[next] = m[2]
		next++
	}
	var choosers []int
	noren.Format(text).Choose(func(arg int) bool {
		if !slices.Contains(choosers, arg) {
			choosers = append(choosers, arg)
		}
		return false
	})
	if len(choosers) > mostChoosers {
		return nil, fmt.Sprintf("%s chooses by more than %d arguments", what, mostChoosers)
	}
	for _, arg := range choosers {
		if !slices.Contains([]string{"d", "s", "g", "v"}, verbs[arg]) {
			return nil, fmt.Sprintf("%s chooses by argument %d, which is no number of it", what, arg+1)
		}
	}
	return verbs, ""
}

// faultOf says what is wrong with an entry by itself; "" for nothing: its translation has the arguments of its
// text, each by the same kind of verb.
func faultOf(e lang.Entry) string {
	if strings.TrimSpace(e.Japanese) == "" {
		return "has no translation"
	}
	if !e.IsFormat() {
		return "" // a test holds its arguments against those of the calls
	}
	wanted, fault := verbsOf(string(e.Key), "key")
	if fault != "" {
		return fault
	}
	written, fault := verbsOf(e.Japanese, "translation")
	if fault != "" {
		return fault
	}
	for _, arg := range slices.Sorted(maps.Keys(written)) {
		kind := written[arg]
		switch want, ok := wanted[arg]; {
		case !ok:
			return "uses an argument that the key does not have"
		case kind != want:
			return fmt.Sprintf("writes argument %d by %%%s, the key by %%%s", arg+1, kind, want)
		}
	}
	for _, arg := range slices.Sorted(maps.Keys(wanted)) {
		if written[arg] == "" {
			return fmt.Sprintf("leaves out argument %d", arg+1)
		}
	}
	return ""
}

// Missing prints the texts without a translation, as entries of the catalogue to fill in.
//
//	go run ./lang/missing
package main

import (
	"fmt"
	"os"
	"strconv"

	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/lang/sources"
)

func main() {
	known := map[string]bool{}
	for _, e := range lang.Catalogue() {
		known[string(e.Key)] = true
	}
	all, err := sources.Find(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	kind := sources.Kind("")
	for _, t := range all {
		if known[t.Key] || lang.Japanese.Term(t.Key) != t.Key {
			continue
		}
		if t.Kind != kind {
			kind = t.Kind
			fmt.Printf("\n// %s\n", kind)
		}
		fmt.Printf("{%s, \"\"}, // %s\n", strconv.Quote(t.Key), t.Place)
	}
}

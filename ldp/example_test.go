package ldp_test

import (
	"context"
	"fmt"
	"log"

	"github.com/noren-privacy/noren/ldp"
	"github.com/noren-privacy/noren/noise"
)

// Which mechanism suits a question with 5 answers, at epsilon 1, from 10,000
// people?
func ExampleAdvise() {
	a, err := ldp.Advise(ldp.Question{Domain: 5, Epsilon: 1, N: 10_000, Error: 0.01})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: standard error %.3f; %d people for 0.01\n", a.Best.Mechanism, a.Best.WorstStdErr, a.Best.Needed)
	fmt.Println(a.Best.Loss)
	// Output:
	// grr: standard error 0.019; 36827 people for 0.01
	// epsilon per report 1.0000, per record 1.0000, over a lifetime unbounded (each report costs again)
}

// Answers are randomised on each device; the collector sees only reports.
func ExampleCollector() {
	grr, err := ldp.NewGRR(3, 2)
	if err != nil {
		log.Fatal(err)
	}
	src := noise.NewSource()
	c := ldp.NewCollector(grr)
	for person := range 30_000 {
		answer := 0
		if person%3 == 0 {
			answer = 2
		}
		report, err := grr.Randomise(src, answer)
		if err != nil {
			log.Fatal(err)
		}
		if err := c.AddWord(grr.Format(report)); err != nil { // as it comes over the wire
			log.Fatal(err)
		}
	}
	_ = c.AddWord("7") // no report of this mechanism: counted, and excluded
	f, err := c.Frequencies(0.9999)
	if err != nil {
		log.Fatal(err)
	}
	for label, truth := range []float64{2. / 3, 0, 1. / 3} {
		fmt.Println(label, f.Low[label] <= truth && truth <= f.High[label])
	}
	fmt.Println(f.Rejected)
	// Output:
	// 0 true
	// 1 true
	// 2 true
	// excluded: 1 malformed
}

// RAPPOR counts words that are not known beforehand, if candidates are.
func ExampleRappor() {
	r, err := ldp.NewRappor(ldp.Params{K: 32, H: 2, M: 8, P: 0.1, Q: 0.9, F: 0.1})
	if err != nil {
		log.Fatal(err)
	}
	c, err := r.NewCollector()
	if err != nil {
		log.Fatal(err)
	}
	src := noise.NewSource()
	for person := range 4000 {
		secret := fmt.Sprintf("of person %08d", person) // in earnest: random, kept by the device
		d, err := r.Device([]byte(secret), uint32(person/4%8))
		if err != nil {
			log.Fatal(err)
		}
		report, err := d.Encode(src, []byte([]string{"tea", "tea", "coffee", "milk"}[person%4]))
		if err != nil {
			log.Fatal(err)
		}
		if err := c.Add(report); err != nil {
			log.Fatal(err)
		}
	}
	m, err := r.NewMap([]string{"tea", "coffee", "milk", "beer", "wine"})
	if err != nil {
		log.Fatal(err)
	}
	d, err := c.Counts().Decode(context.Background(), m, ldp.DecodeOptions{Level: 1e-6})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(d.Words), d.Words[0].Word)
	// Output: 3 tea
}

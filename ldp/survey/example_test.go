package survey_test

import (
	"context"
	"fmt"
	"log"

	"github.com/noren-privacy/noren/ldp/survey"
	"github.com/noren-privacy/noren/noise"
)

// RAPPOR estimates the shares of words among candidates. The library draws each
// device's secret, and the cohort from it.
func ExampleCollector_words() {
	s, err := survey.New(survey.Spec{Mechanism: "rappor-one-time", K: 32, H: 1, M: 64, Epsilon: 4})
	if err != nil {
		log.Fatal(err)
	}
	c, err := s.NewCollector()
	if err != nil {
		log.Fatal(err)
	}
	src := noise.NewSource()
	for person := range 8000 {
		line, err := s.Randomise(src, []string{[]string{"tea", "tea", "coffee", "milk"}[person%4]}) // on the device
		if err != nil {
			log.Fatal(err)
		}
		if err := c.AddLine(line); err != nil { // at the collector
			log.Fatal(err)
		}
	}
	m, err := s.Rappor().NewMap([]string{"tea", "coffee", "milk", "beer"})
	if err != nil {
		log.Fatal(err)
	}
	e, err := c.Estimate(context.Background(), survey.Options{Map: m, Level: 0.9999, Alpha: 1e-6})
	if err != nil {
		log.Fatal(err)
	}
	truth := map[string]float64{"tea": 0.5, "coffee": 0.25, "milk": 0.25}
	for _, w := range e.Words.Words {
		fmt.Println("found", w.Value > 0.2, w.Low <= truth[w.Word] && truth[w.Word] <= w.High)
	}
	fmt.Println(s.Loss())
	// Output:
	// found true true
	// found true true
	// found true true
	// epsilon per report 3.9643, per record 3.9643, over a lifetime 3.9643 while the values stay
}

package service_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/service"
)

// A k-anonymous release with hierarchies and l-diversity takes one call. The
// specification (noren.yaml) states roles, hierarchies and parameters.
func ExampleService_Anonymize() {
	dir, err := exampleFiles()
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()

	result, err := new(service.Service).Anonymize(context.Background(), &api.AnonymizeRequest{
		Table:  api.Table{Input: filepath.Join(dir, "visits.csv"), SpecFile: filepath.Join(dir, "noren.yaml")},
		Output: filepath.Join(dir, "out.csv"),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Guarantee)
	fmt.Println(result.AchievedK, "records or more in each class")
	// Output:
	// k-anonymity, k = 4 over age, city; distinct 2-diversity of illness
	// 4 records or more in each class
}

// exampleFiles writes a table, a hierarchy and a specification to a new folder.
func exampleFiles() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "noren-example-*"); err != nil {
		return "", err
	}
	for name, text := range map[string]string{
		"visits.csv": `visit,age,city,illness
v1,34,Nara,cold
v2,36,Nara,flu
v3,35,Kobe,cold
v4,37,Kobe,asthma
v5,61,Osaka,flu
v6,64,Osaka,cold
v7,66,Nara,asthma
v8,63,Kobe,flu
`,
		"cities.csv": `Nara,inland,*
Kobe,coast,*
Osaka,coast,*
`,
		"noren.yaml": `version: 1
columns:
  visit: {role: identifier}
  age: {role: quasi-identifier, type: integer}
  city: {role: quasi-identifier, hierarchy: cities.csv}
  illness: {role: sensitive}
anonymize:
  k: 4
  l: 2
  publish: generalize
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return dir, err
		}
	}
	return dir, nil
}

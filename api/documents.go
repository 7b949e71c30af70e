package api

import (
	"reflect"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/query"
)

// Document is a form of JSON that Noren prints or sends.
type Document struct {
	// Schema is the name and the version of the form, as in "noren.query/1".
	Schema string
	// Price says that it is the form of a dry run, which bears the name of the answer.
	Price bool
	// Operation tells forms of one schema apart, as in "history" of noren.ledger/1. Mostly
	// empty.
	Operation string
	// Type is the Go type.
	Type reflect.Type
}

// Name is the schema, with " (dry run)" for a price or the operation in parentheses.
func (d Document) Name() string {
	switch {
	case d.Price:
		return d.Schema + " (dry run)"
	case d.Operation != "":
		return d.Schema + " (" + d.Operation + ")"
	}
	return d.Schema
}

// Documents lists all forms. Their fields are documented in docs/cli.md and their JSON
// schemas are in docs/schemas.
func Documents() []Document {
	return []Document{
		document[CertificateCheck](CertificateCheckSchema),
		form[Ledger](LedgerSchema, "show"),
		form[Granted](LedgerSchema, "grant"),
		form[History](LedgerSchema, "history"),
		form[LedgerVerification](LedgerSchema, "verify"),
		form[Reconciliation](LedgerSchema, "reconcile"),
		document[Outliers](OutliersSchema),
		priced[OutliersAccuracy](OutliersSchema),
		document[OutliersPlan](OutliersPlanSchema),
		document[OutliersSensitivity](OutliersSensitivitySchema),
		document[Query](QuerySchema),
		priced[query.Accuracy](QuerySchema),
		document[QueryAccuracy](QueryAccuracySchema),
	}
}

// Shared lists types that several forms contain, by their names in docs/cli.md.
func Shared() map[string]reflect.Type {
	return map[string]reflect.Type{
		"dataset":   reflect.TypeFor[Dataset](),
		"guarantee": reflect.TypeFor[noren.Guarantee](),
		"price":     reflect.TypeFor[Price](),
		"receipt":   reflect.TypeFor[Receipt](),
		"remaining": reflect.TypeFor[Remaining](),
	}
}

// document is the form of T.
func document[T any](schema string) Document {
	return Document{Schema: schema, Type: reflect.TypeFor[T]()}
}

// form is the form of T that an operation prints under a schema of several forms.
func form[T any](schema, operation string) Document {
	return Document{Schema: schema, Operation: operation, Type: reflect.TypeFor[T]()}
}

// priced is the form of a price with the accuracy A.
func priced[A any](schema string) Document {
	return Document{Schema: schema, Price: true, Type: reflect.TypeFor[Quote[A]]()}
}

package api

import (
	"reflect"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/assess"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/verify"
	"github.com/noren-privacy/noren/ldp"
	"github.com/noren-privacy/noren/ldp/evaluate"
	"github.com/noren-privacy/noren/ldp/survey"
	"github.com/noren-privacy/noren/query"
)

// Document is a form of JSON that Noren prints or sends.
type Document struct {
	// Schema is the name and the version of the form, as in "noren.query/1".
	Schema string
	// Price says that it is the form of a dry run, which bears the name of the answer.
	Price bool
	// Variant names one of several forms of the same schema; empty for the first.
	Variant string
	// Type is the Go type.
	Type reflect.Type
}

// Name is the schema, with " (dry run)" for a price, or its variant in brackets.
func (d Document) Name() string {
	switch {
	case d.Price:
		return d.Schema + " (dry run)"
	case d.Variant != "":
		return d.Schema + " (" + d.Variant + ")"
	}
	return d.Schema
}

// Documents lists all forms. Their fields are documented in docs/cli.md and their JSON
// schemas are in docs/schemas.
func Documents() []Document {
	return []Document{
		document[Release](kanon.ResultSchema),
		document[Assessment](assess.Schema),
		document[Curve](CurveSchema),
		document[Inspection](InspectSchema),
		document[LDPDesign](LDPDesignSchema),
		{Schema: LDPDesignSchema, Variant: "words", Type: reflect.TypeFor[LDPWordDesign]()},
		document[LDPEdges](LDPEdgesSchema),
		priced[query.Accuracy](LDPEdgesSchema),
		document[LDPEstimate](LDPEstimateSchema),
		document[LDPEvaluate](evaluate.Schema),
		document[LDPRandomise](LDPRandomiseSchema),
		document[LDPSimulate](LDPSimulateSchema),
		document[Outliers](OutliersSchema),
		priced[OutliersAccuracy](OutliersSchema),
		document[OutliersPlan](OutliersPlanSchema),
		document[OutliersSensitivity](OutliersSensitivitySchema),
		document[Query](QuerySchema),
		priced[query.Accuracy](QuerySchema),
		document[QueryAccuracy](QueryAccuracySchema),
		document[Verification](verify.ResultSchema),
	}
}

// Shared lists types that several forms contain, by their names in docs/cli.md.
func Shared() map[string]reflect.Type {
	return map[string]reflect.Type{
		"assessed-persons": reflect.TypeFor[assess.Persons](),
		"guarantee":        reflect.TypeFor[noren.Guarantee](),
		"loss":             reflect.TypeFor[ldp.LossJSON](),
		"price":            reflect.TypeFor[Price](),
		"privacy":          reflect.TypeFor[survey.Privacy](),
		"rappor":           reflect.TypeFor[ldp.Params](),
		"receipt":          reflect.TypeFor[Receipt](),
		"remaining":        reflect.TypeFor[Remaining](),
		"risk":             reflect.TypeFor[assess.Risk](),
		"uniqueness":       reflect.TypeFor[assess.Uniqueness](),
		"verified":         reflect.TypeFor[verify.Result](),
	}
}

// document is the form of T.
func document[T any](schema string) Document {
	return Document{Schema: schema, Type: reflect.TypeFor[T]()}
}

// priced is the form of a price with the accuracy A.
func priced[A any](schema string) Document {
	return Document{Schema: schema, Price: true, Type: reflect.TypeFor[Quote[A]]()}
}

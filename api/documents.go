package api

import (
	"reflect"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/assess"
	"github.com/noren-privacy/noren/correlated"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/verify"
	"github.com/noren-privacy/noren/query"
)

// Document is a form of JSON that Noren prints or sends.
type Document struct {
	// Schema is the name and the version of the form, as in "noren.query/1".
	Schema string
	// Price says that it is the form of a dry run, which bears the name of the answer.
	Price bool
	// Type is the Go type.
	Type reflect.Type
}

// Name is the schema, with " (dry run)" for a price.
func (d Document) Name() string {
	if d.Price {
		return d.Schema + " (dry run)"
	}
	return d.Schema
}

// Documents lists all forms. Their fields are documented in docs/cli.md and their JSON
// schemas are in docs/schemas.
func Documents() []Document {
	return []Document{
		document[CorrelatedAnswer](CorrelatedAnswerSchema),
		priced[correlated.Calibration](CorrelatedAnswerSchema),
		document[CorrelatedCalibrate](CorrelatedCalibrateSchema),
		document[CorrelatedLeakage](CorrelatedLeakageSchema),
		document[HarmEvaluate](HarmEvaluateSchema),
		document[HarmOptimise](HarmOptimiseSchema),
		document[HarmThreshold](HarmThresholdSchema),
		document[Release](kanon.ResultSchema),
		document[Assessment](assess.Schema),
		document[Curve](CurveSchema),
		document[Inspection](InspectSchema),
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
		"price":            reflect.TypeFor[Price](),
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

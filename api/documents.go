package api

import (
	"reflect"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/assess"
	"github.com/noren-privacy/noren/correlated"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/verify"
	"github.com/noren-privacy/noren/ldp"
	"github.com/noren-privacy/noren/ldp/evaluate"
	"github.com/noren-privacy/noren/ldp/survey"
	"github.com/noren-privacy/noren/query"
	"github.com/noren-privacy/noren/ratio"
)

// Document is a form of JSON that Noren prints or sends.
type Document struct {
	// Schema is the name and the version of the form, as in "noren.query/1".
	Schema string
	// Price says that it is the form of a dry run, which bears the name of the answer.
	Price bool
	// Variant names one of several forms of the same schema; empty for the first.
	Variant string
	// Operation tells forms of one schema apart, as in "history" of noren.ledger/1. Mostly
	// empty.
	Operation string
	// Type is the Go type.
	Type reflect.Type
}

// Name is the schema, with " (dry run)" for a price, or its variant in brackets.
// Name is the schema, with " (dry run)" for a price or the operation in parentheses.
func (d Document) Name() string {
	switch {
	case d.Price:
		return d.Schema + " (dry run)"
	case d.Variant != "":
		return d.Schema + " (" + d.Variant + ")"
	case d.Operation != "":
		return d.Schema + " (" + d.Operation + ")"
	}
	return d.Schema
}

// Documents lists all forms. Their fields are documented in docs/cli.md and their JSON
// schemas are in docs/schemas.
func Documents() []Document {
	return []Document{
		{Schema: LDPDesignSchema, Variant: "words", Type: reflect.TypeFor[LDPWordDesign]()},
		document[Answers](AskSchema),
		{Schema: AskSchema, Price: true, Type: reflect.TypeFor[AskQuote]()},
		document[CertificateCheck](CertificateCheckSchema),
		document[CorrelatedAnswer](CorrelatedAnswerSchema),
		priced[correlated.Calibration](CorrelatedAnswerSchema),
		document[CorrelatedCalibrate](CorrelatedCalibrateSchema),
		document[CorrelatedLeakage](CorrelatedLeakageSchema),
		document[Curve](CurveSchema),
		document[Failure](FailureSchema),
		document[HarmEvaluate](HarmEvaluateSchema),
		document[HarmOptimise](HarmOptimiseSchema),
		document[HarmThreshold](HarmThresholdSchema),
		document[Inspection](InspectSchema),
		document[LDPCounted](LDPCountedSchema),
		document[LDPDesign](LDPDesignSchema),
		document[LDPEdges](LDPEdgesSchema),
		priced[query.Accuracy](LDPEdgesSchema),
		document[LDPEstimate](LDPEstimateSchema),
		document[LDPRandomise](LDPRandomiseSchema),
		document[LDPSimulate](LDPSimulateSchema),
		form[LedgerExportCheck](LedgerSchema, "check-export"),
		form[LedgerExported](LedgerSchema, "export"),
		form[Granted](LedgerSchema, "grant"),
		form[History](LedgerSchema, "history"),
		form[Reconciliation](LedgerSchema, "reconcile"),
		form[Ledger](LedgerSchema, "show"),
		form[LedgerVerification](LedgerSchema, "verify"),
		document[OutliersPlan](OutliersPlanSchema),
		document[Outliers](OutliersSchema),
		priced[OutliersAccuracy](OutliersSchema),
		document[OutliersSensitivity](OutliersSensitivitySchema),
		document[QueryAccuracy](QueryAccuracySchema),
		document[Query](QuerySchema),
		priced[query.Accuracy](QuerySchema),
		document[RatioAnswer](RatioAnswerSchema),
		document[RatioCheck](RatioCheckSchema),
		priced[struct{}](RatioCheckSchema),
		document[RatioFit](RatioFitSchema),
		priced[[]ratio.KernelNoise](RatioFitSchema),
		document[RatioPlan](RatioPlanSchema),
		document[Assessment](assess.Schema),
		document[LDPEvaluate](evaluate.Schema),
		document[Release](kanon.ResultSchema),
		document[ReleasePlan](ReleasePlanSchema),
		document[Verification](verify.ResultSchema),
	}
}

// Shared lists types that several forms contain, by their names in docs/cli.md.
func Shared() map[string]reflect.Type {
	return map[string]reflect.Type{
		"assessed-persons": reflect.TypeFor[assess.Persons](),
		"dataset":          reflect.TypeFor[Dataset](),
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

// form is the form of T that an operation prints under a schema of several forms.
func form[T any](schema, operation string) Document {
	return Document{Schema: schema, Operation: operation, Type: reflect.TypeFor[T]()}
}

// priced is the form of a price with the accuracy A.
func priced[A any](schema string) Document {
	return Document{Schema: schema, Price: true, Type: reflect.TypeFor[Quote[A]]()}
}

package release

// Codes of the errors of this package ([noren.Error.Code]).
const (
	CodeNoSchema   = "no-schema"   // the data set has no definition yet
	CodeKnown      = "known"       // a ledger knows the file of an unaccounted request
	CodePrivate    = "private"     // a ledger knows the file that should be public
	CodeChanged    = "changed"     // the file is not the granted version
	CodeWithheld   = "withheld"    // a failure after the charge
	CodeNoiseKey   = "noise-key"   // the key to the noise of a charged request is missing
	CodeMost       = "costs-more"  // the request costs more than it allows
	CodeModel      = "model"       // the query does not go with the model of dependence
	CodeNotZCDP    = "not-zcdp"    // the budget is in zCDP, and the answer has no loss there
	CodeColumnType = "column-type" // the query reads a column as another type than the definition's
)

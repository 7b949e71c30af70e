package kanon

import "github.com/noren-privacy/noren/internal/identity"

// unordered are the fields of a job that the order of its rows does not depend on, with the
// reasons. All others are in [Job.requestSum].
var unordered = identity.Except{
	"kanon.Job.Source":   "in the sum of the source, whose names and places do not count",
	"kanon.Job.Kept":     "lets columns pass the gate: the release is the same, or there is none",
	"kanon.Job.Looked":   "follows from the source",
	"kanon.Job.Progress": "gets messages, and changes nothing",

	"kanon.Output.Path":          "the name of a file; its format holds the same values",
	"kanon.Output.Force":         "replaces a file",
	"kanon.Output.Target":        "the name of a table or folder, and the number of records of a file: the same records in the same order",
	"kanon.Output.Stdout":        "a stream",
	"kanon.Output.Dialect":       "how a text file is written: the same values",
	"kanon.Output.Classes":       "is in the result and not in the release",
	"kanon.Output.Ready":         "creates other files, and changes nothing",
	"kanon.Output.Verified":      "gets messages, and changes nothing",
	"kanon.Output.VerifiedTable": "gets the table of a database, and changes nothing",

	"kanon.Options.KeepOrder":  "there is no secret order then",
	"kanon.Options.SecretSeed": "the key",
	"kanon.Options.Seed":       "the key",
	"kanon.Options.Workers":    "the release does not depend on it",
	"kanon.Options.Memory":     "the release does not depend on it",
	"kanon.Options.Gap":        "is for the bound of the loss, and changes nothing of the release",

	"partition.Options.K":        "set to the K of the job",
	"partition.Options.Measure":  "set by the job from what is published",
	"partition.Options.Judge":    "set by the job from its requirement",
	"partition.Options.Workers":  "set by the job; the groups do not depend on it",
	"partition.Options.Progress": "set by the job; changes nothing",
}

package shard

import "github.com/noren-privacy/noren/internal/identity"

// unordered are the fields of a job that the order of its rows does not depend on, with the
// reasons: see [kanon.Options.OrderKey].
var unordered = identity.Except{
	"shard.Job.Protocol":    "of the program: what another makes of the records is in the sum of them",
	"shard.Job.Build":       "of the program: what another makes of the records is in the sum of them",
	"shard.Job.Version":     "of the program: what another makes of the records is in the sum of them",
	"shard.Job.Input":       "a name",
	"shard.Job.Output":      "a name",
	"shard.Job.Shards":      "in the sums of the files, whose names and times do not count",
	"shard.Job.Form":        "in the sums of the files",
	"shard.Job.Options":     "in the sum of the options that follow from them",
	"shard.Job.Fates":       "follows from the roles",
	"shard.Job.FreeText":    "is for messages, and changes nothing",
	"shard.Job.Folder":      "a name",
	"shard.Job.Before":      "a name",
	"shard.Job.After":       "a name; the format holds the same values",
	"shard.Job.Force":       "replaces an earlier release",
	"shard.Job.Dialect":     "how text files are written: the same values",
	"shard.Job.Key":         "drawn for each job; digests of persons follow from it, and nothing of the release",
	"shard.Job.Certificate": "a name",
	"shard.Job.Notes":       "stated in the certificate",
	"shard.Hierarchy.Name":  "the name of a file",

	"shard.Job.id":     "the number of the job",
	"shard.Job.schema": "follows from the fields",
	"shard.Job.run":    "in the sum of the options",
	"shard.Job.sum":    "what is computed here",
}

package api

import "github.com/noren-privacy/noren/kanon/shard"

// BeginShardsRequest asks for a k-anonymous release in shards, on a cluster. Of the fields of
// AnonymizeRequest, a cluster has no use for SplitRows, Report, Previous, PreviousSource, Workers, Memory and
// Stdout.
type BeginShardsRequest struct {
	AnonymizeRequest
	// Job is the folder of the job, which its owner alone may read. Required.
	Job string `json:"job"`
	// Build is the build of the program: all processes of a job have the same.
	Build string `json:"build"`
	// BucketRows is about how many records a file of the release has. Defaults to 500,000.
	BucketRows int64 `json:"bucket_rows,omitempty"`
}

// ShardsBegun describes a job that was begun.
type ShardsBegun struct {
	// Protocol is the version of the stages.
	Protocol int `json:"protocol"`
	// Shards are the files of the table.
	Shards []ShardFile `json:"shards"`
	// Output is the folder of the release.
	Output string `json:"output"`
	// K is the least number of records of a class.
	K int `json:"k"`
	// Notes are remarks for the steward.
	Notes []string `json:"notes"`
}

// ShardFile is a file of a table.
type ShardFile struct {
	// Shard is its number, from 0.
	Shard int `json:"shard"`
	// Path is where it is.
	Path string `json:"path"`
	// Bytes is its size.
	Bytes int64 `json:"bytes"`
}

// CommitShardsRequest asks to commit a release in shards.
type CommitShardsRequest struct {
	// Job is the folder of the job. Required.
	Job string `json:"job"`
	// Build is the build of the program.
	Build string `json:"build"`
	// Results are the results of all buckets and the checks of their files, frame by frame.
	// Required.
	Results shard.Frames `json:"-"`
}

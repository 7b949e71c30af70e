// Package shard makes a k-anonymous release of a table in several files, stage by stage, in
// processes that share nothing but a folder and what an engine passes between them.
//
// The stages are functions of bytes: [Job.Survey] looks at one file, [Job.MergeFirst] and
// [Job.MergeSecond] put the looks together, [Job.Route] packs the records of one file into
// blocks of buckets, [Job.Release] makes the groups of one bucket and writes its file,
// [Job.Check] has that file verified, and [Job.Commit] names the files and writes the
// manifest. The groups of a bucket are made by package kanon/block, as in a release of one
// process. No engine is imported: `noren worker` runs the stages, and docs/cluster.md says
// how engines run these.
//
// # Guarantee
//
// In every file that [Job.Commit] names, and so in all of them together, every combination of
// values of the quasi-identifiers that occurs, occurs in at least k records of that file, or
// in records of at least k persons. Identifiers are in no file, and all other columns are as
// they were. The proof is in docs/cluster.md, section 10. Each file is verified as it was
// written, by kanon/verify, in a process that did not write it; where any file fails, none is
// named.
//
// Neighbours, budgets: none. As for any k-anonymous release, columns that are no
// quasi-identifiers are not protected.
//
// The surveys, the plan, the blocks and the results of buckets are private: they hold values
// of the table, or figures computed from it. Nothing of them is in an error.
package shard

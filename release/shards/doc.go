// Package shards computes the exact sums of a query over a data set in several files, file
// by file and part by part, so that the tasks of a cluster can.
//
// A job has three steps, each a function of bytes:
//
//	route    a file -> blocks of its records, by the person bucket
//	sum      the blocks of a bucket -> a part: exact sums, and what was read of each file
//	merge    all parts -> the sums of the whole
//
// Where the unit is one record there are no persons to gather, and [Plan.SumFile] makes a
// part of a file alone.
//
// # Equality with the whole
//
// A bucket is chosen by HMAC-SHA256 of the person's label under a key of the job, so that
// all records of a person meet in one part. There the records that count are chosen by
// their contents and the query's key, as they are in the whole (package query), so that the
// same records count, and sums of whole numbers do not depend on the order. [Plan.Merge]
// makes sure that every record of every file is in one part: the records that the parts
// counted of a file are as many as the file has.
//
// # Privacy
//
// Blocks, parts and plans are private data, as the file is: package release alone adds
// noise to their sum, once. A plan also holds the keys of the job. Errors of the three steps
// say nothing of a cell, but that one occurs may depend on the data: front ends show a
// constant text in their place.
package shards

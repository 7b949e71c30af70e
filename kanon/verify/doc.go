// Package verify decides whether a file keeps k-anonymity, l-diversity and
// t-closeness. It uses only the file: no partition, no group, no original.
//
//	src, err := file.Open(ctx, "release.csv", file.Options{})
//	...
//	result, err := verify.Verify(ctx, src, verify.Options{
//		Quasi:       []string{"age", "sex", "postcode"},
//		Requirement: privacy.Requirement{K: 5},
//	}, nil)
//	if err == nil {
//		err = result.Err() // of kind noren.NotMet, or nil
//	}
//
// # Guarantee
//
// A class is the set of all records whose texts agree in every quasi-identifier,
// byte for byte. Which texts stand for missing values does not matter for it: a
// reader of the file can tell NA from an empty field, and in a Parquet file a
// null from an empty text, so that they are in different classes. Classes are
// distinguished by these texts themselves and not by a hash of them: records that
// are counted together are together. Two ways to write one value (1 and 1.0)
// are two texts, which can only make classes smaller than they are for someone
// who reads the values.
//
// Result.Met is true exactly when every class has K records at least and keeps
// the diversity and the closeness asked for in every sensitive column
// (noren/kanon/privacy).
//
// # Persons
//
// With a [Unit] K, diversity and closeness count persons: those that the caller
// gives for the records of the file, or those that a column of the file tells
// apart. Result.Unit then says how many persons are in a class, and how many fit
// all records of one; with Linked the latter must be K at least.
//
// # Cost
//
// One pass over the quasi-identifiers and the sensitive columns. In memory are
// the texts of one record a class, and where anything is asked of sensitive
// columns 4 bytes a record and column; where persons are counted some 40 bytes a
// record more.
package verify

// Package kinds has the questions that a data set can be asked, one file for each kind. A file says
// all that is public about its kind: the fields with their types, units and defaults, what the definition
// of a table allows them, noises, groups, what a margin is of, how the question is said, and how its
// answer is read. What private data is needed for is in package service.
//
// A new kind is a struct with the methods of [Kind] in a file of its own, one line in [all], and the
// mechanism in the package of its family.
package kinds

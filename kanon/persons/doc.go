// Package persons divides records into groups that hold records of at least k
// distinct persons each, where k-anonymity by records would count the records of
// one person several times.
//
// A person is the set of all records that have the same number in a list of
// persons; [privacy.NoPerson] marks a record whose person is not known, which
// counts for no person and may be in any group.
//
//   - [Divide] makes each group hold k persons. It protects against somebody who
//     knows one record of a person.
//   - [Link] groups the persons first, k or more together, and divides the records
//     of each such group of persons so that every class has a record of each of
//     them. It protects against somebody who knows all records of a person: every
//     class that a record of the person is in has records of the same k persons or
//     more (docs/k-anonymity.md, "Persons").
package persons

// Package shuffle writes records in a secret random order, in bounded memory.
//
// The order of a release must not tell which record came from where: a reader
// who knows that the source was sorted by name could otherwise find a person by
// counting. [Permutation] draws an order that cannot be guessed, and [Write]
// writes by it.
//
// # Guarantee
//
// Every record that is read is written once, with all its values as they were
// (numbers to the last bit, bytes, nulls), record i at place Order[i], whether
// or not memory was enough for all of them. What memory cannot hold goes to one
// temporary file in the folder of the result. It has no name where the system
// allows that (Unix), is readable by its owner alone, and is gone when Write
// returns or the process dies.
package shuffle

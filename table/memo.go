package table

// Memo keeps what was computed from the columns of a table, for the next who computes the
// same. It belongs to one table as it was read, records in their order, and ends with it: its
// keys need to cover what was computed, and not of which table. It may be shared by
// goroutines. What it keeps is as private as the table.
type Memo interface {
	// Get returns what was put under the key; false where there is nothing.
	Get(key string) (any, bool)
	// Put keeps a value of about size bytes, as long as there is memory for it. It must not be changed
	// any more.
	Put(key string, value any, size int64)
}

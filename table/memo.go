package table

// Memo keeps what was computed from the columns of a table, for the next who computes the
// same. It may be shared by goroutines. What it keeps is as private as the table.
type Memo interface {
	// Get returns what was put under the key; false where there is nothing.
	Get(key string) (any, bool)
	// Put keeps a value of about size bytes, as long as there is room. It must not be changed
	// any more.
	Put(key string, value any, size int64)
}

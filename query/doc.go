// Package query answers everyday questions about a table with differential
// privacy.
package query

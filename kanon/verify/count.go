package verify

import (
	"hash/maphash"
	"sync/atomic"
)

// batchRows is the number of records that are passed on at once.
const batchRows = 4096

// counting counts records in a goroutine of its own. Its methods are for the goroutine
// that reads the file.
type counting struct {
	classes *classes
	full    chan []uint32 // numbers of records
	empty   chan []uint32 // buffers that can be filled again
	done    chan struct{}
	of      []uint32
	held    atomic.Int64
	number  atomic.Int64
}

// buffers is the number of batches under way.
const buffers = 3

func startCounting(seed maphash.Seed, columns int, keep bool) *counting {
	c := &counting{
		classes: newClasses(seed, columns, keep), full: make(chan []uint32, buffers), empty: make(chan []uint32, buffers),
		done: make(chan struct{}),
	}
	for range buffers {
		c.empty <- make([]uint32, batchRows*columns)
	}
	go func() {
		defer close(c.done)
		var of *[]uint32
		if keep {
			of = &c.of
		}
		for numbers := range c.full {
			c.classes.addAll(numbers, of)
			c.held.Store(c.classes.bytes())
			c.number.Store(int64(c.classes.number))
			c.empty <- numbers[:cap(numbers)]
		}
	}()
	return c
}

// buffer is a buffer for the numbers of n records, at most batchRows.
func (c *counting) buffer(n int) []uint32 { return (<-c.empty)[:n*c.classes.columns] }

// send has the records of a buffer counted.
func (c *counting) send(numbers []uint32) { c.full <- numbers }

// bytes is the memory that the classes took when the last batch was counted, and their
// number.
func (c *counting) bytes() (held, classes int64) { return c.held.Load(), c.number.Load() }

// finish waits for what was sent and returns the sizes of all classes, and the class of
// each record where that was asked for.
func (c *counting) finish() (sizes []int64, of []uint32) {
	close(c.full)
	<-c.done
	return c.classes.sizes(), c.of
}

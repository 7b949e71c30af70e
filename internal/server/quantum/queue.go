package quantum

import "slices"

// owner is a principal in a book.
type owner struct{ principal, book string }

func (c *Claim) owner() owner { return owner{c.Principal, c.Book} }

// waiter is a request that is not accepted.
type waiter struct {
	claim    Claim
	accepted chan *Ticket // takes its ticket, or nil when the desk closes
}

// queue holds the requests that wait. The principals follow each other, and so do the books
// of each principal; the requests of a principal in a book have the order of their arrival.
type queue struct {
	most, size int
	principals []*principalQueue
	books      map[string]int // requests that wait, by book
}

// principalQueue is the part of a principal.
type principalQueue struct {
	name  string
	size  int
	books []*bookQueue
}

// bookQueue is the part of a principal in a book. It is never empty.
type bookQueue struct {
	name    string
	waiting []*waiter
}

func newQueue(most int) *queue { return &queue{most: most, books: map[string]int{}} }

// add lets a request wait, and reports whether the queue and its shares allow it.
func (q *queue) add(w *waiter) bool {
	share := func(parts int) int { return max(1, q.most/parts) }
	p := q.principal(w.claim.Principal)
	if q.size >= q.most || q.books[w.claim.Book] >= share(2) || p != nil && p.size >= share(4) {
		return false
	}
	if p == nil {
		p = &principalQueue{name: w.claim.Principal}
		q.principals = append(q.principals, p)
	}
	i := slices.IndexFunc(p.books, func(b *bookQueue) bool { return b.name == w.claim.Book })
	if i < 0 {
		i = len(p.books)
		p.books = append(p.books, &bookQueue{name: w.claim.Book})
	}
	p.books[i].waiting = append(p.books[i].waiting, w)
	q.size++
	p.size++
	q.books[w.claim.Book]++
	return true
}

func (q *queue) principal(name string) *principalQueue {
	for _, p := range q.principals {
		if p.name == name {
			return p
		}
	}
	return nil
}

// next is the request that is accepted next; nil where none waits but for those of owners that
// are held.
func (q *queue) next(held map[owner]int) *waiter {
	for _, p := range q.principals {
		for _, b := range p.books {
			if held[owner{p.name, b.name}] == 0 {
				return b.waiting[0]
			}
		}
	}
	return nil
}

// remove takes a request out, and reports whether it waited. After one that was served its
// principal and book are the last in their turns.
func (q *queue) remove(w *waiter, served bool) bool {
	p := q.principal(w.claim.Principal)
	if p == nil {
		return false
	}
	at := slices.IndexFunc(p.books, func(b *bookQueue) bool { return b.name == w.claim.Book })
	if at < 0 {
		return false
	}
	b := p.books[at]
	i := slices.Index(b.waiting, w)
	if i < 0 {
		return false
	}
	b.waiting = slices.Delete(b.waiting, i, i+1)
	q.size--
	p.size--
	if q.books[b.name]--; q.books[b.name] == 0 {
		delete(q.books, b.name)
	}
	if served || len(b.waiting) == 0 {
		p.books = slices.Delete(p.books, at, at+1)
		if len(b.waiting) > 0 {
			p.books = append(p.books, b)
		}
	}
	if served || p.size == 0 {
		q.principals = slices.DeleteFunc(q.principals, func(one *principalQueue) bool { return one == p })
		if p.size > 0 {
			q.principals = append(q.principals, p)
		}
	}
	return true
}

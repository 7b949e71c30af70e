package questions

// state is where a paid request stands. It changes by [state.after] alone, which knows this
// table and nothing else; "-" is no transition.
//
//	state     accept  charge   compute   keep    reply    drop     resume
//	claimed   begun   -        -         -       -        dropped  resumed
//	begun     -       charged  -         -       replied  dropped  -
//	charged   -       -        computed  -       replied  -        -
//	computed  -       -        -         stored  replied  -        -
//	stored    -       -        -         -       replied  -        -
//	resumed   -       -        computed  stored  replied  dropped  -
//	replied   -       -        -         -       -        -        -
//	dropped   -       -        -         -       -        -        -
//
// A reply that leaves a state before stored is a problem: the question stays open in the
// store, and what became of it is read in the ledger. A charged request is never dropped.
type state int

const (
	// claimed: the request has its key. Nothing is stored and nothing charged.
	claimed state = iota
	// begun: the desk has accepted the request, and its work runs.
	begun
	// charged: the charge is durable.
	charged
	// computed: the answer was computed, or has failed.
	computed
	// stored: the answer is in the store, or that there is none.
	stored
	// resumed: a process that stopped had stored the question, and this one ends it.
	resumed
	// replied: the reply may leave, and the key is given back. An end.
	replied
	// dropped: the key is given back, and nothing was charged for the request. An end.
	dropped
)

func (s state) String() string {
	return [...]string{"claimed", "begun", "charged", "computed", "stored", "resumed", "replied", "dropped"}[s]
}

// over reports whether the request has given its key back.
func (s state) over() bool { return s == replied || s == dropped }

// event is what happens to a paid request.
type event int

const (
	accept  event = iota // by the desk
	charge               // in the ledger
	compute              // with or without success
	keep                 // the answer in the store, or that there is none
	reply                // leaves
	drop                 // without a charge
	resume               // after a restart
)

func (e event) String() string {
	return [...]string{"accept", "charge", "compute", "keep", "reply", "drop", "resume"}[e]
}

// after is the state that follows s at an event: s itself, and false, where the table has no
// transition.
func (s state) after(e event) (state, bool) {
	switch {
	case s == claimed && e == accept:
		return begun, true
	case s == claimed && e == resume:
		return resumed, true
	case s == begun && e == charge:
		return charged, true
	case (s == charged || s == resumed) && e == compute:
		return computed, true
	case (s == computed || s == resumed) && e == keep:
		return stored, true
	case s != claimed && !s.over() && e == reply:
		return replied, true
	case (s == claimed || s == begun || s == resumed) && e == drop:
		return dropped, true
	}
	return s, false
}

// stands is the state of a request.
func (q *Questions) stands(p *paying) state {
	q.mu.Lock()
	defer q.mu.Unlock()
	return p.state
}

// move lets an event happen to a request, and reports whether it belongs to its state.
func (q *Questions) move(p *paying, e event) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return p.move(e)
}

// move is [Questions.move] for a caller that holds the lock.
func (p *paying) move(e event) (ok bool) {
	p.state, ok = p.state.after(e)
	return ok
}

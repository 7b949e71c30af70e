package questions

import "errors"

// state is where a paid request stands. It changes by [state.after] alone, which knows this
// table and nothing else; "-" is no transition, and an error.
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

// errState is the error of an event that does not belong to a state.
var errState = errors.New("questions: the state of a request does not allow this step")

// after is the state that follows s at an event. s itself and an error follow where the
// table has no transition.
func (s state) after(e event) (state, error) {
	switch {
	case s == claimed && e == accept:
		return begun, nil
	case s == claimed && e == resume:
		return resumed, nil
	case s == begun && e == charge:
		return charged, nil
	case (s == charged || s == resumed) && e == compute:
		return computed, nil
	case (s == computed || s == resumed) && e == keep:
		return stored, nil
	case s != claimed && !s.over() && e == reply:
		return replied, nil
	case (s == claimed || s == begun || s == resumed) && e == drop:
		return dropped, nil
	}
	return s, errState
}

// stands is the state of a request.
func (q *Questions) stands(p *paying) state {
	q.mu.Lock()
	defer q.mu.Unlock()
	return p.state
}

// move lets an event happen to a request.
func (q *Questions) move(p *paying, e event) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return p.move(e)
}

// move lets an event happen. The caller holds the lock of [Questions].
func (p *paying) move(e event) (err error) {
	p.state, err = p.state.after(e)
	return err
}

package account

import "testing"

func TestCostsPartByPart(t *testing.T) {
	a, b := Cost{Epsilon: 5, Delta: 1, Rho: 7}, Cost{Epsilon: 2, Delta: 3, Rho: 7}
	if got, want := a.Minus(b), (Cost{Epsilon: 3}); got != want {
		t.Errorf("%v less %v is %v, want %v", a, b, got, want)
	}
	if got, want := a.Least(b), (Cost{Epsilon: 2, Delta: 1, Rho: 7}); got != want {
		t.Errorf("the least of %v and %v is %v, want %v", a, b, got, want)
	}
}

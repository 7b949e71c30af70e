package ldp

import "github.com/noren-privacy/noren/noise"

// window is the mechanism under Piecewise and Square Wave, on integers so that it
// runs exactly as stated: the input is a position, 0 to cells-width; the output is
// a cell, 0 to cells-1, with probability in one of the width cells from the
// position on, all alike, else one of the other cells, all alike.
//
// Two inputs differ in the probability of a cell by the ratio
// at most (in/width) / ((1-in)/(cells-width)), which is e^epsilon for
// in = width e^eps/(width e^eps + cells - width), rounded down.
type window struct {
	cells, width int
	in           prob
}

func newWindow(cells, width int, epsilon float64) window {
	return window{cells: cells, width: width, in: share(float64(width)*safeExp(epsilon), float64(cells-width))}
}

// positions is how many inputs there are.
func (w window) positions() int { return w.cells - w.width + 1 }

// draw draws a cell; the same words whichever side it falls on.
func (w window) draw(src *noise.Source, position int) (int, error) {
	in, err := w.in.draw(src)
	if err != nil {
		return 0, err
	}
	near, err := uniform(src, uint64(w.width))
	if err != nil {
		return 0, err
	}
	far, err := uniform(src, uint64(w.cells-w.width))
	if err != nil {
		return 0, err
	}
	if in {
		return position + int(near), nil
	}
	if int(far) >= position {
		return int(far) + w.width, nil
	}
	return int(far), nil
}

// densities are the probabilities of one cell within the window and without.
func (w window) densities() (in, out float64) {
	return w.in.float() / float64(w.width), w.in.not().float() / float64(w.cells-w.width)
}

// moments returns the mean of the cell as a + b position.
//
//	E[cell] = in (position + (width-1)/2) + out (A - B)/(cells-width)
//
// with A the sum of all cells and B = width position + width (width-1)/2 that of
// the cells of the window.
func (w window) moments() (a, b float64) {
	in, out := w.in.float(), w.in.not().float()
	n, m := float64(w.cells), float64(w.width)
	a = in*(m-1)/2 + out*(n*(n-1)/2-m*(m-1)/2)/(n-m)
	b = in - out*m/(n-m)
	return a, b
}

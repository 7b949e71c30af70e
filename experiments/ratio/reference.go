package ratio

// noteKey is a cell of the design's own trial, run beforehand by an independent
// program on other seeds: 100 repeats of S1, 60 of the others.
type noteKey struct {
	setting, method string
	epsilon         float64
	normalised      bool
}

// notes are means over repeats of the mean squared error over E. A method in S1 stands
// with three epsilons, as fitted and normalised.
var notes = func() map[noteKey]float64 {
	out := map[noteKey]float64{}
	for method, v := range map[string][2]float64{Constant: {1.671, 1.671}, PrivateD: {0.4393, 0.3881}, PrivateE: {0.3258, 0.2884}} {
		out[noteKey{"S1", method, 0, false}], out[noteKey{"S1", method, 0, true}] = v[0], v[1]
	}
	for method, v := range map[string][2][3]float64{
		WrittenA:  {{10.39, 1.162, 0.4326}, {1.392, 0.5319, 0.3323}},
		SoundA:    {{17.11, 1.306, 0.4571}, {1.880, 0.6935, 0.3314}},
		WrittenB:  {{108.1, 1.258, 0.3347}, {1.784, 0.7125, 0.2964}},
		ExactB:    {{37.96, 0.6621, 0.3282}, {1.591, 0.5230, 0.2914}},
		WrittenC:  {{256.9, 2.100, 0.4448}, {0.5190, 0.3468, 0.3771}},
		Laplace12: {{1.927, 0.2811, 0.2602}, {0.6822, 0.2652, 0.2464}},
		LaplaceNN: {{0.5767, 0.3808, 0.3814}, {0.5302, 0.3940, 0.3953}},
		Pure:      {{0.3085, 0.2662, 0.2615}, {0.2901, 0.2532, 0.2485}},
		PureE:     {{0.4560, 0.4064, 0.4057}, {0.4764, 0.4277, 0.4275}},
		Gaussian:  {{0.3056, 0.2647, 0.2646}, {0.2841, 0.2517, 0.2515}},
	} {
		for i, epsilon := range epsilons {
			out[noteKey{"S1", method, epsilon, false}], out[noteKey{"S1", method, epsilon, true}] = v[0][i], v[1][i]
		}
	}
	for i, setting := range []string{"S2", "S3", "S4"} {
		cell := func(method string, epsilon float64, normal bool, v [3]float64) {
			out[noteKey{setting, method, epsilon, normal}] = v[i]
		}
		constant := [3]float64{1.680, 1.573, 0.953}
		cell(Constant, 0, false, constant)
		cell(Constant, 0, true, constant)
		cell(PrivateE, 0, false, [3]float64{0.147, 0.236, 0.136})
		cell(PureNo, 0, true, [3]float64{0.089, 0.210, 0.578})
		cell(WrittenB, 0.1, false, [3]float64{4418, 3294, 6589})
		cell(WrittenB, 1, false, [3]float64{40.70, 30.15, 63.37})
		cell(WrittenB, 0.1, true, [3]float64{2.068, 1.603, 0.990})
		cell(WrittenB, 1, true, [3]float64{1.570, 1.256, 0.843})
		cell(Laplace12, 0.1, true, [3]float64{0.835, 1.613, 1.395})
		cell(Laplace12, 1, true, [3]float64{0.191, 0.547, 0.997})
		cell(Pure, 0.1, true, [3]float64{0.206, 0.474, 0.908})
		cell(Pure, 1, true, [3]float64{0.092, 0.222, 0.668})
	}
	out[noteKey{"S1", PureNo, 0, true}] = 0.259
	return out
}()

func note(setting, method string, epsilon float64, normalised bool) *float64 {
	if v, ok := notes[noteKey{setting, method, epsilon, normalised}]; ok {
		return &v
	}
	return nil
}

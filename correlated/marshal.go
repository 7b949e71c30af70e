package correlated

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
)

// Hash is the SHA-256 of "noren.model/1", a zero byte and the JSON that f is
// written as, in hexadecimal: one model, with its states and its source, has one
// hash, however its file was laid out.
func (f *ModelFile) Hash() (string, error) {
	text, err := json.Marshal(f)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	h.Write([]byte("noren.model/1\x00"))
	h.Write(text)
	return hex.EncodeToString(h.Sum(nil)), nil
}

// MarshalJSON writes f as [ParseModel] reads it.
func (f *ModelFile) MarshalJSON() ([]byte, error) {
	fields, err := modelFields(f.Model)
	if err != nil {
		return nil, err
	}
	if f.States != nil {
		fields["states"] = f.States
	}
	if f.Source != "" {
		fields["source"] = f.Source
	}
	return json.Marshal(fields)
}

func modelFields(m Model) (map[string]any, error) {
	o := map[string]any{"type": m.Kind()}
	switch m := m.(type) {
	case *JointTable:
		o["shape"], o["p"] = m.shape, m.p
	case *Chain:
		o["init"] = m.init
		if len(m.step) > 0 && m.Homogeneous() && m.pool[m.step[0]].rows == m.pool[m.step[0]].cols {
			o["P"], o["length"] = m.pool[m.step[0]].matrix(), m.Records()
			break
		}
		steps := make([][][]float64, len(m.step))
		for i, s := range m.step {
			steps[i] = m.pool[s].matrix()
		}
		o["P"] = steps
	case *Tree:
		var prior []float64
		cpt := make([][][]float64, len(m.parent))
		shared := int32(-1)
		for i, p := range m.parent {
			k := m.pool[m.kernel[i]]
			switch {
			case p >= 0 || prior != nil && m.kernel[i] != shared:
				cpt[i] = k.matrix()
			case prior == nil:
				prior, shared = k.p, m.kernel[i]
			}
		}
		o["parent"], o["prior"], o["cpt"] = m.parent, prior, cpt
	case *Class:
		members := make([]map[string]any, len(m.list))
		for i, member := range m.list {
			var err error
			if members[i], err = modelFields(member); err != nil {
				return nil, err
			}
		}
		o["members"] = members
	case *Box:
		centre, err := modelFields(m.centre)
		if err != nil {
			return nil, err
		}
		low, high := m.boundMatrices()
		o["centre"], o["low"], o["high"] = centre, low, high
	}
	return o, nil
}

func (k *kernel) matrix() [][]float64 {
	m := make([][]float64, k.rows)
	for x := range m {
		m[x] = k.p[x*k.cols : (x+1)*k.cols]
	}
	return m
}

// boundMatrices are the bounds of every step, or of one where all are equal.
func (b *Box) boundMatrices() (low, high [][][]float64) {
	low, high = [][][]float64{}, [][][]float64{} // a chain of one record has no step: [], and not null
	_, chain := b.centre.(*Chain)
	one := true
	last := int32(-1)
	for v, p := range b.tree.parent {
		if p < 0 {
			if !chain {
				low, high = append(low, nil), append(high, nil)
			}
			continue
		}
		id := b.tree.kernel[v]
		one = one && (last < 0 || last == id)
		last = id
		low, high = append(low, b.bounds[id].low.matrix()), append(high, b.bounds[id].high.matrix())
	}
	if one && last >= 0 {
		keep := func(m [][]float64) bool { return m == nil }
		low, high = slices.DeleteFunc(low, keep)[:1], slices.DeleteFunc(high, keep)[:1]
	}
	return low, high
}

// MarshalJSON writes q as [ParseQuery] reads it.
func (q *Query) MarshalJSON() ([]byte, error) {
	switch {
	case q.joint != nil:
		return json.Marshal(map[string]any{"joint": q.joint})
	case q.histogram:
		return []byte(`{"histogram":true}`), nil
	case q.count != nil && q.weights != nil:
		return json.Marshal(map[string]any{"count": q.count, "weights": q.weights})
	case q.count != nil:
		return json.Marshal(map[string]any{"count": q.count})
	case q.rows != nil:
		return json.Marshal(map[string]any{"g": q.rows})
	}
	return json.Marshal(map[string]any{"g": q.each})
}

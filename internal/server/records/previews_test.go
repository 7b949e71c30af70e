package records

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// One principal's previews take the place of its own, the oldest first, and leave what others
// have studied.
func TestPreviewsOfPrincipals(t *testing.T) {
	r := &Records{previews: map[string]*preview{}}
	work, begun := t.TempDir(), time.Now()
	keep := func(by string, i int) *preview {
		t.Helper()
		recipe := fmt.Sprintf("%s %d", by, i)
		p := &preview{recipe: recipe, by: by, dir: filepath.Join(work, recipe), made: begun.Add(time.Duration(i) * time.Second)}
		if err := os.Mkdir(p.dir, 0o700); err != nil {
			t.Fatal(err)
		}
		r.keep(p)
		return p
	}
	there := func(p *preview) bool {
		_, err := os.Stat(p.dir)
		return r.previews[p.recipe] == p && err == nil
	}
	studied := keep("mori", 0)
	var own []*preview
	for i := range 2 * mostPreviews {
		own = append(own, keep("anna", i+1))
	}
	if !there(studied) {
		t.Error("the previews of one principal push that of another out")
	}
	for i, p := range own {
		if there(p) != (i >= mostPreviews) {
			t.Errorf("preview %d of %d: kept is %v", i, len(own), there(p))
		}
	}
	if entries, err := os.ReadDir(work); err != nil || len(entries) != mostPreviews+1 {
		t.Errorf("%d folders, %v", len(entries), err)
	}
}

package clinic

import (
	"fmt"

	"github.com/noren-privacy/noren/examples/internal/dice"
)

// places are invented postcodes with their hierarchy: postcode, area,
// prefecture, region, *.
type places struct {
	rows       [][]string
	cumulative []int // weights of rows: most people live near the clinic
}

// codesPerArea is the number of postcodes of an area.
const codesPerArea = 6

func newPlaces() *places {
	prefectures := []struct {
		digits, name, region string
		weight               int
		areas                [4]string
	}{
		{"02", "Asahira", "north", 2, [4]string{"Yukimoto", "Shirotani", "Kazehana", "Fuyusaki"}},
		{"03", "Minodori", "north", 3, [4]string{"Aokuma", "Tsurubata", "Hokuden", "Morimizu"}},
		{"04", "Kurosato", "north", 6, [4]string{"Sugihama", "Kitanuma", "Iwabori", "Hoshiori"}},
		{"05", "Tomoyama", "middle", 15, [4]string{"Nakabashi", "Usuzumi", "Hanemi", "Tobikawa"}},
		{"06", "Hanesawa", "middle", 50, [4]string{"Norenmachi", "Amenoko", "Kawasoe", "Midorizaka"}},
		{"07", "Yumigawa", "middle", 14, [4]string{"Komorebi", "Sasamaru", "Tsukimabe", "Otonashi"}},
		{"08", "Soranabe", "south", 4, [4]string{"Kumodai", "Hinatagaoka", "Akanebashi", "Torisato"}},
		{"10", "Isotani", "south", 4, [4]string{"Namioto", "Shiokaze", "Kaigara", "Sangohama"}},
		{"11", "Okumine", "south", 2, [4]string{"Minamitsuki", "Atatakeno", "Hamayui", "Tatsunooka"}},
	}
	near := [4]int{10, 5, 3, 2} // of the areas of a prefecture
	p := &places{}
	var weights []int
	for _, f := range prefectures {
		for a, area := range f.areas {
			for c := range codesPerArea {
				code := fmt.Sprintf("%s%d%04d", f.digits, a, c*c*17+c)
				p.rows = append(p.rows, []string{code, area, f.name, f.region, "*"})
				weights = append(weights, f.weight*near[a]*(codesPerArea-c))
			}
		}
	}
	p.cumulative = dice.Cumulative(weights...)
	return p
}

// draw returns a row.
func (p *places) draw(d *dice.Dice) int { return d.Pick(p.cumulative) }

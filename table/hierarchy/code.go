package hierarchy

import (
	"slices"
	"strconv"
	"strings"
)

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// postal takes a Japanese postal code, 1000001 or 100-0001. The first digits are
// regions of delivery, from large to small.
func postal(value string) []string {
	plain := value
	if len(value) == 8 && value[3] == '-' {
		plain = value[:3] + value[4:]
	}
	if len(plain) != 7 || !digits(plain) {
		return nil
	}
	return []string{plain[:3] + "-" + plain[3:5] + "**", plain[:3] + "-****", plain[:2] + "*-****", plain[:1] + "**-****"}
}

// regions are the last prefectures of the eight regions of Japan, by the numbers
// of JIS X 0401.
var regions = []struct {
	last int
	name string
}{{1, "Hokkaido"}, {7, "Tohoku"}, {14, "Kanto"}, {23, "Chubu"}, {30, "Kinki"}, {35, "Chugoku"}, {39, "Shikoku"}, {47, "Kyushu"}}

// municipality takes a code of JIS X 0402: five digits, or six of which the last
// checks the others.
func municipality(value string) []string {
	if len(value) != 5 && len(value) != 6 || !digits(value) {
		return nil
	}
	if len(value) == 6 {
		sum := 0
		for i := range 5 {
			sum += int(value[i]-'0') * (6 - i)
		}
		if (11-sum%11)%10 != int(value[5]-'0') {
			return nil
		}
	}
	prefecture, err := strconv.Atoi(value[:2])
	if err != nil || prefecture < 1 || prefecture > 47 {
		return nil
	}
	region := slices.IndexFunc(regions, func(r struct {
		last int
		name string
	},
	) bool {
		return prefecture <= r.last
	})
	return []string{value[:3] + "**", value[:2] + "***", regions[region].name}
}

// icd10 takes a code of the WHO's ICD-10: a letter and two digits, then, with a
// dot or without, up to four digits or letters.
func icd10(value string) []string {
	if len(value) < 3 || value[0] < 'A' || value[0] > 'Z' || !digits(value[1:3]) {
		return nil
	}
	rest := value[3:]
	if strings.HasPrefix(rest, ".") {
		rest = rest[1:]
		if rest == "" {
			return nil
		}
	}
	if len(rest) > 4 || strings.Trim(rest, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-") != "" {
		return nil
	}
	category := value[:3]
	block := within(icd10Blocks, category)
	chapter := within(icd10Chapters, category)
	if block == "" || chapter == "" {
		return nil
	}
	return []string{category, block, "chapter " + chapter}
}

// within finds the range, A00-A09 or C50, that holds a category.
func within(ranges []string, category string) string {
	for _, r := range ranges {
		from, to, ok := strings.Cut(r, "-")
		if !ok {
			to = from
		}
		if from <= category && category <= to {
			return r
		}
	}
	return ""
}

package spec

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Encode writes s as the text of a noren.yaml that [Parse] reads as s. It states what s
// states: texts for missing values are written also where there are none of them.
func (s *Spec) Encode() string {
	var b strings.Builder
	fmt.Fprintf(&b, "version: %d\n", Version)
	section(&b, "input", encodeFields("  ", s.Input))
	if s.Unit != "" {
		fmt.Fprintf(&b, "unit: %s\n", Scalar(s.Unit))
	}
	var columns strings.Builder
	for _, name := range s.sortedColumns() {
		fields := encodeFields("    ", s.Columns[name])
		if fields == "" {
			fmt.Fprintf(&columns, "  %s: {}\n", Scalar(name))
			continue
		}
		fmt.Fprintf(&columns, "  %s:\n%s", Scalar(name), fields)
	}
	section(&b, "columns", columns.String())
	section(&b, "anonymize", encodeFields("  ", s.Anonymize))
	return b.String()
}

// section writes the lines of a section, if it has any.
func section(b *strings.Builder, name, lines string) {
	if lines != "" {
		fmt.Fprintf(b, "%s:\n%s", name, lines)
	}
}

// encodeFields writes the fields of a struct that are stated, a line each, by their YAML
// names.
func encodeFields(indent string, of any) string {
	var b strings.Builder
	v := reflect.ValueOf(of)
	for i := range v.NumField() {
		field := v.Field(i)
		if field.IsZero() {
			continue
		}
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
		if field.Kind() == reflect.Pointer {
			field = field.Elem()
		}
		text := ""
		switch value := field.Interface().(type) {
		case string:
			text = Scalar(value)
		case []string:
			text = list(value)
		case float64:
			text = strconv.FormatFloat(value, 'f', -1, 64)
		default: // whole numbers and truth values
			text = fmt.Sprint(value)
		}
		fmt.Fprintf(&b, "%s%s: %s\n", indent, name, text)
	}
	return b.String()
}

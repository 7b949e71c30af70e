package text

import (
	"regexp"
	"strings"
)

// subjects are the forms of what is asked, those with more text of their own first.
var subjects = []Key{
	"regression of %s on %s", "histogram of %s", "quantile %s of %s", "quantile of %s", "variance of %s", "%s-quantile of %s", "mean of %s", "share of %s", "sum of %s",
	"%s in bin %s of %s",
}

// subjectForms finds what a text of each of the subjects is about.
var subjectForms = func() (forms []*regexp.Regexp) {
	for _, key := range subjects {
		forms = append(forms, regexp.MustCompile("^"+strings.ReplaceAll(regexp.QuoteMeta(string(key)), "%s", "(.+?)")+"$"))
	}
	return forms
}()

// Subject says what is asked, as in "mean of age", in a language. Names of columns and
// values in it stay as they are.
func Subject(l Lang, of string) string {
	if of == "count" {
		return l.Text("count")
	}
	for i, form := range subjectForms {
		if m := form.FindStringSubmatch(of); m != nil {
			names := make([]any, len(m)-1)
			for j := range names {
				names[j] = m[j+1]
			}
			return l.Text(subjects[i], names...)
		}
	}
	return l.Say(of)
}

package survey

import (
	"bytes"
	"context"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/noise"
	"github.com/noren-privacy/noren/table"
)

// LineOptions are those of [Survey.RandomiseTable].
type LineOptions struct {
	// Client says that the table's last column holds the clients' ids, which are written
	// before the reports and are not protected.
	Client bool
	// Devices keep the permanent answers, by the clients' ids. Without them every record
	// has a device of its own, whose secret is thrown away.
	Devices *Devices
	// Progress is called with the number of records done, where it is not nil.
	Progress noren.Progress
}

// Lines are the reports of the records of a table.
type Lines struct {
	// Text holds the line that names the specification, the one that says what reports mean, and
	// then a report a line, in the table's order, as [Collector.AddLines] reads them.
	Text []byte
	// Repeated is the number of reports that are not their client's first.
	Repeated int
	// Most is the largest number of reports of one client; 1 where no clients are named.
	Most int
}

// RandomiseTable randomises each record of a table as its own device would. The table
// holds the survey's columns, as text and in their order, and then that of the
// clients' ids where o.Client says so. name is the table's, for errors, which give the
// position of a value and never the value.
func (s *Survey) RandomiseTable(ctx context.Context, src *noise.Source, tab *table.Table, name string, o LineOptions) (*Lines, error) {
	columns := s.Columns()
	d := len(columns)
	if want := d + btoi(o.Client); len(tab.Columns) != want {
		return nil, fault("table", noren.Textf("expected the survey's columns, and that of the clients' ids where there is one"), noren.Text{})
	}
	if o.Devices != nil && !o.Client {
		return nil, fault("client", noren.Textf("devices are distinguished by the clients' ids"), noren.Textf("name the column that holds them"))
	}
	if o.Devices != nil && !s.Remembers() {
		return nil, fault("devices", noren.Textf("%s remembers nothing, and needs no secrets", s.Mechanism()),
			noren.Textf("take a longitudinal mechanism or RAPPOR for reports round after round"))
	}
	if o.Devices != nil {
		if err := s.checkQuestion(o.Devices.finish); err != nil {
			return nil, err
		}
	}
	var out bytes.Buffer
	out.WriteString(s.Header() + "\n" + s.Meaning() + "\n")
	lines := &Lines{Most: 1}
	values := make([]string, d)
	seen := map[string]int{}
	for i := range tab.Rows {
		if i&1023 == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if o.Progress != nil {
				o.Progress("randomising", int64(i), int64(tab.Rows))
			}
		}
		where := noren.Position{File: name, Record: int64(i + 1)}
		for j := range values {
			values[j] = cellText(tab.Columns[j], i)
		}
		var client, word string
		var err error
		if o.Client {
			client = cellText(tab.Columns[d], i)
			where.Column = tab.Columns[d].Field.Name
			if client == "" || strings.ContainsAny(client, "\t\r\n") {
				return nil, &noren.Error{
					Kind: noren.BadData, Where: where, What: "an id that is missing, or holds a tab or a line's end",
					Hint: "give each person an id of letters and digits",
				}
			}
			if seen[client] > 0 {
				lines.Repeated++
			}
			seen[client]++
			lines.Most = max(lines.Most, seen[client])
			out.WriteString(client)
			out.WriteByte('\t')
		}
		where.Column = ""
		if d == 1 {
			where.Column = columns[0]
		}
		if o.Devices != nil {
			word, err = s.RandomiseFor(src, o.Devices, client, values)
		} else {
			word, err = s.Randomise(src, values)
		}
		if err != nil {
			return nil, &noren.Error{Kind: noren.KindOf(err), Where: where, Err: err}
		}
		out.WriteString(word)
		out.WriteByte('\n')
	}
	lines.Text = out.Bytes()
	return lines, nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// cellText is a value as written, "" where it is missing.
func cellText(c *table.Column, i int) string {
	if c.IsMissing(i) {
		return ""
	}
	return c.Dict[c.Codes[i]]
}

// Records are the rows of a table of texts, one value for each column; "" is a missing
// one.
func Records(tab *table.Table) [][]string {
	rows := make([][]string, tab.Rows)
	for i := range rows {
		rows[i] = make([]string, len(tab.Columns))
		for j, c := range tab.Columns {
			rows[i][j] = cellText(c, i)
		}
	}
	return rows
}

package text

import "github.com/noren-privacy/noren/api"

// Known says by an example who may know the values of a column that is proposed as a
// quasi-identifier.
func Known(l Lang, c *api.InspectedColumn) string {
	switch {
	case c.RoleWhy.Code == "role-place":
		return l.Text("for example from an address book, or from living nearby")
	case c.Type == "date":
		return l.Text("for example from a calendar, a photograph or a colleague's memory of the day")
	case c.Type == "integer" || c.Type == "decimal":
		return l.Text("for example from meeting the person; knowing it nearly is enough")
	}
	return l.Text("for example from meeting the person, a register or a profile on the web")
}

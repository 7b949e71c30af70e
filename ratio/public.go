package ratio

import "github.com/noren-privacy/noren/internal/identity"

// PublicTable says which public table weights are made for, by SHA-256 in hexadecimal: one
// of its fields is set. It is for the certificate, which is public, as the table is.
type PublicTable struct {
	// SHA256 is that of the file.
	SHA256 string `json:"sha256,omitempty"`
	// Files are those of several files, in the order of their records.
	Files []string `json:"files_sha256,omitempty"`
	// Records is that of the columns and records of a table of a database.
	Records string `json:"records_sha256,omitempty"`
}

// publicParameters is the public table of a mechanism: the table, and what was read of it. The
// second follows from the first, from the axes and from how the table was read; it
// makes two mechanisms of other points two, also where no table is stated.
type publicParameters struct {
	PublicTable
	Points string `json:"points_sha256"`
}

// pointsIdentity is the SHA-256 of points, all coordinates in their order.
func pointsIdentity(p *Points) string {
	d := identity.NewData("noren.ratio.points/1")
	d.Int(p.Rows)
	d.Int(p.Dim)
	d.Floats(p.Data)
	return d.ID().String()
}

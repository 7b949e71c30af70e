package store

import (
	"context"
	"encoding/json"
)

// ObjectName is what people call the object of an id.
type ObjectName struct {
	// ID is the id of the object.
	ID string `json:"id" doc:"The id of the object."`
	// Name is the name of a principal or token, that of a table, or of the table of a book, recipe,
	// job or answer, and that of the file of a release, certificate or upload.
	Name string `json:"name" doc:"The name of a principal, token or table; the name of the table of a book, recipe, job or answer; the name of the file of a release, certificate or upload."`
	// Table is the id of the table of a recipe or job.
	Table string `json:"table,omitempty" doc:"The id of the table of a recipe or job."`
	// Gone says that it is deleted.
	Gone bool `json:"gone,omitempty" doc:"Whether it is deleted, or an upload, of which only the name is kept."`
}

// Name keeps the name of what is no resource, such as an upload.
func (tx *Tx) Name(ctx context.Context, id, name string) error {
	return tx.exec(ctx, "INSERT OR REPLACE INTO named VALUES (?, ?)", id, name)
}

// Names finds what people call objects, deleted ones too. An id that has no name is left out.
func (s *Store) Names(ctx context.Context, ids []string) (map[string]ObjectName, error) {
	asked, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	rows, err := s.reads.QueryContext(ctx, `SELECT value, name, whose, gone FROM (
		SELECT asked.value, principal.name, '' AS whose, 0 AS gone FROM json_each(?1) asked JOIN principal ON principal.id = asked.value
		UNION ALL SELECT asked.value, token.name, '', 0 FROM json_each(?1) asked JOIN token ON token.id = asked.value
		UNION ALL SELECT asked.value, file_name, '', 0 FROM json_each(?1) asked JOIN certificate ON certificate.id = asked.value
		UNION ALL SELECT asked.value, CASE own.kind WHEN 'table' THEN own.doc ->> '$.name' WHEN 'book' THEN own.doc ->> '$.table_name'
			WHEN 'release' THEN own.doc ->> '$.file_name' ELSE coalesce(parent.doc ->> '$.name', named.name) END,
			iif(own.kind IN ('recipe', 'job'), own.parent, ''), 0
			FROM json_each(?1) asked JOIN resource own ON own.id = asked.value
			LEFT JOIN resource parent ON parent.id = own.parent LEFT JOIN named ON named.id = own.parent
		UNION ALL SELECT asked.value, book.doc ->> '$.table_name', '', 0 FROM json_each(?1) asked JOIN answer ON answer.id = asked.value
			JOIN resource book ON book.id = answer.book
		UNION ALL SELECT asked.value, doc ->> '$.label', '', 1 FROM json_each(?1) asked
			JOIN resource ON kind = 'table' AND doc ->> '$.source.upload' = asked.value
		UNION ALL SELECT asked.value, named.name, '', 1 FROM json_each(?1) asked JOIN named ON named.id = asked.value
	) WHERE name <> '' ORDER BY gone DESC`, string(asked))
	if err != nil {
		return nil, found(err)
	}
	defer func() { _ = rows.Close() }()
	all := map[string]ObjectName{}
	for rows.Next() {
		var id string
		var n ObjectName
		if err := rows.Scan(&id, &n.Name, &n.Table, &n.Gone); err != nil {
			return nil, found(err)
		}
		n.ID = id
		all[id] = n
	}
	return all, found(rows.Err())
}

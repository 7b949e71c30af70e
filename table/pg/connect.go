package pg

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/noren-privacy/noren"
)

// serviceName is what a service may be called here: nothing that could be read
// as another parameter.
var serviceName = regexp.MustCompile(`^[\w.-]+$`)

// connect connects by environment, service file and password file, or by a connection
// string. where stands for what is read or written in errors.
func connect(ctx context.Context, where any, service, connection string) (*pgconn.PgConn, error) {
	settings := connection
	if service != "" {
		if !serviceName.MatchString(service) {
			return nil, &noren.Error{Kind: noren.Usage, Where: where, What: "a service is named by letters, digits, points, dashes and underscores"}
		}
		settings = "service=" + service
	}
	c, err := pgconn.ParseConfig(settings)
	if err != nil {
		// The library's own text can hold the settings.
		return nil, &noren.Error{
			Kind: noren.Usage, Where: where, What: "the settings of the connection cannot be read",
			Hint: "look at the PG... environment variables, the service file and its services",
		}
	}
	if err := encrypted(c, where); err != nil {
		return nil, err
	}
	if connection == "" {
		if err := privatePassfile(c, where); err != nil {
			return nil, err
		}
	}
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = 30 * time.Second
	}
	c.OnNotice = nil
	bounded(c, where)
	conn, err := pgconn.ConnectConfig(ctx, c)
	if err != nil {
		return nil, failed(ctx, where, err, "no connection to the server")
	}
	return conn, nil
}

// encrypted takes the ways without encryption out of c, but those that stay on
// this machine, and fails where none is left.
func encrypted(c *pgconn.Config, where any) error {
	ways := append([]*pgconn.FallbackConfig{{Host: c.Host, Port: c.Port, TLSConfig: c.TLSConfig}}, c.Fallbacks...)
	var left []*pgconn.FallbackConfig
	for _, w := range ways {
		if w.TLSConfig != nil || isLocal(w.Host) {
			left = append(left, w)
		}
	}
	if len(left) == 0 {
		return &noren.Error{Kind: noren.Usage, Where: where, What: "sslmode: expected require, verify-ca or verify-full for a server on " +
			"another machine, got a mode without encryption", Hint: "set PGSSLMODE, or sslmode in the service file"}
	}
	c.Host, c.Port, c.TLSConfig, c.Fallbacks = left[0].Host, left[0].Port, left[0].TLSConfig, left[1:]
	return nil
}

// isLocal reports whether a host is this machine: a socket, or the loopback.
func isLocal(host string) bool {
	if strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") || host == "localhost" {
		return true
	}
	if runtime.GOOS == "windows" && filepath.IsAbs(host) {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// privatePassfile refuses a password file that others can read, as libpq does.
func privatePassfile(c *pgconn.Config, where any) error {
	if runtime.GOOS == "windows" || c.Password == "" || os.Getenv("PGPASSWORD") != "" {
		return nil
	}
	path := os.Getenv("PGPASSFILE")
	if path == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil
		}
		path = filepath.Join(home, ".pgpass")
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	return &noren.Error{Kind: noren.Usage, Where: where, What: "the password file may be read by others", Hint: "give it the mode 0600"}
}

// codes are what the server's conditions mean here, by SQLSTATE or its class.
// The server's own text is never shown: it can hold values.
var codes = map[string]noren.Error{
	"08":    {What: "the connection was lost", Hint: "is the server running?"},
	"0A":    {Kind: noren.Usage, What: "the server does not support this", Hint: "expected one query that returns records"},
	"22":    {Kind: noren.BadData, What: "a value does not fit its type"},
	"22021": {Kind: noren.BadData, What: "a text does not fit the encoding of the database"},
	"22012": {Kind: noren.Usage, What: "the query divides by zero", Hint: "try it in psql"},
	"23":    {Kind: noren.BadData, What: "a rule of the database forbids a value"},
	"25006": {Kind: noren.Usage, What: "expected a query that only reads"},
	"28":    {Kind: noren.Usage, What: "the server refuses the user or the password", Hint: "look at PGUSER and the password file"},
	"28000": {
		Kind: noren.Usage, What: "this user may not connect from here, or does not exist",
		Hint: "look at PGUSER; the server's administrator decides who connects (pg_hba.conf)",
	},
	"28P01": {Kind: noren.Usage, What: "the password is wrong, or the user does not exist", Hint: "look at PGUSER and the password file"},
	"2BP01": {
		Kind: noren.Usage, What: "other objects depend on the table that is to be replaced",
		Hint: "drop them first, or choose another name",
	},
	"3D000": {Kind: noren.Usage, What: "the database does not exist", Hint: "look at PGDATABASE"},
	"3F000": {Kind: noren.Usage, What: "the schema does not exist"},
	"40":    {What: "the server ended the work because it met that of another session", Hint: "start again"},
	"42":    {Kind: noren.Usage, What: "the query cannot be run", Hint: "try it in psql"},
	"42501": {
		Kind: noren.Usage, What: "the user may not do this",
		Hint: "the owner grants the right: to read the table, or to create one in its schema",
	},
	"42601": {Kind: noren.Usage, What: "the query cannot be run: expected one query that returns records", Hint: "try it in psql"},
	"42883": {Kind: noren.Usage, What: "the query names a function or operator that does not exist for these types", Hint: "try it in psql"},
	"42P01": {
		Kind: noren.Usage, What: "the table does not exist",
		Hint: "look at its name, its schema and PGDATABASE; upper and lower case matter",
	},
	"42P07": {Kind: noren.Usage, Code: CodeExists, What: "exists already", Hint: "choose another name, or allow it to be replaced"},
	"42703": {Kind: noren.Usage, What: "the query names a column that does not exist", Hint: "try it in psql; upper and lower case matter"},
	"42809": {Kind: noren.Usage, What: "is not an ordinary table and cannot be replaced", Hint: "choose another name"},
	"53":    {What: "the server has no resources left"},
	"53100": {What: "the server's disk is full", Hint: "free space on the server; nothing was kept"},
	"53300": {What: "the server has no connection left", Hint: "start again when others have ended"},
	"54":    {Kind: noren.Usage, What: "the table is beyond a limit of the server, such as 1,600 columns"},
	"55P03": {What: "the table is locked by another session"},
	"57014": {What: "the server cancelled the work", Hint: "look at its statement_timeout"},
	"57P":   {What: "the server ended the connection", Hint: "start again when it runs"},
	"57P03": {What: "the server starts or stops", Hint: "start again in a moment"},
	"58":    {What: "the server cannot read its files"},
	"XX":    {Kind: noren.BadData, What: "the server finds its data damaged"},
}

// CodeExists is the code of errors about a table that exists.
const CodeExists = "file-exists"

// CodeUncertain is the code of errors about a table that may have been made or not: the
// connection was lost before the server said whether it had ended the transaction.
const CodeUncertain = "uncertain"

// failed makes an error of the server's or the library's, neither of whose texts
// is shown. otherwise is what it is where no condition tells.
func failed(ctx context.Context, where any, err error, otherwise noren.Format) error {
	var own *noren.Error
	if errors.As(err, &own) {
		return own
	}
	if err := tooLong(err, where); err != nil {
		return err
	}
	var p *pgconn.PgError
	if !errors.As(err, &p) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &noren.Error{Where: where, What: otherwise, Hint: "is the server running, and do PGHOST and PGPORT name it?"}
	}
	for n := len(p.Code); n >= 2; n-- {
		if e, ok := codes[p.Code[:n]]; ok {
			e.Where = where
			e.Err = noren.Reasonf("SQLSTATE %s", p.Code)
			return &e
		}
	}
	return &noren.Error{Where: where, What: otherwise, Err: noren.Reasonf("SQLSTATE %s", p.Code)}
}

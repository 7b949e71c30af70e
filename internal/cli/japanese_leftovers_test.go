package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/lang"
)

// The notes of a certificate are shown in the language.
func TestCertificateNotesInJapanese(t *testing.T) {
	var out strings.Builder
	said := lang.Japanese
	s := &certificate.Signed{Certificate: certificate.Certificate{
		Notes: []string{"One steward decided on this release; the server asks for no second approval (single-steward)."},
	}}
	if err := printCertificate(&speaker{&out, &said}, s); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "この公開は一人の管理者が決めました") || strings.Contains(out.String(), "One steward") {
		t.Errorf("got %s", out.String())
	}
}

// A line with one field is refused with the flag that leaves it out, which does.
func TestNoteLineNamesTheFlag(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("n.csv", []byte("age,sex,city\n1,f,a\n2,m,b\n3,f,c\nnote: all in yen\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, problems := inJapanese(t, "inspect", "n.csv"); code != 3 || !strings.Contains(problems, "表の下の注なら --totals leave で除きます") {
		t.Errorf("exit code %d: %s", code, problems)
	}
	if code, _, problems := inJapanese(t, "inspect", "n.csv", "--totals", "leave"); code != 0 {
		t.Errorf("exit code %d: %s", code, problems)
	}
}

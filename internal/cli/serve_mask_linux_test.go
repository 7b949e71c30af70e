package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// A server makes files for its owner alone, also where it is started with a umask of 0.
func TestServeMasksFiles(t *testing.T) {
	noren, err := exec.LookPath("noren")
	if err != nil {
		t.Fatal(err)
	}
	// A shell of this name starts the server with a umask of 0.
	bin := t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\numask 0\nexec '%s' \"$@\"\n", noren)
	if err := os.WriteFile(bin+"/noren", []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	s := serve(t, "--demo")
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	mask := regexp.MustCompile(`Umask:\s+(\d+)`).FindStringSubmatch(string(status))
	if mask == nil {
		t.Skip("the system does not tell the umask of a process")
	}
	if !strings.HasSuffix(mask[1], "077") {
		t.Errorf("the umask is %s", mask[1])
	}
	s.signal(t, syscall.SIGTERM)
	s.end(t)
}

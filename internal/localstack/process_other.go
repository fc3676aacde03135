//go:build unix && !linux

package localstack

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// isolate puts the command into its own process group, out of the reach of a
// terminal's Ctrl-C. This system cannot tie a child's life to its parent's: a
// server left behind is stopped by the next start in its directory.
func isolate(cmd *exec.Cmd, _ syscall.Signal) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
}

// commandLine returns the command line of a running process, its arguments
// joined by spaces, or "" when there is no such process.
func commandLine(pid int) string {
	out, err := exec.Command("ps", "-ww", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// worksIn reports whether a running process's working folder is dir.
func worksIn(pid int, dir string) bool {
	out, err := exec.Command("lsof", "-a", "-d", "cwd", "-Fn", "-p", strconv.Itoa(pid)).Output()
	return err == nil && strings.Contains(string(out)+"\n", "\nn"+dir+"\n")
}

package localstack

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// isolate puts the command into its own process group, out of the reach of a
// terminal's Ctrl-C, and asks the kernel to signal it when its parent dies.
func isolate(cmd *exec.Cmd, deathSignal syscall.Signal) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	cmd.SysProcAttr.Pdeathsig = deathSignal
}

// commandLine returns the command line of a running process, its arguments
// joined by spaces, or "" when there is no such process.
func commandLine(pid int) string {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(strings.ReplaceAll(string(raw), "\x00", " "))
}

// worksIn reports whether a running process's working folder is dir.
func worksIn(pid int, dir string) bool {
	folder, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/cwd")
	return err == nil && folder == dir
}

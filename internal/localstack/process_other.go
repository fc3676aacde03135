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

// childrenOf returns the processes that a process started and that still run.
func childrenOf(pid int) []int {
	out, err := exec.Command("pgrep", "-P", strconv.Itoa(pid)).Output()
	if err != nil {
		return nil
	}
	var children []int
	for _, line := range strings.Fields(string(out)) {
		if child, err := strconv.Atoi(line); err == nil {
			children = append(children, child)
		}
	}
	return children
}

// parentOf returns the parent of a running process, 0 for one that has ended.
func parentOf(pid int) int {
	out, err := exec.Command("ps", "-o", "ppid=,stat=", "-p", strconv.Itoa(pid)).Output()
	fields := strings.Fields(string(out))
	if err != nil || len(fields) < 2 || strings.HasPrefix(fields[1], "Z") {
		return 0
	}
	parent, err := strconv.Atoi(fields[0])
	if err != nil {
		return 0
	}
	return parent
}

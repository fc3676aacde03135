package localstack

import (
	"bytes"
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

// childrenOf returns the processes that a process started and that still run.
func childrenOf(pid int) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var children []int
	for _, entry := range entries {
		child, err := strconv.Atoi(entry.Name())
		if err == nil && parentOf(child) == pid {
			children = append(children, child)
		}
	}
	return children
}

// parentOf returns the parent of a running process, 0 for one that has ended.
// In proc(5) it stands behind the name, which may hold anything but ends with the
// last parenthesis, and the state.
func parentOf(pid int) int {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
	if len(fields) < 2 || fields[0] == "Z" {
		return 0
	}
	parent, err := strconv.Atoi(fields[1])
	if err != nil {
		return 0
	}
	return parent
}

// worksIn reports whether a running process's working folder is dir.
func worksIn(pid int, dir string) bool {
	folder, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/cwd")
	return err == nil && folder == dir
}

package localstack

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// aptGet stands in for the package manager: it notes what the machine looked
// like at each call, and fails when the package is called "broken".
const aptGet = `#!/bin/sh
{
	echo "apt-get $*"
	[ ! -x "$BOTIX_INSTALL_ROOT/usr/sbin/policy-rc.d" ] || echo "services are held back"
	grep -s '^create_main_cluster' "$BOTIX_INSTALL_ROOT/etc/postgresql-common/createcluster.conf"
} >>"$BOTIX_INSTALL_ROOT/record"
case "$*" in
*postgresql-common*)
	mkdir -p "$BOTIX_INSTALL_ROOT/etc/postgresql-common"
	echo '#create_main_cluster = true' >"$BOTIX_INSTALL_ROOT/etc/postgresql-common/createcluster.conf" ;;
*broken*) exit 100 ;;
esac
`

// install runs the script against an empty root folder.
func install(t *testing.T, root string, packages ...string) (record string, err error) {
	t.Helper()
	programs := t.TempDir()
	for name, text := range map[string]string{
		"apt-get": aptGet, "dpkg-query": "#!/bin/sh\nexit 1\n",
		"systemctl": "#!/bin/sh\necho \"systemctl $*\" >>\"$BOTIX_INSTALL_ROOT/record\"\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(programs, name), []byte(text), 0o755))
	}
	require.NoError(t, os.MkdirAll(filepath.Join(root, "usr", "sbin"), 0o755))
	cmd := exec.CommandContext(t.Context(), "sh", append([]string{"-c", installScript, "sh"}, packages...)...)
	cmd.Env = append(os.Environ(), "BOTIX_INSTALL_ROOT="+root, "PATH="+programs+":"+os.Getenv("PATH"))
	_, err = cmd.CombinedOutput()
	return readLine(filepath.Join(root, "record")), err
}

func TestInstallingPostgresStartsNothingAndCreatesNoCluster(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	record, err := install(t, root, "postgresql")
	require.NoError(t, err)
	require.Contains(t, record, "services are held back\ncreate_main_cluster = false")
	require.Contains(t, record, "systemctl disable postgresql.service")
	require.NoFileExists(t, filepath.Join(root, "usr/sbin/policy-rc.d"))
	require.Equal(t, "#create_main_cluster = true", readLine(filepath.Join(root, "etc/postgresql-common/createcluster.conf")))
}

func TestAFailedInstallationRestoresTheMachine(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	record, err := install(t, root, "broken")
	require.Error(t, err)
	require.Contains(t, record, "services are held back")
	require.NoFileExists(t, filepath.Join(root, "usr/sbin/policy-rc.d"))
}

func TestInstallingKeepsTheMachinesOwnPolicy(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	policy := filepath.Join(root, "usr", "sbin", "policy-rc.d")
	require.NoError(t, os.MkdirAll(filepath.Dir(policy), 0o755))
	require.NoError(t, os.WriteFile(policy, []byte("own"), 0o600))
	_, err := install(t, root, "redis-server")
	require.NoError(t, err)
	require.Equal(t, "own", readLine(policy))
}

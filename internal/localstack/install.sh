# Installs the Debian packages named as arguments without starting, enabling or
# configuring any service: what the packages are wanted for are their programs.
set -eu
export DEBIAN_FRONTEND=noninteractive
root=${BOTIX_INSTALL_ROOT-} # another root folder, for the script's own test
policy=$root/usr/sbin/policy-rc.d
clusters=$root/etc/postgresql-common/createcluster.conf
apt="apt-get -y -q -o DPkg::Lock::Timeout=300"
made_policy= saved_clusters=

restore() {
	[ -z "$made_policy" ] || rm -f "$policy"
	[ -z "$saved_clusters" ] || mv -f "$saved_clusters" "$clusters"
}
trap restore EXIT
trap 'exit 1' INT TERM HUP

# Debian's own switch against services starting when they are installed.
if [ ! -e "$policy" ]; then
	made_policy=1
	printf '#!/bin/sh\nexit 101\n' >"$policy"
	chmod 755 "$policy"
fi

$apt update
for package in "$@"; do
	case $package in
	postgresql*)
		# The cluster that the server's package would create is switched off in
		# the common package's configuration, which therefore has to come first.
		$apt install --no-install-recommends postgresql-common
		if [ -e "$clusters" ] && [ -z "$saved_clusters" ]; then
			saved_clusters=$(mktemp)
			cp -p "$clusters" "$saved_clusters"
			printf '\ncreate_main_cluster = false\n' >>"$clusters"
		fi
		;;
	esac
done
fresh=
for package in "$@"; do
	dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || fresh="$fresh $package"
done
$apt install --no-install-recommends "$@"

# Not at the next boot either, if it was this script that brought the service.
if command -v systemctl >/dev/null 2>&1; then
	for package in $fresh; do
		systemctl disable "$package.service" >/dev/null 2>&1 || true
	done
fi

# Installs the Node.js packages of scripts/package-lock.json; scripts/cdk and scripts/contract source this file.
# shellcheck shell=sh

# packages_present reports whether the packages are installed.
packages_present() {
	[ -f scripts/node_modules/.package-lock.json ] && [ -z "$(find scripts/package-lock.json -newer scripts/node_modules/.package-lock.json)" ]
}

# install_packages installs the packages unless they are there. Of several commands at the same time, one installs, and
# the others wait for it: two installations remove each other's files.
install_packages() {
	packages_present && return
	mkdir -p .dev
	until (set -C && echo $$ >.dev/npm.lock) 2>/dev/null; do
		owner=$(cat .dev/npm.lock 2>/dev/null || true)
		[ -z "$owner" ] || kill -0 "$owner" 2>/dev/null || rm -f .dev/npm.lock # of a command that was killed
		sleep 1
	done
	packages_present || npm --prefix scripts ci --silent --no-audit --no-fund >&2 || { rm -f .dev/npm.lock && return 1; }
	rm -f .dev/npm.lock
}

#!/bin/sh
# Installs what is missing of these groups of debian-packages.txt:  cmake/install-packages.sh GROUP...
# Touches nothing when all is there. Needs root or sudo only when something is missing.
set -eu
list=$(dirname "$0")/debian-packages.txt

missing=
for group in "$@"; do
  for package in $(sed -n "s/^$group //p" "$list"); do
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || status=none
    [ "$status" = installed ] || missing="$missing $package"
  done
done
[ -n "$missing" ] || exit 0

echo "install-packages.sh: installing$missing" >&2
root=
[ "$(id -u)" = 0 ] || root=sudo
$root apt-get -q update
# shellcheck disable=SC2086  # a list of words
$root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 install --no-install-recommends $missing

#!/bin/sh
# The job that makes what users install, and tries it: the Debian packages and the wheel of one checkout, each installed on a
# bare Debian 12.
#
#   cmake/packages.sh FOLDER        # FOLDER gets ptxopt_*.deb, libptxopt-dev_*.deb and ptxopt-*.whl
#
# $PRESET is the build whose Debian packages are made. As root: debootstrap makes the bare system, from the mirror in
# $MIRROR, and chroot goes into it. It has neither compiler nor build dependency. Checked are the version of the checkout,
# a kernel that is optimized, an error with a caret, a run, and that removing leaves nothing.
set -eu
to=${1:?packages.sh FOLDER}
mkdir -p "$to"
to=$(cd "$to" && pwd)
cd "$(dirname "$0")/.."

preset=${PRESET:-release}  # of CMakePresets.json
cmake/install-packages.sh build package wheel
cmake --preset "$preset" -Wno-dev
cmake --build --preset "$preset" --target ptxopt_installed
(cd "build/$preset" && cpack -G DEB -B "$to")
python/make_wheel.sh "$to"
wheel=$(ls -t "$to"/ptxopt-*.whl | head -n 1)  # an older one may have another name
version=$("build/$preset/ptxopt" --version)

root=$(mktemp -d)
trap 'umount "$root/proc" 2>/dev/null; rm -rf "$root"' EXIT
debootstrap --variant=minbase --include=python3-venv,ca-certificates bookworm "$root" "${MIRROR:-http://deb.debian.org/debian}" >"$to/debootstrap.log"
mount -t proc proc "$root/proc"
mkdir "$root/packages"
cp "$to"/ptxopt_*.deb "$wheel" tests/python/installed.py samples/saxpy.ptx "$root/packages"

# Without variables of this machine, such as CUDA_HOME.
env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root ${http_proxy+"http_proxy=$http_proxy"} chroot "$root" sh -euc '
  python3 -m venv /venv
  /venv/bin/pip install -q --no-index /packages/ptxopt-*.whl
  /venv/bin/python /packages/installed.py --version "$1" --ptx /packages/saxpy.ptx
  test "$(/venv/bin/ptxopt --version)" = "$1"
  /venv/bin/pip uninstall -q -y ptxopt
  test -z "$(find /venv -name "*ptxopt*")"
  apt-get -q update
  DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install /packages/ptxopt_*.deb
  test "$(ptxopt --version)" = "$1"
  ptxopt /packages/saxpy.ptx -o - | grep -q "entry saxpy"
  apt-get -q -y purge ptxopt
  test -z "$(find /usr/bin /usr/lib /usr/share -name "*ptxopt*")"' sh "$version" >"$to/bare.log" 2>&1 || { tail -30 "$to/bare.log" >&2; exit 1; }
echo "packages: $version: the Debian package and the wheel install on a bare Debian 12, work, and go without a trace"

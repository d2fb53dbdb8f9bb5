#!/bin/sh
# Makes what a release consists of, tries it on a bare Debian 12, and writes the checksums.
#
#   cmake/release.sh FOLDER [PART...]     # PART: source, packages, site, checksums; the default is all, in this order
#
#   source      ptxopt-VERSION.tar.gz of HEAD, the same bytes each time. On a bare Debian 12 it is unpacked, configured and built
#               there, and the program optimizes a sample
#   packages    the Debian packages and the wheel, made and tried by cmake/packages.sh
#   site        ptxopt-VERSION-site.tar.gz, made by cmake/site.sh
#   checksums   SHA256SUMS of all that the folder has
#
# The version is that of CMakeLists.txt; tests/docs.py sees that changelog and citation have it as well. A tree with changes is
# refused. Bare systems are made by debootstrap, as root, from the mirror in $MIRROR.
set -eu
to=${1:?release.sh FOLDER [PART...]}
shift
[ $# -gt 0 ] || set -- source packages site checksums
mkdir -p "$to"
to=$(cd "$to" && pwd)
cd "$(dirname "$0")/.."

version=$(sed -n 's/^project(ptxopt VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
name=ptxopt-$version
changes=$(git status --porcelain --untracked-files=no)
[ -z "$changes" ] || { echo "release.sh: the tree has changes that are not committed" >&2; exit 2; }
grep -q "^## \[$version\]" CHANGELOG.md || { echo "release.sh: CHANGELOG.md has no version $version" >&2; exit 2; }

bare() {  # FOLDER: a Debian 12 with nothing on it
  debootstrap --variant=minbase bookworm "$1" "${MIRROR:-http://deb.debian.org/debian}" >"$to/debootstrap.log"
  mount -t proc proc "$1/proc"
}

make_source() {
  git archive --format=tar --prefix="$name/" HEAD | gzip -n -9 >"$to/$name.tar.gz"
  root=$(mktemp -d)
  trap 'umount "$root/proc" 2>/dev/null || true; rm -rf --one-file-system "$root"' EXIT
  trap 'exit 1' HUP INT TERM
  bare "$root"
  tar -xzf "$to/$name.tar.gz" -C "$root"
  # Without variables of this machine, such as CUDA_HOME.
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root ${http_proxy+"http_proxy=$http_proxy"} chroot "$root" sh -euc '
    cd "/$1"
    apt-get -q update
    DEBIAN_FRONTEND=noninteractive cmake/install-packages.sh build
    cmake --preset release -D PTXOPT_TESTS=OFF
    cmake --build --preset release --target ptxopt_tool
    test "$(build/release/ptxopt --version | cut -d " " -f 2)" = "$2"
    build/release/ptxopt samples/saxpy.ptx -o - | grep -q "entry saxpy"' sh "$name" "$version" >"$to/source.log" 2>&1 ||
    { tail -30 "$to/source.log" >&2; exit 1; }
  umount "$root/proc"
  rm -rf --one-file-system "$root"
  trap - EXIT HUP INT TERM
  echo "release: source: $name.tar.gz builds on a bare Debian 12"
}

make_packages() {
  cmake/packages.sh "$to"
}

make_site() {
  folder=$(mktemp -d)
  cmake/site.sh "$folder/$name-site"
  rm "$folder/$name-site/.ptxopt-site"
  tar -C "$folder" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git log -1 --format=%ct)" -c "$name-site" |
    gzip -n -9 >"$to/$name-site.tar.gz"
  rm -rf "$folder"
}

make_checksums() {
  (cd "$to" && find . -maxdepth 1 -type f ! -name '*.log' ! -name SHA256SUMS -printf '%f\n' | LC_ALL=C sort | xargs sha256sum >SHA256SUMS)
  cat "$to/SHA256SUMS"
}

for part in "$@"; do
  case $part in
    source | packages | site | checksums) ;;
    *) echo "release.sh: there is no part $part" >&2; exit 2 ;;
  esac
done
for part in "$@"; do
  "make_$part"
done

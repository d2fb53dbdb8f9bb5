#!/bin/sh
# Builds and tests everything on Debian 12, installing what is missing (as root, or with sudo).
#
#   tests/run.sh            all of it: also the sanitizer build, the corpus, and a minute of fuzzing
#   tests/run.sh --quick    the release build and its tests, without the corpus
#
# The exit code is ctest's, and its closing line the last one.
set -eu
cd "$(dirname "$0")/.."

quick=
case ${1-} in
  "") ;;
  --quick) quick=yes ;;
  *) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac

say() { printf '\n== %s\n' "$*"; }
skipped=
skip() { skipped="$skipped
  skipped: $*"; }

build() {  # PRESET [TARGET...]
  preset=$1
  shift
  say "build: $preset"
  start=$(date +%s)
  cmake --preset "$preset" -Wno-dev >/dev/null
  # shellcheck disable=SC2086,SC2048
  cmake --build --preset "$preset" ${1+--target "$@"}
  echo "built $preset in $(($(date +%s) - start)) s"
}

cmake/install-packages.sh build
cmake/install-packages.sh producers || skip "compilers whose PTX is tested (clang-19 or gcc-12-offload-nvptx cannot be installed)"
build ci

asan='' fuzz='' exclude='^$'
if [ -n "$quick" ]; then
  exclude='^corpus$'
  skip "the corpus, the sanitizer build and the fuzzer (--quick)"
else
  build asan ptxopt_tool ptxopt_unit
  asan=$PWD/build/asan
  if cmake/install-packages.sh fuzz; then
    build fuzz
    fuzz=$PWD/build/fuzz
  else
    skip "the fuzzer (clang-19 cannot be installed)"
  fi
fi

PATH=$PATH:/usr/local/cuda/bin
for program in ptxas nvcc; do
  command -v "$program" >/dev/null || skip "what needs $program (it is not there)"
done

cmake --preset ci -D PTXOPT_ASAN_BUILD="$asan" -D PTXOPT_FUZZ_BUILD="$fuzz" >/dev/null
say "tests$skipped"
exec ctest --preset ci -LE "$exclude"

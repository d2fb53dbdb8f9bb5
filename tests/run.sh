#!/bin/sh
# Builds and tests on Debian 12, installing what is missing (as root, or with sudo).
#
#   tests/run.sh --fast     the preset ci, in build/ci, and the tests for the work of the day: a minute after the build
#   tests/run.sh --quick    the preset ci and all its tests, without the corpus
#   tests/run.sh            what CI runs: also the sanitizer build, the corpus, and a minute of fuzzing; of the
#                           longest tests a fixed sample
#   tests/run.sh --whole    the same without samples; also with PTXOPT_WHOLE=1 in the environment
#
# The exit code is ctest's, and its closing line the last one.
set -eu
cd "$(dirname "$0")/.."

tier=${1---ci}
whole=OFF
[ -z "${PTXOPT_WHOLE-}" ] || whole=ON
case $tier in
  --fast | --quick | --ci) ;;
  --whole) whole=ON ;;
  *) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac

say() { printf '\n== %s\n' "$*"; }
skipped=
skip() { skipped="$skipped
  skipped: $*"; }

build() {  # PRESET OPTION-OF-CMAKE [TARGET...]
  preset=$1
  option=$2
  shift 2
  say "build: $preset"
  start=$(date +%s)
  cmake --preset "$preset" -Wno-dev ${option:+"$option"} >/dev/null
  # shellcheck disable=SC2086,SC2048
  cmake --build --preset "$preset" ${1+--target "$@"}
  echo "built $preset in $(($(date +%s) - start)) s"
}

cmake/install-packages.sh build
if [ "$tier" != --fast ]; then
  cmake/install-packages.sh producers || skip "compilers whose PTX is tested (clang-19 or gcc-12-offload-nvptx cannot be installed)"
  cmake/install-packages.sh tidy || skip "clang-tidy on what changed, clang-format (clang-tidy-19 or clang-format-14 cannot be installed)"
fi
build ci ""

asan=''
case $tier in
  --fast) set -- -L '^fast$' ;;
  --quick) set -- -LE '^(corpus|sample)$' ;;
  *) set -- -LE '^sample$' ;;
esac
if [ "$tier" = --fast ] || [ "$tier" = --quick ]; then
  skip "the corpus, the sanitizer build and the fuzzer ($tier)"
else
  if cmake/install-packages.sh fuzz; then
    build asan -DPTXOPT_UNIT_OBJECTS="$PWD/build/ci/tests/unit_objects.txt" ptxopt_tool ptxopt_unit parse_fuzzer
    asan=$PWD/build/asan
  else
    skip "the sanitizer build and the fuzzer (clang-19 cannot be installed)"
  fi
fi

PATH=$PATH:/usr/local/cuda/bin
for program in ptxas nvcc; do
  command -v "$program" >/dev/null || skip "what needs $program (it is not there)"
done

cmake --preset ci -D PTXOPT_ASAN_BUILD="$asan" -D PTXOPT_WHOLE="$whole" >/dev/null
say "tests$skipped"
exec ctest --preset ci -j "$(nproc)" "$@"

#!/bin/sh
# Installs what is missing (as root, or with sudo), builds ptxopt, optimizes samples and shows what changed. The first
# build takes 5 minutes of CPU time; later runs take seconds.
#
#   samples/run.sh [NAME...]     NAME: saxpy, matmul, softmax or histogram (the default)
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- histogram
out=build/samples
mkdir -p $out

for name in "$@"; do
  [ -f "samples/$name.ptx" ] || { echo "run.sh: there is no samples/$name.ptx" >&2; exit 2; }
done

secondsPerStep=10 # of CPU time, on a machine of 2023

build() {
  cmake --preset release >$out/build.log 2>&1 || { cat $out/build.log; return 1; }
  if [ -e build/release/ptxopt ]; then
    echo "  bringing it up to date"
  else
    echo "$(ninja -C build/release -t commands ptxopt_tool | wc -l) $(nproc)" | awk -v each=$secondsPerStep '{
      minutes = $1 * each / $2 / 60
      printf "  %d steps on %d cores: about %s\n", $1, $2, minutes < 1 ? "a minute" : sprintf("%.0f minutes", minutes) }'
  fi
  started=$(date +%s)
  if [ -t 1 ]; then
    NINJA_STATUS='  %p, %es: ' ninja -C build/release ptxopt_tool || return 1
  else
    # A line for each tenth. What fails is printed whole.
    { NINJA_STATUS='@%f %t ' ninja -C build/release ptxopt_tool || echo '@failed'; } | awk -f cmake/progress.awk || return 1
  fi
  echo "  built in $(($(date +%s) - started)) s"
}

echo "1 of 3: packages that the build needs"
cmake/install-packages.sh build
echo "2 of 3: building build/release/ptxopt"
build
echo "3 of 3: optimizing samples/*.ptx"

PATH=$PATH:/usr/local/cuda/bin
ptxas=$(command -v ptxas || true)

registers() {  # FILE.ptx: what ptxas allots for it
  architecture=$(sed -n 's/^\.target \([a-z0-9_]*\).*/\1/p' "$1")
  "$ptxas" -v -arch="$architecture" "$1" -o /dev/null 2>&1 | sed -n 's/.*Used \([0-9]*\) registers.*/\1/p'
}

for file in samples/*.ptx; do
  name=$(basename "$file" .ptx)
  build/release/ptxopt --stats "$file" -o $out/"$name".ptx 2>$out/"$name".txt
done

for name in "$@"; do
  printf '\n== samples/%s.ptx: what changed\n' "$name"
  if diff -u "samples/$name.ptx" $out/"$name".ptx; then echo "nothing"; fi
  echo
  sed "s/^/  /" $out/"$name".txt
done

printf '\n== all samples\n%-12s%-20s%s\n' "" "instructions" "${ptxas:+registers}"
for file in samples/*.ptx; do
  name=$(basename "$file" .ptx)
  instructions=$(sed -n 's/.* \([0-9]*\) instructions -> \([0-9]*\)$/\1 -> \2/p' $out/"$name".txt)
  allotted=
  [ -z "$ptxas" ] || allotted="$(registers "$file") -> $(registers $out/"$name".ptx)"
  printf '%-12s%-20s%s\n' "$name" "$instructions" "$allotted"
done
if [ -z "$ptxas" ]; then
  echo "There is no ptxas here, so no register counts."
fi
echo "The optimized files are in $out, and ptxopt is build/release/ptxopt."
[ -e build/release/emulate/libptxopt_emulation.so ] || cat <<'END'
The program is built without the libraries that `ptxopt emulate`, `record` and `jit` load. They take:
    cmake --build --preset release --target ptxopt_loaded
END

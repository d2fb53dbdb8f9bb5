#!/bin/sh
# Installs what is missing (as root, or with sudo), builds ptxopt, optimizes samples and shows what changed.
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

cmake/install-packages.sh build
echo "building build/release/ptxopt ..."
{ cmake --preset release && cmake --build --preset release --target ptxopt_tool; } >$out/build.log 2>&1 ||
  { cat $out/build.log; exit 1; }

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
echo "The optimized files are in $out."

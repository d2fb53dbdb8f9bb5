#!/bin/sh
# Instead of ptxas, for programs that compile kernels while `ptxopt emulate` runs them (Triton): the interpreter takes PTX, so
# the result is the PTX. The answer to --version keeps such results apart in the programs' caches.
input= output=
while [ $# -gt 0 ]; do
  case $1 in
    --version)
      echo "ptxas of ptxopt emulate, Cuda compilation tools, release 13.0, V13.0.88"
      exit
      ;;
    -o | --output-file) output=$2; shift ;;
    *.ptx) input=$1 ;;
  esac
  shift
done
if [ -z "$input" ] || [ -z "$output" ]; then
  echo "ptxas of ptxopt emulate: it takes a file.ptx and -o FILE" >&2
  exit 1
fi
exec cp "$input" "$output"

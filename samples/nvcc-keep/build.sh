#!/bin/sh
# Optimizes the PTX that `nvcc -keep` leaves, and builds the program of it.
#
#   build.sh FOLDER NVCC-ARGUMENT...     such as: build.sh out -O3 -arch=sm_80 main.cu smooth.cu weights.cu
#
# FOLDER gets `program`, `keep` with the intermediate files, and `steps.sh`, what nvcc does after the PTX. nvcc's arguments
# are those of one call that links a program, without -o and -keep. $NVCC and $PTXOPT name the tools; $PTXOPT_OPTIONS has
# options for ptxopt.
set -eu
[ $# -gt 1 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
folder=$1
shift
# The plan of nvcc has names without quotes: a blank would make two of one, and `rm` would remove another file.
for name in "$folder" "$@"; do
  [ "$name" = "$folder" ] || [ -e "$name" ] || continue # an option
  case $name in
    "" | -* | *[!A-Za-z0-9_./,:+@%-]*)
      echo "build.sh: '$name': names of files have letters, digits and _./,:+@%- only, and do not begin with -" >&2
      exit 2 ;;
  esac
done
nvcc=${NVCC-nvcc}
ptxopt=${PTXOPT-ptxopt}
# The guard asks the ptxas that the program is built with.
export PTXOPT_PTXAS="${PTXOPT_PTXAS-$(dirname "$(command -v "$nvcc")")/ptxas}"
mkdir -p "$folder/keep"

# 1. Compile, and keep the PTX. This program is not optimized.
"$nvcc" -keep --keep-dir "$folder/keep" "$@" -o "$folder/program"

# 2. Optimize each PTX file where it is, and run both versions of each kernel in the interpreter. ptxas does not need the
#    clean-up steps: without them the machine code is that of `ptxopt nvcc`.
# shellcheck disable=SC2086  # several options
"$ptxopt" --in-place "$folder/keep" --tidy=0 --verify ${PTXOPT_OPTIONS-}

# 3. The rest of the pipeline, from nvcc itself: ptxas, fatbinary, nvlink and the host compiler. A line of the plan is a
#    variable or a command; cicc would write the PTX anew.
"$nvcc" --dryrun -keep --keep-dir "$folder/keep" "$@" -o "$folder/program" 2>&1 | sed -n 's/^#\$ //p' | awk '
  /^[A-Za-z_0-9]+=/ {
    at = index($0, "=")
    value = substr($0, at + 1)
    gsub(/\047/, "\047\\\047\047", value)
    printf "export %s=\047%s\047\n", substr($0, 1, at - 1), value
    next
  }
  $1 !~ /cicc"?$/' >"$folder/steps.sh"
sh -eu "$folder/steps.sh"

#!/bin/sh
# Runs the fuzzer of a build made with PTXOPT_FUZZ=ON:  tests/semantics/fuzz/run.sh BUILD_DIR [SECONDS]
# The seeds are tests/semantics/fuzz/corpus and tests/inputs/syntax. Findings stay in BUILD_DIR/fuzz-findings; the exit code is
# not 0 then. The corpus grows in BUILD_DIR/fuzz-corpus, so that the next run begins where this one ends.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${1:?usage: run.sh BUILD_DIR [SECONDS]}
seconds=${2:-60}

fuzzer=$(find "$build" -name parse_fuzzer -type f -perm -u+x | head -n 1)
[ -n "$fuzzer" ] || { echo "run.sh: no parse_fuzzer under $build" >&2; exit 2; }
mkdir -p "$build/fuzz-corpus" "$build/fuzz-findings"

set -- "$build/fuzz-corpus" "$here/corpus"
for folder in "$here/../../inputs/syntax/accepted" "$here/../../inputs/syntax/rejected" "$here/../../inputs/opcodes"; do
  if [ -d "$folder" ]; then set -- "$@" "$folder"; fi
done

# The log has a line for each new input: it is shown only where something was found, without those.
log=$build/fuzz.log
rc=0
"$fuzzer" "$@" -dict="$here/ptx.dict" -artifact_prefix="$build/fuzz-findings/" \
  -seed=1 -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -max_len=16384 -print_final_stats=1 \
  >"$log" 2>&1 || rc=$?
[ "$rc" = 0 ] || grep -av -e '^#[0-9]' -e 'NEW_FUNC' "$log" | cut -c1-2000 || :
grep -a '^stat::' "$log" || :
exit "$rc"

#!/bin/sh
# compare.sh BEFORE AFTER [OPTION...]: ptxopt diff with all its reports, the table in the job's summary (GitHub) and as a
# comment. Exit status: that of ptxopt diff, whatever becomes of the comment.
set -eu
here=$(dirname "$0")

rm -f ptxopt-diff.md ptxopt-diff.json ptxopt-diff.xml
status=0
ptxopt diff "$@" --markdown ptxopt-diff.md --json ptxopt-diff.json --junit ptxopt-diff.xml || status=$?
if [ -s ptxopt-diff.md ]; then
  [ -z "${GITHUB_STEP_SUMMARY-}" ] || cat ptxopt-diff.md >>"$GITHUB_STEP_SUMMARY"
  "$here/post_comment.py" ptxopt-diff.md || echo "compare.sh: no comment was written" >&2
fi
exit $status

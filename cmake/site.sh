#!/bin/sh
# Makes a site of the pages, which loads nothing from elsewhere and opens from a folder, too: FOLDER/index.html. Search needs a server
# (python3 -m http.server), since browsers do not let pages of a folder read other files.
#
#   cmake/site.sh [FOLDER]      # build/site/html is the default
#
# The generator, mkdocs with the theme mkdocs-material, goes into a virtual environment in build/site; the versions are those
# of cmake/site/requirements.txt. A link that leads nowhere ends it. What FOLDER had is replaced: it has to be new, empty, or a site
# that this script made.
set -eu
mkdir -p "${1:-$(dirname "$0")/../build/site/html}"
to=$(cd "${1:-$(dirname "$0")/../build/site/html}" && pwd)
cd "$(dirname "$0")/.."
work=build/site
if [ -n "$(ls -A "$to")" ] && [ ! -e "$to/.ptxopt-site" ]; then
  echo "site.sh: $to has files that are not of a site made here" >&2
  exit 2
fi
touch "$to/.ptxopt-site"

[ -x $work/venv/bin/python ] || python3 -m venv $work/venv
$work/venv/bin/pip install -q --disable-pip-version-check -r cmake/site/requirements.txt
python3 cmake/site/stage.py $work
NO_MKDOCS_2_WARNING=1 $work/venv/bin/mkdocs build -q --strict --clean -f $work/mkdocs.yml -d "$to"
if grep -rlE '<(script|link|img)[^>]* (src|href)="?https?:' --include='*.html' "$to"; then
  echo "site: these pages load something from elsewhere" >&2
  exit 1
fi
echo "site: $(find "$to" -name '*.html' | wc -l) pages in $to"

#!/usr/bin/env python3
"""No two types have one name: where two do, the linker keeps one of their functions for both (the one-definition rule).

  tests/one_definition.py [--self-test] [FOLDER ...]

Universal Ctags reads the C++ below the folders, by default src and tests/unit, which one program holds. A type that two
files define under the same qualified name is an error; types in unnamed namespaces belong to their file. Compilers do
not report this, and a build without optimization calls the functions that optimized builds inline.

--self-test writes such files, and files that are right, and fails if the check confuses them.
Exit codes: 0 all right, 1 a type is defined twice, 77 there is no Universal Ctags.
"""
import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLANTED = {
    "a.h": "namespace one { struct Twice { int x; }; class Mine {}; struct Outer { enum class Kind { A }; }; }",
    "b.h": "namespace one {\nnamespace two { class Mine {}; }\nenum class Twice : char { A };\n}",
    "c.cpp": "namespace one { class Outer; namespace { struct Hidden {}; } struct Other { enum class Kind { B }; }; }",
    "d.cpp": "namespace one { namespace { struct Hidden {}; } }\nstruct one::Outer::Kind2 {};",
}


def types_in(folders):
    """{qualified name: [file:line]} of what is defined outside unnamed namespaces."""
    # Types of a test case are local to a function, like those of an unnamed namespace to a file.
    command = ["ctags", "-R", "-D", "TEST_CASE(name)=void __anon_test()", "--languages=C++", "--langmap=C++:+.h",
               "--kinds-C++=scgu", "--fields=NFsKn", "--output-format=json", "-o", "-", *folders]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = defaultdict(list)
    for tag in map(json.loads, listed.splitlines()):
        if tag["_type"] != "tag":
            continue
        name = "::".join(part for part in (tag.get("scope"), tag["name"]) if part)
        if "__anon" not in name:
            found[name].append(f"{tag['path']}:{tag['line']}")
    return found


def twice(folders):
    found = types_in(folders)
    return len(found), [f"{name} is defined in {' and in '.join(places)}" for name, places in sorted(found.items())
                        if len({place.split(":")[0] for place in places}) > 1]


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        for name, text in PLANTED.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        checked, wrong = twice([folder])
        expected = [f"one::Twice is defined in {folder}/a.h:1 and in {folder}/b.h:3"]
    return checked, [] if wrong == expected else [f"reported {wrong}, not {expected}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("folders", nargs="*", default=[ROOT / "src", ROOT / "tests/unit"])
    options = parser.parse_args()
    if not shutil.which("ctags") or b"Universal" not in subprocess.run(["ctags", "--version"], capture_output=True).stdout:
        print("skipped: there is no Universal Ctags")
        return 77
    checked, wrong = self_test() if options.self_test else twice(options.folders)
    for line in wrong:
        print(line)
    print(f"one definition: {checked} checked, {len(wrong)} wrong")
    return 1 if wrong or not checked else 0


if __name__ == "__main__":
    sys.exit(main())

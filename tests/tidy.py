#!/usr/bin/env python3
"""clang-tidy finds nothing in what a change touches (.clang-tidy says what is looked for, and what is not, and why).

  tests/tidy.py [--build BUILD] [--base COMMIT] [--most N] [-j N] [FILE ...]
  tests/tidy.py --self-test

Checked are the .cpp files that differ from COMMIT, and for each other file of C++ that does, one .cpp file that includes it. Without
--base it is the commit where the branch left its upstream or origin's default branch, otherwise the commit before HEAD. Where
there is none, as in a shallow clone, a few fixed files are checked. Of more than N files those are checked of which most lines
changed, and a line says how many are left out. FILEs are checked instead of what changed.

Where files are and what they are compiled with comes from BUILD/compile_commands.json: the options -I, -isystem, -D and -std. A file
that is compiled as part of another one has those of a file beside it.

--self-test makes repositories with a fault in them, and fails if one is not found.
Exit codes: 0 nothing found, 1 something, 2 wrong usage, 77 there is no clang-tidy-19.
"""
import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TIDY = "clang-tidy-19"  # the one of Debian 12 that reads C++20
FOLDERS = ("src", "include", "tests")
SUFFIXES = (".cpp", ".h", ".def", ".inc")
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.M)
FEW = 6  # files that are checked where nobody knows what changed
MOST = 15  # a minute on two cores


def git(root, *words):
    ran = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True)
    return ran.stdout.strip() if ran.returncode == 0 else None


def base_of(root):
    """A commit to compare with, or None."""
    head = git(root, "rev-parse", "HEAD")
    for upstream in ("@{upstream}", "origin/HEAD"):
        base = git(root, "merge-base", "HEAD", upstream)
        if base and base != head:
            return base
    return git(root, "rev-parse", "--verify", "-q", "HEAD~1")


def changed_files(root, base):
    listed = git(root, "diff", "--name-only", "--diff-filter=d", "--no-renames", base, "--", *FOLDERS)
    if listed is None:
        return None
    new = git(root, "ls-files", "--others", "--exclude-standard", "--", *FOLDERS) or ""
    return sorted(f for f in {*listed.splitlines(), *new.splitlines()} if f.endswith(SUFFIXES))


def most_changed(root, base, files, most):
    """At most so many of these: those of which most lines changed."""
    counts = re.findall(r"^(\d+)\t(\d+)\t(.*)$", git(root, "diff", "--numstat", "--no-renames", base, "--", *FOLDERS) or "", re.M)
    lines = {file: int(added) + int(removed) for added, removed, file in counts}
    return sorted(sorted(files, key=lambda f: (-lines.get(f, 0), f))[:most])


class Sources:
    """The C++ of a tree, and what it is compiled with."""

    def __init__(self, root, build):
        self.root = root
        self.options = {}  # by file, relative to the root
        self.beside = {}   # by folder
        for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
            path = Path(os.path.normpath(Path(entry["directory"]) / entry["file"]))
            if not path.is_relative_to(root):
                continue
            options = self.kept(shlex.split(entry["command"]), entry["directory"])
            self.options.setdefault(str(path.relative_to(root)), options)
            # Of the files that a batch has together, which stand in no folder of their own.
            text = path.read_text(encoding="utf-8", errors="replace") if path.suffix == ".cxx" and path.exists() else ""
            for part in INCLUDE.findall(text):
                if Path(part).is_absolute() and Path(part).is_relative_to(root):
                    self.options.setdefault(str(Path(part).relative_to(root)), options)
        for file, options in self.options.items():
            for folder in Path(file).parents:
                self.beside.setdefault(str(folder), options)

    @staticmethod
    def kept(words, directory):
        kept, at = [], 1
        while at < len(words):
            word = words[at]
            if word in ("-I", "-isystem", "-D"):
                at += 1
                kept += [word, words[at]]
            elif word.startswith(("-I", "-isystem", "-D", "-std=")):
                kept.append(word)
            at += 1
        # What is relative is so to the folder of the command.
        return kept + [f"-working-directory={directory}"]

    def options_of(self, file):
        if file in self.options:
            return self.options[file]
        return next((self.beside[str(f)] for f in Path(file).parents if str(f) in self.beside), None)

    def included_by(self):
        """{last parts of a path: files that include it by these}"""
        found = defaultdict(list)
        for folder in FOLDERS:
            for path in sorted((self.root / folder).rglob("*")):
                if path.suffix in SUFFIXES and path.is_file():
                    for name in INCLUDE.findall(path.read_text(encoding="utf-8", errors="replace")):
                        found[name].append(str(path.relative_to(self.root)))
        return found

    def units_for(self, files):
        """The .cpp files among these, and one .cpp file that includes each of the others; those of one stem first."""
        units = {f for f in files if f.endswith(".cpp")}
        others = [f for f in files if not f.endswith(".cpp")]
        graph = self.included_by() if others else {}
        for file in others:
            seen, wave = {file}, [file]
            while wave:
                users = sorted({u for f in wave for i in range(len(Path(f).parts)) for u in graph.get("/".join(Path(f).parts[i:]), [])} - seen)
                found = [u for u in users if u.endswith(".cpp") and self.options_of(u)]
                if found:
                    if not units & set(found):
                        units.add(min(found, key=lambda u: (Path(u).stem != Path(file).stem, u)))
                    break
                seen.update(users)
                wave = users
        return sorted(units)


def check(sources, config, file):
    options = sources.options_of(file)
    command = [TIDY, "--quiet", f"--config-file={config}", str(sources.root / file), "--", "-x", "c++", *options, "-Wno-everything"]
    ran = subprocess.run(command, capture_output=True, text=True)
    return ran.stdout.strip() or (ran.stderr.strip() if ran.returncode != 0 else "")


def sampled(files, most):
    """At most so many of these, from all over the list."""
    if len(files) <= most:
        return files
    return [files[i * len(files) // most] for i in range(most)]


def run(root, build, base=None, most=MOST, jobs=2, files=(), say=print):
    """What is found, by file."""
    sources = Sources(root, build)
    if files:
        units = sources.units_for([str(Path(f).resolve().relative_to(root)) for f in files])
    else:
        base = base or base_of(root)
        changed = changed_files(root, base) if base else None
        if changed is None:
            say(f"tidy: no commit to compare with ({base or 'a shallow clone, or no repository'}): {FEW} fixed files are checked")
            units = sampled(sorted(f for f in sources.options if f.startswith("src/") and f.endswith(".cpp")), FEW)
        else:
            units = sources.units_for(changed)
    known = [u for u in units if sources.options_of(u)]
    some = most_changed(root, base, known, most) if base and not files and len(known) > most else sampled(known, most)
    if len(some) < len(known):
        say(f"tidy: {len(known) - len(some)} of {len(known)} files are left out (--most {most})")
    with ThreadPoolExecutor(jobs) as pool:
        found = dict(zip(some, pool.map(lambda f: check(sources, root / ".clang-tidy", f), some)))
    return {f: text for f, text in found.items() if text}, len(some)


# ---- that it finds what is there ----

RIGHT = "int half(int n) { return n / 2; }\n"
FAULTY = "#include <string>\n#include <utility>\nusing Text = std::string;\n{}Text twice(Text t) {{\n  Text u = std::move(t);\n  return u + t;\n}}\n"


def self_test():
    wrong = []

    def expect(holds, what):
        if not holds:
            wrong.append(what)

    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "tree"
        (root / "src/component").mkdir(parents=True)
        shutil.copy(ROOT / ".clang-tidy", root / ".clang-tidy")
        where = {"directory": str(root / "build"), "command": f"c++ -std=c++20 -I{root}/src -Werror -c x.cpp"}
        (root / "build").mkdir()
        (root / "build/compile_commands.json").write_text(json.dumps(
            [{**where, "file": str(root / "src/component" / f"{name}.cpp")} for name in ("plain", "user", "other")]), encoding="utf-8")
        (root / ".gitignore").write_text("build\n")

        def commit(**texts):
            for name, text in texts.items():
                (root / "src/component" / name.replace("_", ".")).write_text(text, encoding="utf-8")
            git(root, "add", "-A")
            git(root, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "x")

        def found(at=root, **given):
            said = []
            names, _ = run(at, root / "build" if at == root else at / "build", say=said.append, **given)
            return sorted(names), " ".join(said), " ".join(names.values())

        git(root, "init", "-q")
        commit(plain_cpp=FAULTY.format(""), user_cpp='#include "component/part.h"\n' + RIGHT, other_cpp=RIGHT, part_h="#pragma once\n")
        commit(other_cpp=RIGHT + "// more\n")
        expect(found()[0] == [], f"a fault of before the change is reported: {found()}")
        commit(plain_cpp=FAULTY.format("\n"))
        names, _, text = found()
        expect(names == ["src/component/plain.cpp"] and "bugprone-use-after-move" in text, f"a fault in a file that changed: {names} {text}")
        commit(part_h="#pragma once\n" + FAULTY.format("inline "))
        names, _, text = found()
        expect(names == ["src/component/user.cpp"] and "part.h:7" in text, f"a fault in a header that changed: {names} {text}")
        expect(found(base="HEAD~2", most=1)[1] == "tidy: 1 of 2 files are left out (--most 1)", f"left out: {found(base='HEAD~2', most=1)}")
        (root / "src/component/new.cpp").write_text(FAULTY.format(""), encoding="utf-8")
        expect("src/component/new.cpp" in found()[0], f"a fault in a file that no build knows: {found()}")
        (root / "src/component/new.cpp").write_text("int f() { return no; }\n", encoding="utf-8")
        expect("undeclared identifier" in found()[2], f"a file that is not C++: {found()}")
        (root / "src/component/new.cpp").unlink()
        expect(found(base="nothing")[1].startswith("tidy: no commit to compare with (nothing)"), f"a base that is none: {found(base='nothing')}")
        shallow = root.parent / "shallow"
        subprocess.run(["git", "clone", "-q", "--depth=1", root.as_uri(), shallow], check=True)
        (shallow / "build").mkdir()
        listed = (root / "build/compile_commands.json").read_text(encoding="utf-8").replace(str(root), str(shallow))
        (shallow / "build/compile_commands.json").write_text(listed, encoding="utf-8")
        names, said, _ = found(shallow)
        expect("a shallow clone" in said and names == ["src/component/plain.cpp", "src/component/user.cpp"], f"a shallow clone: {names} {said}")
    for line in wrong:
        print(line)
    print(f"tidy: self-test, {len(wrong)} wrong")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", help="not needed; every test takes it")
    parser.add_argument("--build", type=Path, default=ROOT / "build/release", help="the folder with compile_commands.json [build/release]")
    parser.add_argument("--base", help="the commit to compare with")
    parser.add_argument("--most", type=int, default=MOST, help=f"files to check [{MOST}]")
    parser.add_argument("-j", type=int, default=2, help="files at a time [2]")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("files", nargs="*", type=Path)
    options = parser.parse_args()
    if not shutil.which(TIDY):
        print(f"skipped: there is no {TIDY}")
        return 77
    if options.self_test:
        return self_test()
    if not (options.build / "compile_commands.json").exists():
        print(f"tidy: {options.build} has no compile_commands.json; --build names a build", file=sys.stderr)
        return 2
    found, checked = run(ROOT, options.build.resolve(), options.base, options.most, options.j, options.files)
    for text in found.values():
        print(text)
    print(f"tidy: {checked} files checked, {len(found)} with findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""The Debian packages: cpack makes them, they hold what they should, and the program in them runs where they are unpacked.

  deb.py --tool PTXOPT --build BUILD_FOLDER

BUILD_FOLDER is a complete release build. Exit code 77, skipped, where dpkg-dev is not there. lintian has its say where it
is installed.
"""
import argparse
import gzip
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lib"))
from checking import Counted  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]
# The last is what Triton calls under `ptxopt emulate`.
PROGRAMS = {"usr/bin/ptxopt", "usr/bin/ptxopt-ptxas", "usr/bin/ptxopt-ptxas-blackwell", "usr/lib/ptxopt/emulate/ptxas"}
TOOL_FILES = {"usr/bin/ptxopt", "usr/bin/ptxopt-ptxas", "usr/bin/ptxopt-ptxas-blackwell", "usr/share/man/man1/ptxopt.1.gz",
              "usr/share/man/man1/ptxopt-run.1.gz", "usr/share/man/man1/ptxopt-ptxas.1.gz",
              "usr/share/bash-completion/completions/ptxopt", "usr/share/zsh/vendor-completions/_ptxopt",
              "usr/share/fish/vendor_completions.d/ptxopt.fish", "usr/share/doc/ptxopt/copyright",
              "usr/share/doc/ptxopt/changelog.Debian.gz", "usr/share/doc/ptxopt/README.md",
              "usr/share/doc/ptxopt/docs/guard.md", "usr/share/doc/ptxopt/docs/results/loops.md"}
DEV_FILES = {"usr/include/ptxopt/ptxopt.h", "usr/lib/libptxopt.a", "usr/lib/cmake/ptxopt/ptxoptConfig.cmake",
             "usr/share/doc/libptxopt-dev/copyright"}


class Test(Counted):
    def run(self, *command, **options):
        run = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=500, **options)
        self.check(run.returncode == 0, f"{command[0]}: {run.stdout[-2000:]}{run.stderr[-2000:]}")
        return run.stdout

    def contents(self, package, wanted):
        """Files with their modes; nothing that is missing, nothing outside of usr."""
        modes = {}
        for row in self.run("dpkg-deb", "-c", package).splitlines():
            mode, owner, _, _, _, name = row.split(maxsplit=5)
            self.check(owner == "root/root", f"{name} is {owner}'s")
            modes[name.split(" -> ")[0].removeprefix("./")] = mode
        files = {name for name, mode in modes.items() if not mode.startswith("d")}
        self.check(wanted <= files, f"{package.name} lacks {sorted(wanted - files)}")
        self.check(all(f.startswith("usr/") for f in files), f"{package.name} has {sorted(files)}")
        programs = {f for f in files if modes[f][0] == "-" and "x" in modes[f]}
        self.check(programs <= PROGRAMS, f"programs: {programs}")
        return files

    def all(self, tool, build, scratch):
        out = scratch / "out"
        self.run("cpack", "-G", "DEB", "-B", out, "--config", build / "CPackConfig.cmake", cwd=scratch)
        packages = {p.name.split("_")[0]: p for p in out.glob("*.deb")}
        self.check(set(packages) == {"ptxopt", "libptxopt-dev"}, f"packages: {sorted(packages)}")
        for name, section, wanted in (("ptxopt", "devel", TOOL_FILES), ("libptxopt-dev", "libdevel", DEV_FILES)):
            files = self.contents(packages[name], wanted)
            field = {f: self.run("dpkg-deb", "-f", packages[name], f).strip()
                     for f in ("Section", "Depends", "Description", "Version")}
            version = self.run(tool, "--version").split()[1]
            self.check(field["Section"] == section and field["Version"] == version + "-1", f"{name}: {field}")
            self.check(field["Description"].count("\n") >= 2, f"{name}: {field['Description']}")
            wanted_depends = ("libc6", "libfmt", "libelf") if name == "ptxopt" else ("libantlr4-runtime-dev", "libfmt-dev")
            self.check(all(re.search(rf"\b{re.escape(d)}", field["Depends"]) for d in wanted_depends),
                       f"{name} depends on {field['Depends']}")
            self.check(name == "ptxopt" or not files & TOOL_FILES, f"{name} has files of the other")
        if shutil.which("lintian"):
            run = subprocess.run(["lintian", "--allow-root", "--fail-on", "error", *map(str, packages.values())],
                                 capture_output=True, text=True, timeout=500)
            self.check(run.returncode == 0, f"lintian: {run.stdout}{run.stderr}")

        root = scratch / "root"
        self.run("dpkg-deb", "-x", packages["ptxopt"], root)
        program = root / "usr/bin/ptxopt"
        self.check(self.run(program, "--version") == self.run(tool, "--version"), "--version of the packed program")
        drop_in = root / "usr/bin/ptxopt-ptxas"
        called = subprocess.run([drop_in, "word"], env={"PTXOPT_PTXAS": "/bin/echo"}, capture_output=True, text=True)
        self.check(called.stdout == "word\n", f"the drop-in calls: {called}")
        for shared in ("libstdc++", "libfmt"):
            self.check(shared not in self.run("readelf", "-d", drop_in), f"the drop-in needs {shared}")
        for sample in (ROOT / "samples").glob("*.ptx"):
            self.check(self.run(program, sample, "-o", "-") == self.run(tool, sample, "-o", "-"), f"{sample.name} differs")
        self.check(".debug" not in self.run("readelf", "-S", program), "the program is not stripped")
        commands = re.findall(r"^\.BR? ?.*|^\.SH (\w+)", gzip.open(root / "usr/share/man/man1/ptxopt.1.gz", "rt").read(),
                              re.M)
        self.check({"NAME", "OPTIONS", "ENVIRONMENT"} <= set(commands), f"ptxopt.1.gz has {commands}")
        copyright_text = (root / "usr/share/doc/ptxopt/copyright").read_text()
        self.check(all(words in copyright_text for words in ("MIT License", "antlr", "elfutils", "Zstd")), "copyright")
        self.check(not list((root / "usr/share/man").rglob("*.1")), "pages that are not compressed")
        if stat.S_IMODE(program.stat().st_mode) != 0o755:
            self.check(False, "the program's mode")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, type=os.path.abspath)
    parser.add_argument("--build", required=True, type=lambda p: Path(p).resolve())
    args = parser.parse_args()
    if not shutil.which("dpkg-shlibdeps"):
        print("deb: skipped: there is no dpkg-shlibdeps (package dpkg-dev)")
        return 77
    test = Test("deb")
    with tempfile.TemporaryDirectory() as scratch:
        test.all(args.tool, args.build, Path(scratch).resolve())
    print(f"deb: {test.checks - test.wrong} passed, {test.wrong} failed")
    return 1 if test.wrong else 0


if __name__ == "__main__":
    sys.exit(main())

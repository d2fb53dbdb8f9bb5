#!/usr/bin/env python3
"""The manual: roff without a warning, a page a command, and everything that --help lists. And the table of environment
variables: those that the sources read, no more and no fewer.

  manual.py --tool PTXOPT

man, groff and mandoc check the pages where they are installed.
"""
import os
import re
import shutil
import subprocess
from pathlib import Path

from checks import Checks, run_test

ROOT = Path(__file__).resolve().parents[3]
TABLE = ROOT / "src" / "commands" / "tool" / "options" / "environment.def"


# Set by the program for itself, not by people.
PRIVATE = {"PTXOPT_AS_CALLED", "PTXOPT_NVCC_CALLED", "XLA_FLAGS"}  # the last is JAX's: doctor looks at what it says


def variables_read():
    """Names that the sources give to getenv or environmentValue, as words or, in a loop, from a list of words before it; and all words that
    begin with PTXOPT_."""
    names = set()
    for path in sorted((ROOT / "src").rglob("*.cpp")):
        text = path.read_text(encoding="utf-8")
        names |= set(re.findall(r'"(PTXOPT_[A-Z_]+)"', text))
        if "getenv" not in text and "environmentValue" not in text:
            continue
        names |= set(re.findall(r'(?:getenv|environmentValue)\("(\w+)"\)', text))
        for words in re.findall(r'for \(const char\*(?: const)? \w+ : \{([^}]*)\}', text):
            names |= set(re.findall(r'"([A-Z][A-Z_]+)"', words))
    for path in (ROOT / "python").rglob("*.py"):
        names |= set(re.findall(r'"(PTXOPT_[A-Z_]+)"', path.read_text(encoding="utf-8")))
    return names - PRIVATE


HANDED_ON = ["as", "nvcc"]  # whose --help is another program's


class Test(Checks):
    def run(self, *command, **options):
        return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=60, **options)

    def rendered(self, page):
        """The page as plain text, and what the programs say against it."""
        if shutil.which("man"):
            env = {**os.environ, "MANWIDTH": "200", "LC_ALL": "C.UTF-8", "MANROFFOPT": "-ww", "MAN_KEEP_FORMATTING": ""}
            run = self.run("man", "--warnings", "-l", page, env=env)
            self.check(run.returncode == 0 and not run.stderr, f"man --warnings {page.name}: {run.stderr[:500]}")
            return re.sub(r".\x08", "", run.stdout)
        return None

    def pages(self):
        folder = self.scratch / "man"
        run = self.run(self.tool, "--write-manual", folder)
        self.check(run.returncode == 0 and not run.stdout and not run.stderr, f"--write-manual: {run.stderr}")
        help_text = self.run(self.tool, "--help").stdout
        commands = re.findall(r"^  (\w+) ", help_text.split("\nCommands")[1].split("\nExamples")[0], re.M)
        self.check(len(commands) >= 4, f"--help lists the commands {commands}")
        names = {"ptxopt.1", *(f"ptxopt-{c}.1" for c in commands)}
        self.check({p.name for p in folder.iterdir()} == names, f"pages: {sorted(p.name for p in folder.iterdir())}")
        for name in sorted(names):
            page = folder / name
            for program in (["groff", "-man", "-ww", "-z", "-Tutf8"], ["mandoc", "-Tlint", "-Wall"]):
                if shutil.which(program[0]):
                    run = self.run(*program, page)
                    self.check(not run.stdout and not run.stderr, f"{program}: {run.stdout}{run.stderr}")
            command = name[:-2].split("-")[1:]
            if command and command[0] in HANDED_ON:
                text = self.rendered(page)
                for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "NOTES", "SEE ALSO"):
                    self.check(text is None or f"\n{section}\n" in text, f"{name} has no {section}")
                continue
            listed = self.run(self.tool, *command, "--help" if command else "--help-all").stdout
            self.check(len(listed.splitlines()) > 10 and max(map(len, listed.splitlines())) <= 80,
                       f"{command} --help is wider than 80 columns")
            text = self.rendered(page)
            if text is None:
                continue
            for option in re.findall(r"^ {2,6}(-\w|(?:-\w, )?--[\w-]+)", listed, re.M):
                self.check(re.search(rf"^ +{re.escape(option)}\b", text, re.M), f"{name} lacks {option}")
            for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "SEE ALSO"):
                self.check(f"\n{section}\n" in text, f"{name} has no {section}")
            codes = re.search(r"^Exit codes: (.*?)\.$", listed, re.M | re.S)
            for code in re.findall(r"(?:^|, )(\d+) ", codes[1].replace("\n", " ")):
                self.check(re.search(rf"^ +{code} +\w", text.split("EXIT STATUS")[1], re.M), f"{name} lacks code {code}")
        if not shutil.which("man"):
            print("manual: there is no man: the pages were not compared with --help")
            return
        main = self.rendered(folder / "ptxopt.1")
        for row in self.run(self.tool, "--list-passes").stdout.splitlines():
            self.check(row.split()[0] in main.split("\nPASSES\n")[1].split("\nEXIT STATUS\n")[0], f"no pass {row}")
        for row in self.run(self.tool, "--list-knobs").stdout.splitlines():
            for name in (row.split()[0], *re.findall(r"in cicc: ([\w-]+)\)", row)):
                self.check(re.search(rf"--{name}[ \[]", main), f"no knob --{name}")
        again = self.scratch / "again"
        self.run(self.tool, "--write-manual", again)
        self.check(all((again / n).read_bytes() == (folder / n).read_bytes() for n in names), "not the same twice")

    def environment(self):
        declared = set(re.findall(r"^PTXOPT_VARIABLE\((\w+),", TABLE.read_text(), re.M))
        read = variables_read()
        self.check({"PTXOPT_PTXAS", "CUDA_HOME", "NO_COLOR"} <= read, f"the sources read {sorted(read)}")
        self.check(not read - declared, f"read, but not in environment.def: {sorted(read - declared)}")
        words = "\n".join(p.read_text(encoding="utf-8") for p in [*(ROOT / "src").rglob("*.[ch]*"), *(ROOT / "python").rglob("*.py")] if p != TABLE)
        unread = {name for name in declared if f'"{name}"' not in words}
        self.check(not unread, f"in environment.def, but nothing reads it: {sorted(unread)}")
        shown = self.run(self.tool, "--help").stdout.split("Environment, see")[1]
        self.check({v for v in declared if v.startswith("PTXOPT_")} <= set(re.findall(r"\w+", shown)),
                   "--help lacks a variable")


if __name__ == "__main__":
    run_test(Test, ["pages", "environment"])

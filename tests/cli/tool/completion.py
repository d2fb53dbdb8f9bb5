#!/usr/bin/env python3
"""Completion in real shells: bash by calling the function as readline does, zsh at a terminal, fish by `complete -C`.

  completion.py --tool PTXOPT

Shells that are not there are skipped, with a word.
"""
import os
import pty
import re
import select
import shutil
import subprocess
import time

from checks import Checks, run_test

# A line up to the cursor, and the candidates that must be among those offered, and some that must not.
CASES = [
    ("ptxopt ver", {"verify", "vertex.ptx"}, {"run", "version.txt"}),
    ("ptxopt ", {"run", "verify", "reduce", "report", "kernel.ptx", "keep"}, {"notes.txt", "--passes"}),
    ("ptxopt ker", {"kernel.ptx"}, {"kernel.cubin", "run"}),
    ("ptxopt keep/", {"keep/inner.ptx"}, {"keep/inner.o"}),
    ("ptxopt a\\ b", {"a b.ptx"}, set()),
    ("ptxopt --in", {"--in-place"}, {"--list-passes"}),
    ("ptxopt kernel.ptx --rep", {"--report", "--reprint"}, {"--passes"}),
    ("ptxopt --passes dc", {"dce"}, {"cssa-coalesce"}),
    ("ptxopt --lsr-selection ", {"median", "cheapest", "sass"}, {"kernel.ptx"}),
    ("ptxopt --lsr-selection m", {"median"}, {"cheapest"}),
    ("ptxopt --do-lsr-64-bit ", {"0", "1", "2"}, {"3", "kernel.ptx"}),
    ("ptxopt --fast-compile ", {"kernel.ptx"}, {"0", "1"}),
    ("ptxopt --disable-unk", {"--disable-unknown-trip-lsr"}, {"--disable-lsr-complexity-discount"}),
    ("ptxopt kernel.ptx --arch sm_9", {"sm_90"}, {"sm_80"}),
    ("ptxopt kernel.ptx --report r", {"report.json"}, {"run", "readme.ptx"}),
    ("ptxopt kernel.ptx -o no", {"notes.txt"}, set()),
    ("ptxopt --write-manual ", {"keep"}, {"kernel.ptx", "notes.txt"}),
    ("ptxopt run --form", {"--format"}, {"--passes", "--fast-compile"}),
    ("ptxopt run kernel.ptx --format ", {"text", "markdown"}, {"json", "kernel.ptx"}),
    ("ptxopt verify --format ", {"text", "json"}, {"markdown"}),
    ("ptxopt verify ker", {"kernel.ptx"}, {"kernel.cubin"}),
    ("ptxopt reduce kernel.ptx -o x.ptx --time", {"--timeout", "--timeout-interesting"}, {"--time-report"}),
    ("ptxopt as -arch=sm_80 ker", {"kernel.ptx", "kernel.cubin"}, {"run"}),
    ("ptxopt nvcc -c no", {"notes.txt"}, {"run"}),
    ("ptxopt doctor --client ", {"triton", "jax", "clang", "nvcc", "cmake"}, {"kernel.ptx"}),
    ("ptxopt doctor --format ", {"text", "json"}, {"markdown"}),
    ("ptxopt report --color ", {"auto", "always", "never"}, set()),
]
# Where shells see a word that the others do not.
JOINED = [
    ("ptxopt --lsr-selection=m", {"median"}, {"cheapest"}),
    ("ptxopt kernel.ptx --color=n", {"never"}, {"always"}),
    ("ptxopt --report=rep", {"report.json"}, {"readme.ptx"}),
]
LISTS = [
    ("ptxopt diff a.ptx b.ptx --arch sm_80,sm_9", {"sm_80,sm_90"}, {"sm_80,sm_80"}),
    ("ptxopt --passes dce,cssa", {"dce,cssa-coalesce"}, set()),
    ("ptxopt --dump cfg,dom,oc", {"cfg,dom,occupancy"}, set()),
]
FILES = ["kernel.ptx", "kernel.cubin", "a b.ptx", "notes.txt", "report.json", "readme.ptx", "vertex.ptx", "version.txt",
         "keep/inner.ptx", "keep/inner.o"]

BASH = r"""
source "$1"
compopt() { :; }  # only works while the line editor waits
IFS=$'\x1f' read -r -a COMP_WORDS <<< "$2"
[[ $2 == *$'\x1f' ]] && COMP_WORDS+=('')
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_ptxopt ptxopt "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
printf '%s\n' "${COMPREPLY[@]}"
complete -p ptxopt
"""


class Shells(Checks):
    def __init__(self, name, tool, scratch):
        super().__init__(name, tool, scratch)
        self.home = scratch / "home"
        self.home.mkdir()
        self.work = scratch / "work"
        for file in FILES:
            (self.work / file).parent.mkdir(parents=True, exist_ok=True)
            (self.work / file).touch()

    def script(self, shell, name):
        run = subprocess.run([self.tool, "--completion", shell], capture_output=True, timeout=60, check=True)
        path = self.scratch / name
        path.write_bytes(run.stdout)
        syntax = subprocess.run([shell, "-n", path], capture_output=True, text=True, timeout=60)
        self.check(syntax.returncode == 0 and not syntax.stderr, f"{shell} -n: {syntax.stderr}")
        return path

    def compare(self, shell, line, offered, wanted, unwanted):
        offered = {o.rstrip("/") for o in offered}
        self.check(wanted <= offered, f"{shell}: '{line}' offers {sorted(offered)[:20]}, not {sorted(wanted - offered)}")
        self.check(not unwanted & offered, f"{shell}: '{line}' offers {sorted(unwanted & offered)}")

    def bash(self):
        script = self.script("bash", "ptxopt.bash")

        def offered(line):
            # As readline does: blanks end words, unless quoted, and = is a word.
            words = [w.replace("\\ ", " ") for w in re.split(r"(?<!\\) |(=)", line) if w is not None]
            words = [w for i, w in enumerate(words) if w or i + 1 == len(words)]
            run = subprocess.run(["bash", "--norc", "-c", BASH, "bash", script, "\x1f".join(words)], cwd=self.work,
                                 capture_output=True, text=True, timeout=60)
            self.check(not run.stderr, f"bash: '{line}': {run.stderr}")
            *words, registered = run.stdout.splitlines()
            self.check(registered == "complete -F _ptxopt ptxopt", f"bash: {registered}")
            return words

        for line, wanted, unwanted in CASES + JOINED + LISTS:
            self.compare("bash", line, offered(line), wanted, unwanted)
        # Every option of every command that --help-all lists is offered.
        for command in ["", "run", "verify", "reduce", "report", "tune", "diff", "baseline", "extract"]:
            text = subprocess.run([self.tool, *command.split(), "--help-all" if not command else "--help"],
                                  capture_output=True, text=True, timeout=60, check=True).stdout
            names = set(re.findall(r"^ {2,6}(?:-\w, )?(--[\w-]+)", text, re.M))
            self.check(len(names) > 5, f"{command} --help lists {names}")
            self.compare("bash", f"ptxopt {command} -", offered(f"ptxopt {command} --".replace("  ", " ")), names, set())
        self.compare("bash", "-O", offered("ptxopt -O"), {"-O0", "-O1", "-O2"}, {"-O", "-O3"})
        self.compare("bash", "--", offered("ptxopt reduce a.ptx -o b.ptx -- tru"), {"true"}, {"--kernel"})

    def fish(self):
        if not shutil.which("fish"):
            return print("completion: skipped: there is no fish")
        script = self.script("fish", "ptxopt.fish")
        env = {**os.environ, "HOME": str(self.home), "XDG_CONFIG_HOME": str(self.home)}
        for line, wanted, unwanted in CASES + JOINED + LISTS:
            run = subprocess.run(["fish", "--no-config", "-c", "source $argv[1]; complete -C $argv[2]", script, line],
                                 cwd=self.work, env=env, capture_output=True, text=True, timeout=60)
            self.check(run.returncode == 0 and not run.stderr, f"fish: '{line}': {run.stderr}")
            offered = {row.split("\t")[0] for row in run.stdout.splitlines()}
            # Behind = fish gives the whole word.
            offered |= {o.split("=", 1)[1] for o in offered if line.split()[-1].startswith("--") and "=" in o}
            # Fish also offers what holds the word somewhere; only what it begins counts.
            last = re.split(r"(?<!\\)[ =]", line)[-1].replace("\\ ", " ")
            # ... and other files behind those of the suffix.
            self.compare("fish", line, {o for o in offered if o.startswith(last)}, wanted, unwanted - set(FILES))
            files = [row.split("\t")[0] for row in run.stdout.splitlines()]
            if "kernel.ptx" in files and "kernel.cubin" in files and " as " not in line:
                self.check(files.index("kernel.ptx") < files.index("kernel.cubin"), f"fish: the order for '{line}'")
        return None

    def zsh(self):
        """At a pseudo-terminal, each line completed by TAB where only one candidate is left."""
        if not shutil.which("zsh"):
            return print("completion: skipped: there is no zsh")
        folder = self.home / "functions"
        folder.mkdir()
        shutil.copy(self.script("zsh", "_ptxopt"), folder / "_ptxopt")
        (self.home / ".zshrc").write_text(f"""
PS1='> ' ; unsetopt BEEP ; setopt NO_LIST_AMBIGUOUS NO_AUTO_LIST
fpath=({folder} $fpath)
autoload -Uz compinit && compinit -u -d {self.home}/dump
show() {{ print -r -- "<<$BUFFER>>" ; BUFFER= ; zle redisplay }}
zle -N show ; bindkey '^X' show
cd {self.work}
print READY
""")
        pid, terminal = pty.fork()
        if pid == 0:
            os.environ.update(HOME=str(self.home), ZDOTDIR=str(self.home), TERM="dumb", LC_ALL="C.UTF-8")
            os.execvp("zsh", ["zsh", "-d", "-i"])

        def read_until(pattern):
            text, end = "", time.monotonic() + 30
            while not (found := re.search(pattern, text)) and time.monotonic() < end:
                if select.select([terminal], [], [], 0.2)[0]:
                    text += os.read(terminal, 65536).decode(errors="replace")
            return found or print(f"completion: zsh says {text!r}")

        self.check(read_until("READY\r"), "zsh does not start")
        for line, wanted in [
                ("ptxopt veri\t", "ptxopt verify "), ("ptxopt kernel\t", "ptxopt kernel.ptx "),
                ("ptxopt keep/\t", "ptxopt keep/inner.ptx "), ("ptxopt --in-p\t", "ptxopt --in-place "),
                ("ptxopt --lsr-sel\tm\t", "ptxopt --lsr-selection=median "),
                ("ptxopt --passes nv\t", "ptxopt --passes cross-type-coalescer"),
                ("ptxopt --passes dce,nv\t", "ptxopt --passes dce,cross-type-coalescer"),
                ("ptxopt kernel.ptx --report rep\t", "ptxopt kernel.ptx --report report.json "),
                ("ptxopt run --forma\tm\t", "ptxopt run --format=markdown "),
                ("ptxopt run --forma\tx\t", "ptxopt run --format=x"),
                ("ptxopt verify --format j\t", "ptxopt verify --format json "),
                ("ptxopt verify kernel\t", "ptxopt verify kernel.ptx "),
                ("ptxopt reduce kernel.ptx --kern\t", "ptxopt reduce kernel.ptx --kernel="),
                ("ptxopt report kernel.ptx --color=ne\t", "ptxopt report kernel.ptx --color=never "),
        ]:
            os.write(terminal, line.encode())
            os.write(terminal, b"\x18")
            found = read_until("<<(.*)>>")
            self.check(found and found[1].rstrip(" ,") == wanted.rstrip(), f"zsh: {line!r} gives {found and found[1]!r}")
        os.write(terminal, b"exit\r")
        os.close(terminal)
        os.waitpid(pid, 0)
        return None


if __name__ == "__main__":
    run_test(Shells, ["bash", "fish", "zsh"])

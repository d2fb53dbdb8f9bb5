#!/usr/bin/env python3
"""Does ptxopt check agree with ptxas, on files and on mutants of them?

  agree.py --tool PTXOPT [--ptxas P] [--mutants N] [--sample K] [-v] [FILE|FOLDER ...]

Files: those given, or samples/ and the inputs of the tests. ptxas parses each for its .target (-arch compute_XX). Exit 1 where
ptxopt check says error of a text that ptxas takes. Of what ptxas refuses, the table says how much is found, by kind of mutant:

  file        the files as they are
  type        another type in an opcode
  register    another register of the function as an operand
  version     an older .version
  target      an older .target
  undeclared  a declaration that is not there
  word        a modifier that is not there
  operand     an operand that is not there

The last line says of how many files ptxas takes the text with the least .version and .target that ptxopt check says, written by
--set-version and --set-target, and of how many it refuses it.

N mutants of each kind are made of each file (1), the same ones at each run. --sample K takes every K-th file. Exit 77 without ptxas.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "lib"))
from toolkit import find_ptxas, needed_ptx, newest_ptx  # noqa: E402

FOLDERS = ["samples", "tests/inputs", "tests/lit", "tests/codegen"]
TYPES = "b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f16 f16x2 bf16 f32 f64 pred".split()
VERSIONS = "2.0 3.0 4.0 5.0 6.0 6.3 6.5 7.0 7.1 7.4 7.8 8.0 8.3 8.6 8.8 9.0".split()
TARGETS = "sm_20 sm_30 sm_35 sm_50 sm_53 sm_60 sm_70 sm_75 sm_80 sm_86 sm_89 sm_90 sm_100 sm_103 sm_120".split()
INSTRUCTION = re.compile(r"^(\s*(?:@!?[\w$%]+\s+)?)([a-z][a-z0-9]*(?:\.[\w:]+)*)(\s+)([^;{}/]*(?:\{[^{};]*\}[^;{}/]*)*);\s*$")
REGISTER = re.compile(r"%[a-zA-Z_]+\d+\b")
MOST_LINES = 3000


def instructions(lines):
    return [(n, m) for n, line in enumerate(lines) if (m := INSTRUCTION.match(line))]


def mutate_type(text, chance):
    lines = text.split("\n")
    found = [(n, m, words) for n, m in instructions(lines)
             if (words := [i for i, w in enumerate(m[2].split(".")) if w in TYPES and i])]
    if not found:
        return None
    n, m, words = chance.choice(found)
    parts, at = m[2].split("."), chance.choice(words)
    parts[at] = chance.choice([t for t in TYPES if t != parts[at]])
    lines[n] = f"{m[1]}{'.'.join(parts)}{m[3]}{m[4]};"
    return "\n".join(lines)


def mutate_register(text, chance):
    lines = text.split("\n")
    found = [(n, m) for n, m in instructions(lines) if REGISTER.search(m[4])]
    if not found:
        return None
    n, m = chance.choice(found)
    at = chance.choice(list(REGISTER.finditer(m[4])))
    others = sorted({r for _, o in found for r in REGISTER.findall(o[4])} - {at[0]})
    if not others:
        return None
    lines[n] = f"{m[1]}{m[2]}{m[3]}{m[4][:at.start()]}{chance.choice(others)}{m[4][at.end():]};"
    return "\n".join(lines)


def mutate_version(text, chance):
    older = [v for v in VERSIONS if tuple(map(int, v.split("."))) < needed_ptx(text)]
    return re.sub(r"(?m)^(\s*\.version\s+)[\d.]+", lambda m: m[1] + chance.choice(older), text, count=1) if older else None


def mutate_target(text, chance):
    now = re.search(r"(?m)^\s*\.target\s+sm_(\d+)", text)
    older = [t for t in TARGETS if now and int(t[3:]) < int(now[1])]
    return re.sub(r"(?m)^(\s*\.target\s+)sm_\w+", lambda m: m[1] + chance.choice(older), text, count=1) if older else None


def mutate_undeclared(text, chance):
    lines = text.split("\n")
    found = [n for n, line in enumerate(lines) if re.match(r"^\s*\.(reg|shared|local|global|const)\b[^{}]*;\s*$", line)
             or re.match(r"^\s*[$\w]+:\s*$", line)]
    if not found:
        return None
    del lines[chance.choice(found)]
    return "\n".join(lines)


def mutate_word(text, chance):
    lines = text.split("\n")
    found = [(n, m) for n, m in instructions(lines) if "." in m[2]]
    if not found:
        return None
    n, m = chance.choice(found)
    parts = m[2].split(".")
    del parts[chance.randrange(1, len(parts))]
    lines[n] = f"{m[1]}{'.'.join(parts)}{m[3]}{m[4]};"
    return "\n".join(lines)


def mutate_operand(text, chance):
    lines = text.split("\n")
    found = [(n, m) for n, m in instructions(lines) if "," in m[4] and not re.search(r"[{(]", m[4])]
    if not found:
        return None
    n, m = chance.choice(found)
    parts = m[4].split(",")
    del parts[chance.randrange(len(parts))]
    lines[n] = f"{m[1]}{m[2]}{m[3]}{','.join(parts)};"
    return "\n".join(lines)


KINDS = {"type": mutate_type, "register": mutate_register, "version": mutate_version, "target": mutate_target,
         "undeclared": mutate_undeclared, "word": mutate_word, "operand": mutate_operand}


class Ptxas:
    def __init__(self, path):
        self.path = path
        listed = subprocess.run([path, "--help"], capture_output=True, text=True).stdout
        self.targets = set(re.findall(r"'compute_(\w+)'", listed))
        self.newest = newest_ptx(path)

    def refusal(self, file):
        """"" where it takes the file, None where it cannot say; otherwise what it says."""
        text = file.read_text(errors="replace")
        target = re.search(r"^\s*\.target\s+sm_(\w+)", text, re.M)
        if needed_ptx(text) > self.newest:
            return None
        name = target[1] if target else "75"
        if name not in self.targets:
            # An older target is taken for a newer machine; one that this ptxas does not know is nobody's mistake.
            if not name.isdigit() or int(name) > min(int(t) for t in self.targets if t.isdigit()):
                return None
            name = min((t for t in self.targets if t.isdigit()), key=int)
        r = subprocess.run([self.path, f"-arch=compute_{name}", str(file), "-o", "/dev/null"], capture_output=True)
        said = (r.stderr + r.stdout).decode(errors="replace")
        return "" if r.returncode == 0 else said or "refused"


def errors_of(tool, files):
    """file -> the errors that ptxopt check finds"""
    found = {}
    for at in range(0, len(files), 500):
        part = files[at:at + 500]
        r = subprocess.run([tool, "check", "--format", "json", *map(str, part)], capture_output=True, text=True)
        if r.returncode not in (0, 1, 3):
            raise SystemExit(f"agree: ptxopt check ended with {r.returncode}\n{r.stderr[:2000]}")
        for file in json.loads(r.stdout)["files"]:
            found[file["file"]] = [f for f in file["findings"] if f["severity"] == "error"]
    return found


def check_least(tool, ptxas, files, jobs, verbose):
    """(files tried, those with the least header that ptxas refuses)"""
    r = subprocess.run([tool, "check", "--format", "json", *map(str, files)], capture_output=True, text=True)
    needs = [(Path(f["file"]), f["needs"]) for f in json.loads(r.stdout)["files"] if f["needs"] and f["needs"]["target"]["least"]]

    def refused(job):
        file, need = job
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "least.ptx"
            target = need["target"]["least"]
            version = need["version"]["least"]
            r = subprocess.run([tool, "check", str(file), "--set-version", version, "--set-target", target, "-o", str(out)],
                               capture_output=True, text=True)
            if r.returncode:
                return None if "[ended]" in r.stderr else f"{file}: not written: {r.stderr[:300]}"
            said = ptxas.refusal(out)
            return said and f"{file}: {version} {target}: {said.splitlines()[0]}"

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        bad = [b for b in pool.map(refused, needs) if b]
    if verbose:
        print(*bad, sep="\n", end="\n" if bad else "")
    return len(needs), bad


def make_mutants(files, count, folder):
    made = []
    for file in files:
        text = file.read_text(errors="replace")
        if text.count("\n") > MOST_LINES:
            continue
        for kind, mutate in KINDS.items():
            for n in range(count):
                name = f"{file.relative_to(ROOT) if file.is_relative_to(ROOT) else file.name}:{kind}:{n}"
                digest = hashlib.sha256(name.encode()).hexdigest()
                mutant = mutate(text, random.Random(digest))
                if mutant is None or mutant == text:
                    continue
                path = Path(folder) / f"{kind}_{digest[:16]}.ptx"
                path.write_text(mutant)
                made.append((kind, path, name))
    return made


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("files", nargs="*", type=Path)
    ap.add_argument("--tool", required=True)
    ap.add_argument("--ptxas")
    ap.add_argument("--mutants", type=int, default=1)
    ap.add_argument("--sample", type=int, default=1)
    ap.add_argument("-j", type=int, default=2)
    ap.add_argument("-v", action="store_true", help="what ptxas says of what is not found")
    a = ap.parse_args()
    path = a.ptxas or find_ptxas()
    if not path:
        print("agree: no ptxas found, nothing was compared (set PTXAS)")
        return 77
    ptxas = Ptxas(path)
    given = a.files or [ROOT / f for f in FOLDERS]
    files = [f for g in given for f in (sorted(g.rglob("*.ptx")) if g.is_dir() else [g])][::a.sample]
    table, wrong, missed = collections.defaultdict(collections.Counter), [], collections.Counter()

    def judge(texts):
        found = errors_of(a.tool, [path for _, path, _ in texts])
        taken = []
        with concurrent.futures.ThreadPoolExecutor(a.j) as pool:
            for (kind, path, name), said in zip(texts, pool.map(lambda t: ptxas.refusal(t[1]), texts)):
                if said is None:
                    continue
                errors = found[str(path)]
                row = table[kind]
                row["texts"] += 1
                if said == "":
                    taken.append(path)
                    if errors:
                        wrong.append(f"{name}:{errors[0]['line']}: ptxas takes this: {errors[0]['message']} [{errors[0]['check']}]")
                        row["wrong"] += 1
                    continue
                row["refused"] += 1
                row["found"] += bool(errors)
                if not errors:
                    why = re.search(r"(?:error|fatal)\s*: (.*)", said)
                    missed[f"{kind}: " + re.sub(r"'[^']*'", "'..'", why[1] if why else said[:80])] += 1
                    if a.v:
                        print(f"not found: {name}: {said.splitlines()[0]}")
        return taken

    taken = judge([("file", f, str(f)) for f in files])
    with tempfile.TemporaryDirectory() as folder:
        judge(make_mutants(taken, a.mutants, folder))
    tried, refused = check_least(a.tool, ptxas, taken, a.j, a.v)
    if a.v:
        for why, n in missed.most_common(40):
            print(f"{n:6} {why}")
    print(*wrong[:40], sep="\n", end="\n" if wrong else "")
    print(f"{'':12}{'texts':>8}{'refused':>9}{'found':>8}{'':>8}{'wrongly an error':>18}")
    for kind in ["file", *KINDS]:
        row = table[kind]
        share = f"{100 * row['found'] / row['refused']:.1f} %" if row["refused"] else ""
        print(f"{kind:12}{row['texts']:8}{row['refused']:9}{row['found']:8}{share:>8}{row['wrong']:18}")
    print(f"{tried} files with the least header, {len(refused)} of which ptxas refuses")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Does src/core/ir/requirements.def say what ptxas says of the least .version and .target of each opcode?

  requirements.py [--ptxas P] [-j N] [--sample K]   each form of the files here, as ptxas P says: exit 1 where a row asks for
                                                    more than ptxas does; prints how many rows ask for less
  requirements.py --ptxas P --update                writes the rows anew (from the newest ptxas that there is)

ptxas names all features that a text may not have: each file is parsed (-arch compute_XX) for each target, as .version 1.0 for the
versions, and as the newest and its own for what no version makes right. A row holds for each opcode that has its words, so that a row says
what all forms with these words need: the rows never ask for more than a form here does. Exit 77 without ptxas. --sample K takes every K-th file.
"""
import argparse
import collections
import concurrent.futures
import itertools
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parents[1] / "lib"))
import coverage  # noqa: E402
from toolkit import find_ptxas, needed_ptx, newest_ptx  # noqa: E402

DEF = HERE.parents[2] / "src" / "core" / "ir" / "requirements.def"
SPECIAL = HERE.parents[2] / "src" / "core" / "ir" / "special_registers.def"
LINE = re.compile(r", line (\d+); (?:error|fatal)\s*: (.*)")
SINCE = re.compile(r"requires PTX ISA \.version (\d+)\.(\d+) or later")
VECTORS = set("tid ntid ctaid nctaid clusterid nclusterid cluster_ctaid cluster_nctaid".split())
OLDEST = 20  # what came before is in every version that has .target sm_20


def number(target):
    return int(re.match(r"\d+", target)[0])


def read_table(path):
    text = path.read_text()
    targets = re.findall(r'^PTX_TARGET\("(\w+)", (\d+)\)', text, re.M)
    rows = re.findall(r'^PTX_REQUIRES\("([^"]*)", (\d+), "([^"]*)"\)', text, re.M)
    special = re.findall(r'^PTX_REQUIRES_SPECIAL\("([^"]*)", (\d+), "([^"]*)"\)', text, re.M)
    return [t for t, _ in targets], rows, special


def meant(text, targets):
    if not text:
        return frozenset(targets)
    if text.endswith("+"):
        return frozenset(t for t in targets if number(t) >= int(text[:-1]))
    return frozenset(text.split())


def written(accepted, targets):
    if accepted == frozenset(targets):
        return ""
    for n in sorted({number(t) for t in targets}):
        if accepted == frozenset(t for t in targets if number(t) >= n):
            return f"{n}+"
    return " ".join(t for t in targets if t in accepted)


class Every:
    """a set of all lines"""
    def __contains__(self, _):
        return True


def parse(ptxas, text, target, folder, version="1.0"):
    """-> (line -> version that its features need, lines with another error)"""
    text = re.sub(r"(?m)^\.version.*", f".version {version}", text, count=1)
    text = re.sub(r"(?m)^\.target sm_\w+", f".target sm_{target}", text, count=1)
    with tempfile.NamedTemporaryFile("w", suffix=".ptx", dir=folder) as f:
        f.write(text)
        f.flush()
        arch = target if number(target) >= 75 else "75"
        r = subprocess.run([ptxas, f"-arch=compute_{arch}", f.name, "-o", "/dev/null"], capture_output=True, text=True)
    need, other = {}, set()
    if re.search(r"; fatal|fatal *: (?!Ptx assembly)", r.stderr + r.stdout):
        return need, Every()  # it says nothing of what follows
    for m in LINE.finditer(r.stderr + r.stdout):
        line, since = int(m[1]), SINCE.search(m[2])
        if since:
            need[line] = max(need.get(line, 0), int(since[1]) * 10 + int(since[2]))
        elif "uses too much parameter" not in m[2]:
            other.add(line)
    return need, other


def known_targets(ptxas, targets):
    """those that this ptxas parses for"""
    listed = subprocess.run([ptxas, "--help"], capture_output=True, text=True).stdout
    return [t for t in targets if number(t) < 75 or f"'compute_{t}'" in listed]


def forms_of(ptxas, files, targets, jobs, is_update):
    """-> opcode -> target -> least version; a target that takes none of its lines is not in it"""
    forms = {}
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        texts = {f: f.read_text() for f in files}
        newest = "{}.{}".format(*newest_ptx(ptxas))
        own = {f: "{}.{}".format(*min(needed_ptx(texts[f]), newest_ptx(ptxas))) for f in files}
        work = [(f, t, v) for f in files for t in targets for v in dict.fromkeys(("1.0", newest, own[f]))]
        lines = {f: list(coverage.opcodes(f)) for f in files}
        for (f, t, v), (need, other) in zip(work, pool.map(lambda w: parse(ptxas, texts[w[0]], w[1], folder, w[2]), work)):
            for line, opcode in lines[f]:
                of = forms.setdefault(opcode, {})
                if line in other:
                    continue
                if v == "1.0":
                    of[t] = min(of.get(t, 10**6), need.get(line, 0))
                elif t not in of:
                    # Right only as this one, which says nothing of those between: rows are made of the least that it may
                    # be, and compared with the most.
                    of[t] = 0 if is_update else int(v.replace(".", ""))
                elif line not in need:
                    of[t] = min(of[t], int(v.replace(".", "")))
    return {o: (min(d.values()), frozenset(d)) for o, d in forms.items() if d}


def special_of(ptxas, targets):
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, bits in re.findall(r"^PTX_SPECIAL_REGISTER\((\w+), (\d+)", SPECIAL.read_text(), re.M):
            kind = {"1": ".pred", "32": ".u32", "64": ".u64"}[bits]
            component = ".x" if name in VECTORS else ""
            text = (".version 1.0\n.target sm_20\n.entry k()\n.minperctamemory 64\n{\n"
                    f".reg {kind} %a;\nmov{kind} %a, %{name}{component};\nret;\n}}\n")
            line = 7
            if not name.startswith("perctamemory"):
                text, line = text.replace(".minperctamemory 64\n", ""), 6
            versions = {}
            for t in targets:
                need, other = parse(ptxas, text, t, folder)
                if line not in other:
                    versions[t] = need.get(line, 0)
            if versions:
                found[name] = (min(versions.values()), frozenset(versions))
    return found


class Base:
    """The rows of one base opcode: what words ask for."""

    def __init__(self, forms, targets):
        self.forms, self.all, self.rows = forms, frozenset(targets), []

    def asked(self, words):
        version, accepted = 0, self.all
        for row, v, a in self.rows:
            if row <= words:
                version, accepted = max(version, v), accepted & a
        return version, accepted

    def learn(self):
        for size in range(4):
            candidates = collections.Counter()
            for words, needs in self.forms.items():
                if self.asked(words) != needs:
                    candidates.update(frozenset(c) for c in itertools.combinations(sorted(words), size))
            for row, _ in sorted(candidates.items(), key=lambda c: (-c[1], sorted(c[0]))):
                having = [w for w in self.forms if row <= w]
                version = min(self.forms[w][0] for w in having)
                accepted = frozenset().union(*(self.forms[w][1] for w in having))
                if any(self.asked(w)[0] < version or self.asked(w)[1] - accepted for w in having):
                    self.rows.append((row, version, accepted))
        for row in list(reversed(self.rows)):  # what later rows say too
            before, kept = {w: self.asked(w) for w in self.forms}, self.rows
            self.rows = [r for r in self.rows if r is not row]
            if any(self.asked(w) != before[w] for w in self.forms):
                self.rows = kept
        return self.rows


def update(path, forms, special, targets):
    by_base = collections.defaultdict(dict)
    for opcode, (version, accepted) in forms.items():
        base, *words = opcode.split(".")
        version = 0 if version <= OLDEST else version
        words = frozenset(words)  # .bf16x2.e4m3x2 and .e4m3x2.bf16x2 are one: the rows say what both need
        other = by_base[base].get(words, (version, accepted))
        by_base[base][words] = (min(version, other[0]), accepted | other[1])
    rows = []
    for base in sorted(by_base):
        for words, version, accepted in Base(by_base[base], targets).learn():
            if version or accepted != frozenset(targets):
                key = ".".join([base, *sorted(words)])
                rows.append(f'PTX_REQUIRES("{key}", {version}, "{written(accepted, targets)}")\n')
    specials = [f'PTX_REQUIRES_SPECIAL("{name}", {v if v > OLDEST else 0}, "{written(a, targets)}")\n'
                for name, (v, a) in special.items() if v > OLDEST or a != frozenset(targets)]
    text = path.read_text()
    for name, lines in (("opcodes", rows), ("special registers", specials)):
        text = re.sub(rf"(?s)(// <{name}>\n).*?(// </{name}>\n)", lambda m: m[1] + "".join(lines) + m[2], text)
    path.write_text(text)
    print(f"requirements: {len(rows)} rows for {len(forms)} forms, {len(specials)} for special registers")


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("files", nargs="*", type=Path)
    ap.add_argument("--ptxas")
    ap.add_argument("--update", action="store_true")
    ap.add_argument("--sample", type=int, default=1)
    ap.add_argument("-j", type=int, default=2)
    a = ap.parse_args()
    ptxas = a.ptxas or find_ptxas()
    if not ptxas:
        print("requirements: no ptxas found, nothing was compared (set PTXAS)")
        return 77
    targets, rows, specials = read_table(DEF)
    mine = known_targets(ptxas, targets)
    files = (a.files or sorted(HERE.glob("*.ptx")))[::a.sample]
    forms = forms_of(ptxas, files, mine, a.j, a.update)
    special = special_of(ptxas, mine)
    if a.update:
        update(DEF, forms, special, targets)
        return 0
    by_base = collections.defaultdict(list)
    for key, version, accepted in rows:
        base, *words = key.split(".")
        by_base[base].append((frozenset(words), int(version), meant(accepted, targets)))
    asked = {name: (int(v), meant(t, targets)) for name, v, t in specials}
    wrong, less = [], 0

    def compare(name, version, accepted, needs):
        nonlocal less
        refused = needs[1] - accepted
        if version > needs[0] or refused:
            wrong.append(f"{name}: the rows ask for {version} and refuse {' '.join(sorted(refused)) or 'no target'}, "
                         f"ptxas asks for {needs[0]}")
        less += version < needs[0] and needs[0] > OLDEST or bool(accepted & frozenset(mine) - needs[1])

    for opcode, needs in forms.items():
        base, *words = opcode.split(".")
        version, accepted = 0, frozenset(targets)
        for row, v, t in by_base[base]:
            if row <= frozenset(words):
                version, accepted = max(version, v), accepted & t
        compare(opcode, version, accepted, needs)
    for name, needs in special.items():
        compare("%" + name, *asked.get(name, (0, frozenset(targets))), needs)
    print(*wrong[:50], sep="\n", end="\n" if wrong else "")
    print(f"requirements: {len(files)} files, {len(forms)} forms and {len(special)} special registers on {len(mine)} targets: "
          f"{len(wrong)} ask for too much, {less} for less than ptxas")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

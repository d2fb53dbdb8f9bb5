#!/usr/bin/env python3
"""What the interpreter and the printer hold of PTX's constants, against ptxas.

  tests/semantics/constants/run.py --tool PTXOPT [--seed N] [--count N] [families]

Each case is a line of PTX that stores a value which ptxas can compute. Its machine code then stores a constant, and that
is the truth: `ptxopt run` must store the same, and so must the machine code of what `--reprint` and -O2 write. What ptxas
refuses, or leaves to the machine, is not compared. Without ptxas: exit code 77.

Families: expressions, literals, operands, stores, arithmetic, initializers.
"""
import argparse
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import arithmetic
import cases
import folding

SLOT = 16
LINES = 160  # cases in a file
HEAD = """.version 8.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .b64 %out;
ld.param.u64 %out, [out];
"""
FIRST_LINE = HEAD.count("\n") + 1


def kernel(lines):
    return HEAD + "".join(line + "\n" for line in lines) + "ret;\n}\n"


def place(case, slot):
    return "{ " + case.text.replace("[out]", f"[%out+{SLOT * slot}]") + " }"


def lines_of(message, least, most):
    """The lines that a message names; ptxas names all that it does not take, but stops at one that it cannot read."""
    found = {int(a or b) for a, b in re.findall(r"line (\d+)|k\.ptx:(\d+)", message)}
    return sorted(line for line in found if least <= line <= most)


class Tester:
    def __init__(self, tool, folder):
        self.tool, self.folder = tool, Path(folder)
        self.counts, self.bad, self.refusals = Counter(), [], Counter()

    def ptxas(self, lines):
        """memory, and the numbers of lines that ptxas refused and that were left out"""
        return self.without_refused(lines, self.fold)

    def fold(self, text):
        sections, message = folding.compile_kernel(text, folder=self.folder)
        return (None, message) if sections is None else (folding.stored(sections[".text.k"]), "")

    def interpret(self, text):
        (self.folder / "k.ptx").write_text(text)
        size = SLOT * LINES
        run = subprocess.run([self.tool, "run", "k.ptx", "--grid", "1", "--block", "1", "--arg", f"out=buf:u8:{size}:zero",
                              "--dump", "out=out.bin"], cwd=self.folder, capture_output=True, text=True, timeout=120, check=False)
        if run.returncode != 0:
            return None, run.stderr
        return dict(enumerate((self.folder / "out.bin").read_bytes())), ""

    def without_refused(self, lines, work):
        """Leaves out the lines that `work` refuses."""
        lines, refused = list(lines), {}
        while True:
            result, message = work(kernel(lines))
            if result is not None:
                return result, refused
            named = lines_of(message, FIRST_LINE, FIRST_LINE + len(lines) - 1)
            if not named:
                return self.halves(lines, refused, work, message)
            for line in named:
                refused[line - FIRST_LINE] = message
                lines[line - FIRST_LINE] = ""

    def halves(self, lines, refused, work, message):
        """The message named no line (a crash): each half alone, with empty lines for the other."""
        full = [k for k, line in enumerate(lines) if line]
        if len(full) <= 1:
            return {}, refused | {k: message for k in full}
        memory = {}
        for half in (full[:len(full) // 2], full[len(full) // 2:]):
            found, more = self.without_refused([line if k in half else "" for k, line in enumerate(lines)], work)
            memory |= {at: value for at, value in found.items() if at // SLOT in half}
            refused |= {k: why for k, why in more.items() if k in half}
        return memory, refused

    def rewritten(self, text, *options):
        (self.folder / "in.ptx").write_text(text)
        run = subprocess.run([self.tool, "in.ptx", "-o", "out.ptx", "--guard=off", *options], cwd=self.folder,
                             capture_output=True, text=True, timeout=120, check=False)
        return (self.folder / "out.ptx").read_text() if run.returncode == 0 else None, run.stderr

    def check(self, chosen):
        for begin in range(0, len(chosen), LINES):
            self.check_file(chosen[begin:begin + LINES])

    def check_file(self, batch):
        lines = [place(case, slot) for slot, case in enumerate(batch)]
        truth, refused = self.ptxas(lines)
        for slot, message in refused.items():
            self.counts[batch[slot].family, "refused by ptxas"] += 1
            lines[slot] = ""
        run, unsupported = self.without_refused(lines, self.interpret)
        for slot, message in unsupported.items():
            self.counts[batch[slot].family, "unsupported"] += 1
            self.refusals[batch[slot].family, re.sub(r".*?error: |\n.*", "", message, flags=re.S)] += 1
            if "unsupported" not in message:
                self.bad.append(f"{batch[slot].text}\n    ptxas takes it; ptxopt: {message.strip()}")
                lines[slot] = ""  # it does not read it either
        wanted = {slot: folding.bytes_at(truth, SLOT * slot, batch[slot].size) for slot in range(len(batch)) if lines[slot]}
        for slot, value in wanted.items():
            case = batch[slot]
            if slot in unsupported:
                continue
            if value is None:
                self.counts[case.family, "left to the machine"] += 1
                continue
            self.compare(case, "the interpreter", value, folding.bytes_at(run, SLOT * slot, case.size))
        for what, options in (("--reprint", ("-O0", "--reprint")), ("-O2", ("-O2",))):
            text, message = self.rewritten(kernel(lines), *options)
            memory = None
            if text is not None:
                memory, message = self.fold(text)
            if memory is None:
                self.bad.append(f"{what}: {message.strip()[:300]}\n{kernel(lines)[:200]}")
                continue
            for slot, value in wanted.items():
                if value is not None:
                    self.compare(batch[slot], what, value, folding.bytes_at(memory, SLOT * slot, batch[slot].size))

    def compare(self, case, who, wanted, got):
        self.counts[case.family, f"compared with {who}"] += 1
        if case.is_float and case.is_nan(wanted) and got is not None and case.is_nan(got):
            return  # which NaN is not promised
        if got != wanted:
            show = lambda value: "nothing known" if value is None else "0x" + value[::-1].hex()
            self.bad.append(f"{case.text}\n    ptxas {show(wanted)}, {who} {show(got)}")

    def check_initializers(self, chosen):
        """The bytes of module variables: ptxas's section, and a dump by the interpreter."""
        for case in chosen:
            head = HEAD.split(".visible")[0]
            text = f"{head}.visible {case.text}\n.visible .entry k() {{ ret; }}\n"
            truth = self.section(text)
            if truth is None:
                self.counts["initializers", "refused by ptxas"] += 1
                continue
            (self.folder / "k.ptx").write_text(text)
            run = subprocess.run([self.tool, "run", "k.ptx", "--grid", "1", "--block", "1", "--dump", "x=x.bin"],
                                 cwd=self.folder, capture_output=True, text=True, timeout=60, check=False)
            if run.returncode != 0:
                self.counts["initializers", "unsupported"] += 1
                self.refusals["initializers", run.stderr.split("error: ")[-1].split("\n")[0]] += 1
                if "unsupported" not in run.stderr and "initializer" not in run.stderr:
                    self.bad.append(f"{case.text}\n    ptxas takes it; ptxopt: {run.stderr.strip()}")
                continue
            got = (self.folder / "x.bin").read_bytes()
            self.compare(case, "the interpreter", truth.ljust(len(got), b"\0"), got)
            printed, message = self.rewritten(text, "-O0", "--reprint")
            self.compare(case, "--reprint", truth, self.section(printed) if printed else None)

    def section(self, text):
        sections, _ = folding.compile_kernel(text, folder=self.folder)
        if sections is None:
            return None
        for name in (".nv.global.init", ".nv.constant3"):
            if name in sections:
                return sections[name]
        return b""

    def report(self, least):
        for family in sorted({family for family, _ in self.counts}):
            print(f"{family}: " + ", ".join(f"{count} {what}" for (f, what), count in sorted(self.counts.items()) if f == family))
        for (family, why), count in self.refusals.most_common(20):
            print(f"    not run by the interpreter: {family}: {why} ({count})")
        for line in self.bad[:12]:
            print(line)
        short = [f"{family}: {self.counts[family, 'compared with the interpreter']} comparisons, of at least {number}"
                 for family, number in least.items() if self.counts[family, "compared with the interpreter"] < number]
        print("\n".join(short))
        return 1 if self.bad or short else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1, help="times as many random cases")
    parser.add_argument("families", nargs="*")
    args = parser.parse_args()
    if not folding.machine_code.find_ptxas():
        print("skipped: no ptxas")
        return 77
    least = {}
    with tempfile.TemporaryDirectory() as folder:
        tester = Tester(str(Path(args.tool).resolve()), folder)
        for name, (make, number) in (cases.FAMILIES | arithmetic.FAMILIES).items():
            if args.families and name not in args.families:
                continue
            chosen = make(random.Random(f"{args.seed} {name}"), args.count)
            for family in {case.family for case in chosen}:
                least[family] = number
            (tester.check_initializers if name == "initializers" else tester.check)(chosen)
        return tester.report(least)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Whether ptxas takes what read-only-loads and widen-accesses make of each form of load and store that they change.

  tests/codegen/facts/forms.py --tool PATH [--ptxas PTXAS]

77 without a ptxas that knows sm_120.
"""
import argparse
import itertools
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/lib"))
from toolkit import find_ptxas  # noqa: E402

ARCH = "sm_120"
REGISTERS = {8: "%h", 16: "%h", 32: "%r", 64: "%rd"}
TYPES = [f"{kind}{bits}" for bits in (8, 16, 32, 64) for kind in "bus"] + ["f32", "f64"]
HEAD = f""".version 8.7
.target {ARCH}
.address_size 64
"""
KERNEL = """.visible .entry {name}(.param .u64 x, .param .u64 y)
{{
  //ptxopt:facts {{"parameters": [{{"name": "x", "noalias": true, "align": 16}}, {{"name": "y", "align": 16}}]}}
  .reg .b16 %h<8>;
  .reg .b32 %r<8>;
  .reg .f32 %f<8>;
  .reg .b64 %rd<8>;
  .reg .f64 %fd<8>;
  .reg .b64 %x, %y;
  .shared .align 16 .b8 tile[64];
  ld.param.u64 %x, [x];
  ld.param.u64 %y, [y];
{body}  ret;
}}
"""


def register(kind):
    return {"f32": "%f", "f64": "%fd"}.get(kind) or REGISTERS[int(kind[1:])]


def kernels():
    """(name, text, how often .nc must be there, how often a vector)"""
    orders, caches = ("", ".weak"), ("", ".ca", ".cg", ".cs")
    for number, (kind, order, cache, lanes) in enumerate(itertools.product(TYPES, orders, caches, (1, 2, 4))):
        bits = int(kind[1:])
        if lanes * bits > 128 or (order and cache):
            continue
        r = register(kind)
        if lanes == 1:
            fits = [n for n in (2, 4) if n * bits <= 128]
            body = "".join(f"  ld{order}.global{cache}.{kind} {r}{k}, [%x+{k * bits // 8}];\n" for k in range(fits[-1]))
            body += "".join(f"  st{order}.shared.{kind} [tile+{k * bits // 8}], {r}{k};\n" for k in range(fits[-1]))
            body += "".join(f"  ld{order}.shared.{kind} {r}{k}, [tile+{(k + fits[-1]) * bits // 8}];\n" for k in range(fits[-1]))
            body += "".join(f"  st{order}.global.{kind} [%y+{k * bits // 8}], {r}{k};\n" for k in range(fits[-1]))
            yield f"k{number}", KERNEL.format(name=f"k{number}", body=body), 1, 4
        else:
            group = "{" + ", ".join(f"{r}{k}" for k in range(lanes)) + "}"
            body = f"  ld{order}.global{cache}.v{lanes}.{kind} {group}, [%x];\n  st.global.v{lanes}.{kind} [%y], {group};\n"
            yield f"k{number}", KERNEL.format(name=f"k{number}", body=body), 1, 2


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--ptxas")
    args = parser.parse_args()
    ptxas = args.ptxas or find_ptxas()
    if not ptxas or ARCH not in subprocess.run([ptxas, "--help"], capture_output=True, text=True).stdout:
        print(f"skipped: needs a ptxas that knows {ARCH}")
        return 77
    wrong, made = [], list(kernels())
    with tempfile.TemporaryDirectory() as folder:
        source, output = Path(folder) / "in.ptx", Path(folder) / "out.ptx"
        source.write_text(HEAD + "".join(text for _, text, _, _ in made))
        for path, command in ((source, None), (output, [args.tool, source, "-o", output, "--guard=off", "--verify-each",
                                                        "--passes=read-only-loads,widen-accesses"])):
            if command:
                subprocess.run(command, check=True)
            done = subprocess.run([ptxas, f"-arch={ARCH}", path, "-o", Path(folder) / "out.cubin"], capture_output=True, text=True)
            if done.returncode:
                wrong.append(f"ptxas on {path.name}: {done.stderr}")
        bodies = output.read_text().split(".visible .entry ")[1:]
    for (name, text, loads, vectors), body in zip(made, bodies):
        found = body.count(".nc."), sum(body.count(f".v{n}.") for n in (2, 4))
        if found != (loads, vectors):
            wrong.append(f"{name}: {found[0]} .nc and {found[1]} vectors, and not {loads} and {vectors}:\n{body}")
    for text in wrong:
        print(f"FAILED {text}")
    print(f"{len(made)} kernels of forms, {len(wrong)} wrong")
    return 1 if wrong or len(made) != len(bodies) else 0


if __name__ == "__main__":
    sys.exit(main())

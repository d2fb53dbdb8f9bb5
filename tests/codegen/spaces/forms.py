#!/usr/bin/env python3
"""What ptxas takes of generic accesses in a state space, against what infer-address-space writes.

  tests/codegen/spaces/forms.py --tool PATH [-j N]

For each form of an access (types, vectors, orders, scopes, cache operators, hints) and each space, a kernel with an address
of which the space is known. What the pass writes must be taken by ptxas, and must be in the space wherever ptxas takes the
form there: the pass neither makes what does not assemble nor leaves what would. $PTXAS names another ptxas than that of
the PATH; without one the test is skipped.
"""
import argparse
import concurrent.futures
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lib"))
import machine_code  # noqa: E402

os.environ.setdefault("PTXOPT_GUARD", "off")
TARGETS = [("sm_80", "8.5"), ("sm_100", "8.8")]
SPACES = {"global": "g", "shared": "s", "local": "l", "const": "c"}
REGISTER = {"b8": "%h1", "u8": "%h1", "s8": "%h1", "b16": "%h1", "u16": "%h1", "s16": "%h1", "b32": "%r1", "u32": "%r1",
            "s32": "%r1", "f32": "%f1", "b64": "%rd9", "u64": "%rd9", "s64": "%rd9", "f64": "%d1", "b128": "%q1"}


def forms():
    """(opcode with {} where the space comes, operands)"""
    for order in ("", ".weak", ".volatile", ".relaxed.cta", ".relaxed.gpu", ".relaxed.cluster", ".relaxed.sys", ".mmio.relaxed.sys"):
        yield f"ld{order}{{}}.u32", "%r1, [A]"
        yield f"st{order}{{}}.u32", "[A], %r1"
    for scope in ("cta", "gpu", "sys"):
        yield f"ld.acquire.{scope}{{}}.u32", "%r1, [A+4]"
        yield f"st.release.{scope}{{}}.u32", "[A+4], %r1"
    for hint in ("ca", "cg", "cs", "lu", "cv", "L1::evict_last", "L1::no_allocate", "L1::evict_first", "L2::64B", "L2::128B",
                 "L2::256B", "L1::evict_last.L2::128B"):
        yield f"ld{{}}.{hint}.u32", "%r1, [A]"
    for hint in ("wb", "cg", "cs", "wt", "L1::evict_last", "L1::no_allocate", "L1::evict_first"):
        yield f"st{{}}.{hint}.u32", "[A], %r1"
    yield "ld{}.L2::cache_hint.u32", "%r1, [A], %rd8"
    yield "st{}.L2::cache_hint.u32", "[A], %r1, %rd8"
    yield "ld{}.u32", "%r1, [A].unified"
    for type_, register in REGISTER.items():
        yield f"ld{{}}.{type_}", f"{register}, [A]"
        yield f"st{{}}.{type_}", f"[A], {register}"
    for vector, group in (("v2.u32", "{%r1, %r2}"), ("v4.f32", "{%f1, %f2, %f3, %f4}"), ("v2.u64", "{%rd8, %rd9}"),
                          ("v8.b32", "{%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}"), ("v4.b64", "{%rd6, %rd7, %rd8, %rd9}")):
        yield f"ld{{}}.{vector}", f"{group}, [A]"
        yield f"st{{}}.{vector}", f"[A], {group}"
    for order in ("", ".relaxed", ".acquire", ".release", ".acq_rel", ".relaxed.gpu", ".acq_rel.sys", ".cta", ".relaxed.cluster"):
        yield f"atom{order}{{}}.add.u32", "%r1, [A], %r2"
        if "acq" not in order:
            yield f"red{order}{{}}.add.u32", "[A], %r2"
    for operation, operands in (("add.f32", "%f1, [A], %f2"), ("add.f64", "%d1, [A], %d1"), ("add.u64", "%rd9, [A], %rd8"),
                                ("cas.b16", "%h1, [A], %h1, %h1"), ("cas.b32", "%r1, [A], %r2, %r3"),
                                ("cas.b64", "%rd9, [A], %rd8, %rd7"), ("exch.b128", "%q1, [A], %q1"),
                                ("min.s32", "%r1, [A], %r2"), ("max.s64", "%rd9, [A], %rd8"), ("inc.u32", "%r1, [A], %r2"),
                                ("add.noftz.f16x2", "%r1, [A], %r2"), ("add.L2::cache_hint.u32", "%r1, [A], %r2, %rd8"),
                                ("add.v2.f32", "{%f1, %f2}, [A], {%f3, %f4}")):
        yield f"atom{{}}.{operation}", operands
    for operation, operands in (("add.f32", "[A], %f2"), ("and.b64", "[A], %rd8"), ("add.noftz.f16x2", "[A], %r2"),
                                ("add.L2::cache_hint.u32", "[A], %r2, %rd8"), ("add.v2.f32", "[A], {%f3, %f4}")):
        yield f"red{{}}.{operation}", operands
    for what in ("L1", "L2", "L2::evict_last", "L2::evict_normal"):
        yield f"prefetch{{}}.{what}", "[A]"
    yield "ldu{}.f32", "%f1, [A]"
    yield "ldu{}.v4.f32", "{%f1, %f2, %f3, %f4}, [A]"
    yield "applypriority{}.L2::evict_normal", "[A], 128"
    yield "discard{}.L2", "[A], 128"
    yield "ldmatrix.sync.aligned.m8n8.x1{}.b16", "{%r1}, [A]"
    yield "stmatrix.sync.aligned.m8n8.x1{}.b16", "[A], {%r1}"
    yield "wmma.load.a.sync.aligned.row.m16n16k16{}.f16", "{%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [A], %r9"
    yield "wmma.store.d.sync.aligned.row.m16n16k16{}.f32", "[A], {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, %r9"


def kernel(arch, version, space, opcode, operands):
    """Three accesses, so that a second address costs nothing."""
    access = f"\t{opcode} {operands.replace('A', '%rd3')};\n"
    return (f".version {version}\n.target {arch}\n.address_size 64\n.global .align 128 .b8 g[256];\n.shared .align 128 .b8 s[256];\n"
            f".const .align 128 .b8 c[256];\n.visible .entry k()\n{{\n\t.local .align 128 .b8 l[256];\n\t.reg .b64 %rd<10>;\n"
            f"\t.reg .b32 %r<10>;\n\t.reg .f32 %f<10>;\n\t.reg .f64 %d<2>;\n\t.reg .b16 %h<2>;\n\t.reg .b128 %q<2>;\n"
            f"\tmov.u64 %rd1, {SPACES[space]};\n\tcvta.{space}.u64 %rd3, %rd1;\n{access * 3}\tret;\n}}\n")


def takes(ptxas, arch, path):
    return subprocess.run([ptxas, f"-arch={arch}", str(path), "-o", os.devnull], capture_output=True).returncode == 0


def check(tool, ptxas, folder, number, arch, version, form, operands):
    """(how many spaces were written, failures in words); None where ptxas does not take the generic form"""
    written, failures = 0, []
    for space in SPACES:
        before, after = Path(folder, f"{number}{space}a.ptx"), Path(folder, f"{number}{space}b.ptx")
        named = Path(folder, f"{number}{space}c.ptx")
        before.write_text(kernel(arch, version, space, form.format(""), operands))
        if not takes(ptxas, arch, before):
            return None
        named.write_text(kernel(arch, version, space, form.format("." + space), operands))
        done = subprocess.run([tool, str(before), "-o", str(after), "--passes=infer-address-space", "--verify-each"],
                              capture_output=True, text=True)
        if done.returncode != 0:
            failures.append(f"{form} {space} {arch}: {done.stderr}")
            continue
        is_written = form.format("." + space) in after.read_text()
        written += is_written
        if is_written and not takes(ptxas, arch, after):
            failures.append(f"{form} {space} {arch}: written, and ptxas refuses it")
        if not is_written and takes(ptxas, arch, named):
            failures.append(f"{form} {space} {arch}: ptxas takes it, and it was left")
    return written, failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, help="the ptxopt to test")
    parser.add_argument("-j", type=int, default=os.cpu_count(), help="processes at a time")
    args = parser.parse_args()
    ptxas = machine_code.find_ptxas()
    if ptxas is None:
        print("skipped: no ptxas")
        sys.exit(77)
    tool = os.path.abspath(args.tool)
    work = [(*target, *form) for target in TARGETS for form in forms()]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(args.j) as pool:
        results = list(pool.map(lambda n: check(tool, ptxas, folder, n, *work[n]), range(len(work))))
    done = [r for r in results if r is not None]
    failures = [f for r in done for f in r[1]]
    print("\n".join(failures))
    print(f"{len(done)} forms of {len(work)} that ptxas takes generically, {sum(r[0] for r in done)} written in a space, "
          f"{len(failures)} failures")
    sys.exit(1 if failures or not done else 0)


if __name__ == "__main__":
    main()

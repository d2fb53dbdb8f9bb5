#!/usr/bin/env python3
"""The hooks of the Python package, on fakes of their clients' interfaces (clients.py tries the real ones).

  tests/python/hooks.py --tool PTXOPT

Each case runs in a Python process of its own. fakes/ has the clients, as small as their interfaces are: Triton by its stage
hook and without it, numba-cuda, Warp, CuPy, CuTe DSL, TileLang. libptxopt.so lies beside the tool.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import package
from package import ROOT

from checking import Counted  # noqa: E402

FAKES = Path(__file__).resolve().parent / "fakes"
HEAD = f"""
import os, sys
sys.path.insert(0, {str(FAKES)!r})
import fake_settings
fake_settings.ptx = open({str(ROOT / 'samples/softmax.ptx')!r}).read()
def same(found, wanted, what):
    assert found == wanted, (what, found, wanted)
"""

TRITON = """
import ptxopt.triton
before = {}
def note():
    import triton.backends, triton.knobs
    backend = triton.backends.backends["nvidia"].compiler
    return (backend.__dict__["add_stages"], backend.__dict__["hash"], backend.add_stages.__globals__["subprocess"],
            getattr(triton.knobs.runtime, "add_stages_inspection_hook", None))
if EARLY:
    ptxopt.triton.install(guard="off", table=False)
import triton
from triton.compiler import compile
plain = None
if not EARLY:
    plain, plain_key = compile()
    saved = note()
    ptxopt.triton.install(guard="off", table=False)
made, key = compile()
assert made != fake_settings.ptx and ".entry softmax" in made, "not optimized"
stats = ptxopt.triton.stats()
same([(k.kernel, k.arch, k.changed) for k in stats], [("softmax", "sm_80", True)], "stats")
assert "softmax" in str(stats) and "<table>" in stats._repr_html_()
ptxopt.triton.install(guard="off", level=1, table=False)
assert compile()[1] != key, "the key does not tell options apart"
if not EARLY:
    same(plain, fake_settings.ptx, "without us")
    assert plain_key != key
    ptxopt.triton.uninstall()
    same(compile(), (plain, plain_key), "uninstalled")
    same(note(), saved, "Triton is as it was")
"""

# What the guard is asked with, and who makes the cubin.
OF_PTXAS = """
import shutil, subprocess, tempfile, threading
import ptxopt.triton, triton
from triton.compiler import asm, compile, metadata
backend = triton.backends.backends["nvidia"].compiler()
names = backend.add_stages.__globals__
real = os.environ.pop("PTXAS", None) or shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
os.environ.pop("PTXOPT_PTXAS", None)
os.environ.pop("PTXOPT_GUARD", None)  # it is what is tested
work = tempfile.TemporaryDirectory()
tempfile.tempdir, log = work.name, work.name + "/calls"
os.environ.update(FAKE_PTXAS_LOG=log, PTXOPT_CACHE_DIR="")
def calls():
    found = open(log).read().splitlines() if os.path.exists(log) else []
    open(log, "w").close()
    return sorted(" ".join(w for w in call.split() if work.name not in w and "/" not in w) for call in found)
def triton_call(more=""):
    return f"-lineinfo -v {more}--gpu-name=sm_80 -o"
def guard_call(more=""):
    return f"-lineinfo -v {more}-v -arch=sm_80 -o"
def no_files():
    same([f for f in os.listdir(work.name) if f != "calls"], [], "files that are left")

compile()
plain = dict(asm)
same(calls(), [triton_call()], "without us")
ptxopt.triton.install(table=False)
fake_settings.ptx_options = "--fmad=false -maxrregcount=32"
compile()
more = fake_settings.ptx_options + " "
same(calls(), sorted([triton_call(more)] + 2 * [guard_call(more)]), "a guard that is refused")
same(asm, plain, "nothing to compare")
assert ptxopt.triton.stats()[0].kept == "not-judged", ptxopt.triton.stats()
fake_settings.ptx_options = "k.ptx"
compile()
same((calls(), asm["ptx"]), ([triton_call("k.ptx ")], plain["ptx"]), "options that make no sense")
fake_settings.ptx_options = ""
no_files()
if os.path.exists(real):
    os.environ["FAKE_PTXAS_REAL"] = real
    compile()
    same(calls(), 2 * [guard_call()], "the guard's cubin is taken")
    assert asm["ptx"] != fake_settings.ptx and "Compiling entry function 'softmax'" in metadata["log"], metadata
    taken, text = asm["cubin"], asm["ptx"]
    stages = {}
    backend.add_stages(stages, None)
    same(stages["ptx"]("source", {}), text, "the same again")
    calls()
    assert stages["cubin"](text + "//", {}) and calls() == [triton_call()], "another text"
    fake_settings.ptx_options = "-w"
    assert stages["cubin"](text, {}) and calls() == [triton_call("-w ")], "other options"
    fake_settings.ptx_options = ""
    others = []
    thread = threading.Thread(target=lambda: others.append(backend.make_cubin(text, {})))
    def beside(command, log):
        thread.start()
        thread.join()
        return False
    names["subprocess"]._answer(beside, backend.make_cubin, text, {})
    same((calls(), others), (2 * [triton_call()], [taken]), "another thread is not answered; by hand it is the same cubin")
    same(stages["cubin"](text, {}), taken, "the guard's")
    same(calls(), [], "the guard's")
    ptxopt.triton.install(table=False, ptxas_options=["-O2"])
    compile()
    same(calls(), sorted([triton_call(), "-O2 -v -arch=sm_80 -o", "-O2 -v -arch=sm_80 -o"]), "options of the user")
    no_files()
ptxopt.triton.uninstall()
assert names["subprocess"] is subprocess
"""

CASES = {
    "triton 3.9, imported before": ("3.9.0", "EARLY = False\n" + TRITON),
    "triton 3.9, imported after": ("3.9.0", "EARLY = True\n" + TRITON),
    "triton 3.2, imported before": ("3.2.0", "EARLY = False\n" + TRITON),
    "triton 3.2, imported after": ("3.2.0", "EARLY = True\n" + TRITON),
    "triton, a hook that was there": ("3.9.0", """
import triton, triton.knobs, ptxopt.triton
from triton.compiler import compile
calls = []
def theirs(self=None, stages=None, options=None, language=None, capability=None):
    if stages is None:
        return "their key", "their hash"
    calls.append(list(stages))
triton.knobs.runtime.add_stages_inspection_hook = theirs
ptxopt.triton.install(guard="off", table=False)
made, key = compile()
assert made != fake_settings.ptx and "their key" in key and len(calls) == 1, (key, calls)
ptxopt.triton.uninstall()
assert triton.knobs.runtime.add_stages_inspection_hook is theirs
"""),
    "triton, facts": ("3.9.0", """
import json, os, tempfile, ptxopt.triton
from triton.compiler import compile
kernel = fake_settings.ptx.split(".entry", 1)[1].split("(", 1)[0].strip()
facts = {"version": 1, "kernels": [{"kernel": kernel, "block": [32, 1, 1]}, {"kernel": "other", "block": [64]}]}
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "facts.json")
    with open(path, "w") as file:
        json.dump(facts, file)
    ptxopt.triton.install(guard="off", table=False, facts=path)
assert ptxopt._hooks._state.options["facts"] == facts
made, key = compile()
assert "%ntid" in fake_settings.ptx and "%ntid" not in made and not ptxopt.triton.stats()[0].trouble, made
"""),
    "triton, a version that is not known": ("4.0.0", """
import io, contextlib, ptxopt.triton
said = io.StringIO()
with contextlib.redirect_stderr(said):
    ptxopt.triton.install(guard="off")
    from triton.compiler import compile
    import ptxopt._hooks
    same(compile()[0], fake_settings.ptx, "unknown")
same(said.getvalue().count("Triton 4.0.0 is not known"), 1, "said")
same(len(ptxopt.triton.stats()), 0, "stats")
"""),
    "triton, PTX that is none": ("3.9.0", """
import io, contextlib, ptxopt.triton
fake_settings.ptx = "no PTX"
ptxopt.triton.install(guard="off", table=False)
from triton.compiler import compile
said = io.StringIO()
with contextlib.redirect_stderr(said):
    same([compile()[0], compile()[0]], ["no PTX"] * 2, "what Triton goes on with")
same(said.getvalue().count("not optimized"), 1, "said once")
assert ptxopt.triton.stats()[0].trouble
"""),
    "triton, ptxas is ours already": ("3.9.0", """
import ptxopt.triton, shutil, tempfile
folder = tempfile.TemporaryDirectory()
fake_settings.ptxas = shutil.copy(fake_settings.ptxas, folder.name + "/ptxopt-ptxas")
ptxopt.triton.install(guard="off", table=False)
from triton.compiler import compile
same(compile()[0], fake_settings.ptx, "optimized twice")
"""),
    "triton, for a debugger": ("3.9.0", """
import ptxopt.triton, triton.knobs
ptxopt.triton.install(guard="off", table=False)
from triton.compiler import compile
triton.knobs.nvidia.disable_ptxas_opt = True
same(compile()[0], fake_settings.ptx, "optimized")
same([k.trouble for k in ptxopt.triton.stats()], ["-O0"], "what is said")
"""),
    "triton 3.9, the options of its ptxas": ("3.9.0", OF_PTXAS),
    "triton 3.2, the options of its ptxas": ("3.2.0", OF_PTXAS),
    "triton, a cubin stage of somebody else": ("3.9.0", """
import triton, triton.knobs, ptxopt.triton
from triton.compiler import asm, compile
made = []
def theirs(self=None, stages=None, options=None, language=None, capability=None):
    if stages is None:
        return "", ""
    stages["cubin"] = lambda source, metadata: made.append(source) or b"theirs"
triton.knobs.runtime.add_stages_inspection_hook = theirs
ptxopt.triton.install(guard="off", table=False)
ptx = compile()[0]
assert ptx != fake_settings.ptx and made == [ptx] and asm["cubin"] == b"theirs", made
"""),
    "options that are none": ("3.9.0", """
import ptxopt.triton
try:
    ptxopt.triton.install(nope=1)
except ptxopt.UsageError as error:
    assert "nope" in str(error)
else:
    raise AssertionError("accepted")
for wrong in ({"guard": "on"}, {"level": 9}, {"level": "x"}, {"passes": ["nope"]}, {"ptxas": "/nowhere"}, {"knobs": {"nope": 1}}):
    try:
        ptxopt.triton.install(**wrong)
    except ptxopt.UsageError:
        continue
    raise AssertionError(f"{wrong} is accepted")
"""),
    "torch": ("3.9.0", """
import ptxopt.torch, subprocess
before = os.environ.get("TORCHINDUCTOR_CACHE_DIR")
ptxopt.torch.install(guard="off", table=False)
code = "import ptxopt._autoload\\nfrom triton.compiler import compile\\ncompile()"
subprocess.run([sys.executable, "-c", "import sys; sys.path.insert(0, %r); import fake_settings; fake_settings.ptx = %r\\n%s"
                % (sys.path[0], fake_settings.ptx, code)], check=True)
same([(k.kernel, k.changed) for k in ptxopt.torch.stats()], [("softmax", True)], "what a child compiled")
assert "/ptxopt-" in os.environ["TORCHINDUCTOR_CACHE_DIR"]
ptxopt.torch.uninstall()
same([n for n in os.environ if n.startswith("PTXOPT_HOOK")] + [os.environ.get("TORCHINDUCTOR_CACHE_DIR")], [before], "the environment")
"""),
    "numba": ("", """
import contextlib, io, tempfile
import ptxopt.numba
ptxopt.numba.install(guard="off", table=False)
import numba_cuda
from numba.cuda import codegen, dispatcher
library = codegen.CUDACodeLibrary()
made = library.get_asm_strs()
assert made != [fake_settings.ptx] and made == library.get_asm_strs() and library._ptx_cache[(8, 0)] == made
same([k.kernel for k in ptxopt.numba.stats()], ["softmax"], "stats")
same(codegen.CUDACodeLibrary(debug=True).get_asm_strs(), [fake_settings.ptx], "for a debugger")
lto = codegen.CUDACodeLibrary(lto=True)
same(lto.get_cubin(), ("linked", False, made[0]), "link-time optimization")
same(codegen.CUDACodeLibrary(lto=True, files=["a.o"]).get_cubin(), ("linked", True, None), "with other files")
assert len(dispatcher.CUDACache()._index_key("sig", "codegen")) == 3
fake = os.path.join(tempfile.mkdtemp(), "ptxas")
open(fake, "w").write("#!/bin/sh\\necho \\"ptxas k.ptx, line 1; fatal   : Unsupported .version 9.9; current version is '9.0'\\" >&2; exit 255\\n")
os.chmod(fake, 0o755)
os.environ.update(PTXOPT_PTXAS=fake, PTXOPT_CACHE_DIR="")
os.environ.pop("PTXOPT_GUARD", None)
ptxopt.numba.install(table=False)
said = io.StringIO()
with contextlib.redirect_stderr(said):
    same([codegen.CUDACodeLibrary().get_asm_strs() for _ in range(2)], [[fake_settings.ptx]] * 2, "PTX that is newer than ptxas")
same(said.getvalue().count("no ptxas here takes PTX 9.9, so kernels stay as they are: pip install"), 1, said.getvalue())
ptxopt.numba.uninstall()
same(codegen.CUDACodeLibrary().get_asm_strs(), [fake_settings.ptx], "uninstalled")
same(dispatcher.CUDACache()._index_key("sig", "codegen"), ("sig", "codegen"), "uninstalled")
"""),
    "warp": ("", """
import contextlib, io, tempfile, warp, warp._src.build, warp._src.context as context
import ptxopt.warp
folder = tempfile.mkdtemp()
def build(name, **options):
    path = os.path.join(folder, name)
    warp._src.build.build_cuda("k.cu", 80, path, config="release", **options)
    return open(path).read()
plain = context.ModuleHasher([], {"a": 1}).hash
ptxopt.warp.install(guard="off", table=False)
same(warp.config.cuda_output, "ptx", "PTX is asked for")
assert build("k.sm80.ptx") != fake_settings.ptx and ptxopt.warp.stats()[0].changed
said = io.StringIO()
with contextlib.redirect_stderr(said):
    same(build("k.sm80.cubin"), fake_settings.ptx, "a cubin")
assert "cuda_output = 'ptx'" in said.getvalue() and "use_ptx=True" in said.getvalue(), said.getvalue()
def ahead(**choice):
    return context.Module()._get_compile_output_name(None, 80, **choice)
same([ahead(), ahead(use_ptx=False), ahead(use_ptx=True)], ["k.sm80.ptx", "k.sm80.cubin", "k.sm80.ptx"], "ahead of time")
warp.config.cuda_output = "cubin"
same(ahead(), "k.sm80.cubin", "the program's choice")
warp.config.cuda_output = "ptx"
assert context.ModuleHasher([], {"a": 1}).hash != plain
ptxopt.warp.uninstall()
same((build("l.sm80.ptx"), warp.config.cuda_output, context.ModuleHasher([], {"a": 1}).hash), (fake_settings.ptx, None, plain), "uninstalled")
same(ahead(), "k.sm80.cubin", "uninstalled")
"""),
    "cupy": ("", """
import cupy, cupy.cuda.compiler as compiler
import ptxopt.cupy
key = compiler._get_cupy_cache_key()
ptxopt.cupy.install(guard="off", table=False)
assert compiler._use_ptx and compiler._get_cupy_cache_key() != key
made, mapping = compiler._NVRTCProgram("ptx").compile(("-a",))
assert made != fake_settings.ptx.encode() and mapping == {"f": "g"} and isinstance(made, bytes)
same(compiler._NVRTCProgram("cubin").compile()[0], fake_settings.ptx.encode() + b"\\0", "a cubin")
same(compiler._NVRTCProgram("ptx").compile(("--device-debug",))[0], fake_settings.ptx.encode() + b"\\0", "for a debugger")
same([k.kernel for k in ptxopt.cupy.stats()], ["softmax"], "stats")
ptxopt.cupy.uninstall()
same((compiler._use_ptx, compiler._get_cupy_cache_key()), (False, key), "uninstalled")
"""),
    "jax": ("", """
import json, subprocess, ptxopt.jax
os.environ["XLA_FLAGS"] = "--theirs"
os.environ["JAX_COMPILATION_CACHE_DIR"] = "/cache"
ptxopt.jax.install(level=1, guard="off", table=False)
folder = os.environ["CUDA_ROOT"]
assert os.environ["XLA_FLAGS"].split()[0] == "--theirs" and folder in os.environ["XLA_FLAGS"], os.environ["XLA_FLAGS"]
assert os.environ["JAX_COMPILATION_CACHE_DIR"].startswith("/cache/ptxopt-")
fake = os.path.join(folder, "real"); open(fake, "w").write("#!/bin/sh\\n"); os.chmod(fake, 0o755)
text = os.path.join(folder, "k.ptx"); open(text, "w").write(fake_settings.ptx)
subprocess.run([os.path.join(folder, "bin", "ptxas"), "-arch=sm_80", text, "-o", os.path.join(folder, "k.cubin")], check=True,
               env={**os.environ, "PTXOPT_PTXAS": fake})
same([(k.client, k.kernel, k.arch) for k in ptxopt.jax.stats()], [("jax", "softmax", "sm_80")], "stats")
ptxopt.jax.uninstall()
same((os.environ.get("CUDA_ROOT"), os.environ["XLA_FLAGS"], os.environ["JAX_COMPILATION_CACHE_DIR"]), (None, "--theirs", "/cache"), "uninstalled")
"""),
    "cutedsl": ("", """
import contextlib, io, tempfile
work = tempfile.mkdtemp()
fake = os.path.join(work, "ptxas")
def ptxas(does):
    version = 'case $1 in --version) echo "release 13.0, V13.0.88"; exit;; esac'
    open(fake, "w").write("\\n".join(["#!/bin/sh", version, "for output; do :; done", "echo $* > " + work + "/call", does, ""]))
    os.chmod(fake, 0o755)
os.environ.update(PTXOPT_PTXAS=fake, PTXOPT_CACHE_DIR="")
ptxas('printf cubin > "$output"')
import cutlass, ptxopt.cutedsl
from cutlass.base_dsl.compiler import BINARY, Compiler
from cutlass.base_dsl.dsl import BaseDSL
PIPELINE = "builtin.module(cute-to-nvvm{cubin-format=bin %s opt-level=3 rdc=false enable-cuda-dialect=true})"
def compiled(options="", binaries=1):
    module = Compiler().compile(binaries, PIPELINE % options if "module" not in options else options, remark_filter="")
    return [(op.operation.attributes["value"].value_bytes, op.operation.attributes["global_type"]) for op in module.body.operations[1:]]
plain = [(b"text", "!llvm.array<4 x i8>"), (BINARY, f"!llvm.array<{len(BINARY)} x i8>")]
ours = [plain[0], (b"cubin", "!llvm.array<5 x i8>")]
same(compiled(), plain, "without us")
ptxopt.cutedsl.install(guard="off", table=False)
same(compiled(), ours, "the constant")
same([(k.kernel, k.arch, k.changed) for k in ptxopt.cutedsl.stats()], [("softmax", "sm_80", True)], "stats")
call = open(work + "/call").read().split()
assert "-arch=sm_80" in call and "-lineinfo" not in call, call
kept = os.path.join(work, "kept")
same(compiled(f"dump-ptx-path='{kept}' dump-cubin-path='{kept}' ptx-options='-v -w' preserve-line-info=true"), ours, "files that are kept")
texts = [open(f"{kept}.sm_80.{kind}").read() for kind in ("ptx", "cubin")]
assert texts[0] != fake_settings.ptx and ".entry softmax" in texts[0] and texts[1] == "cubin", texts
assert {"-v", "-w", "-lineinfo"} < set(open(work + "/call").read().split())
same(sorted(os.listdir(work)), ["call", "kept.sm_80.cubin", "kept.sm_80.ptx", "ptxas"], "files")
said = io.StringIO()
with contextlib.redirect_stderr(said):
    same(compiled("rdc=true"), plain, "relocatable code")
    same(compiled(binaries=2), [plain[0], plain[1], plain[1]], "two binaries")
    same(compiled("builtin.module(another)"), plain, "another pipeline")
    same(compiled("ptx-options='-g'"), plain, "for a debugger")
    ptxas("exit 1")
    same(compiled(), plain, "no machine code")
ptxas('printf cubin > "$output"')
plain_ptx = fake_settings.ptx
with contextlib.redirect_stderr(said):
    fake_settings.ptx = "// Cuda compilation tools, release 13.4, V13.4.59\\n" + plain_ptx
    same(compiled(), plain, "an older ptxas")
    fake_settings.ptx = "// Cuda compilation tools, release 13.0, V13.0.88\\n" + plain_ptx
    same(compiled(), ours, "a ptxas as old")
same(said.getvalue().count("CuTe DSL's ptxas is that of CUDA 13.4"), 1, said.getvalue())
same((said.getvalue().count("several binaries"), said.getvalue().count("no machine code")), (1, 1), said.getvalue())
assert BaseDSL().get_module_hash(None, "f").startswith("f-ptxopt-")
ptxopt.cutedsl.uninstall()
same((compiled(), BaseDSL().get_module_hash(None, "f")), (plain, "f"), "uninstalled")
"""),
    "tilelang": ("", """
import contextlib, io, tempfile
work = tempfile.mkdtemp()
text, fake_settings.nvcc = os.path.join(work, "k.ptx"), os.path.join(work, "nvcc")
open(text, "w").write(fake_settings.ptx)
drop_in = os.path.join(os.path.dirname(os.environ["PTXOPT"]), "ptxopt-ptxas")
for path, does in ((fake_settings.nvcc, f'case "$*" in *dryrun*) exit 1 ;; esac\\n'
                    f'{drop_in} -arch=sm_80 "$2" -o "$2.cubin" || exit 1\\necho "$1 $PTXOPT_OPTIONS"\\n'),
                   (work + "/ptxas", 'for output; do :; done\\nprintf cubin > "$output"\\n')):
    open(path, "w").write("#!/bin/sh\\n" + does)
    os.chmod(path, 0o755)
os.environ.update(PTXOPT_PTXAS=work + "/ptxas", PTXOPT_CACHE_DIR="", PTXOPT_HOOK_OPTIONS='{"guard": "off"}')
import tilelang, ptxopt.tilelang
from tilelang.contrib import nvcc
from tilelang.jit.adapter import libgen
from tilelang.cache.binary_cache import BinaryCache, CUDABinaryCache
from tilelang.cache.kernel_cache import KernelCache
def keys():
    return CUDABinaryCache._finalize_key({"a": 1}), KernelCache().key()
def state():
    return (keys(), nvcc.get_nvcc_compiler(), libgen.compiler(), vars(BinaryCache)["_finalize_key"], vars(KernelCache)["_get_base_key"])
before = state()
ptxopt.tilelang.install(level=1, table=False)
same(nvcc.compile_cuda(text).split(), ["--cubin", "--guard-tries=1", "--guard=off", "-O1", f"--report={ptxopt.tilelang._folder}/reports/"], "options")
same([(k.client, k.kernel, k.arch) for k in ptxopt.tilelang.stats()], [("tilelang", "softmax", "sm_80")], "stats")
assert libgen.compiler() == nvcc.get_nvcc_compiler() != fake_settings.nvcc
one = keys()
assert all("ptxopt" in key for key in one) and "CUDABinaryCache" in one[0], one
ptxopt.tilelang.install(level=2, table=False)
assert one[0] != keys()[0] and one[1] != keys()[1], "the keys do not tell options apart"
said = io.StringIO()
with contextlib.redirect_stderr(said):
    from tilelang.jit.adapter.nvrtc.libgen import compile_cuda
    same([compile_cuda("code"), compile_cuda("code")], ["code"] * 2, "nvrtc")
same(said.getvalue().count("execution_backend='tvm_ffi'"), 1, "nvrtc")
ptxopt.tilelang.uninstall()
same(state(), before, "uninstalled")
"""),
    "tilelang, imported after": ("", """
import ptxopt.tilelang
fake_settings.nvcc = "/opt/cuda/bin/nvcc"
ptxopt.tilelang.install(table=False)
from tilelang.contrib import nvcc
from tilelang.jit.adapter import libgen
assert libgen.compiler() == nvcc.get_nvcc_compiler() == ptxopt.tilelang._folder + "/nvcc"
text = open(libgen.compiler()).read()
assert text.endswith(' nvcc /opt/cuda/bin/nvcc "$@"\\n'), text
ptxopt.tilelang.uninstall()
same((libgen.compiler(), nvcc.get_nvcc_compiler()), ("/opt/cuda/bin/nvcc",) * 2, "uninstalled")
"""),
    "tilelang, without our program": ("", """
import contextlib, io, ptxopt.tilelang
fake_settings.nvcc = "/opt/cuda/bin/nvcc"
ptxopt.tilelang.install(table=False)
os.environ["PTXOPT"] = "/nothing/ptxopt"
from tilelang.contrib import nvcc
said = io.StringIO()
with contextlib.redirect_stderr(said):
    same([nvcc.get_nvcc_compiler(), nvcc.get_nvcc_compiler()], ["/opt/cuda/bin/nvcc"] * 2, "TileLang goes on")
same(said.getvalue().count("TileLang: not optimized"), 1, "said once")
"""),
}


def starting(t):
    """ptxopt_hooks.pth and $PTXOPT_HOOKS: Python starts as ever, imports nothing of ours without it, and the table is printed."""
    line = (ROOT / "python" / "ptxopt_hooks.pth").read_text(encoding="utf-8")
    code = f"{line}\nimport sys\nprint(sorted(m for m in sys.modules if m.startswith(('ptxopt', 'triton'))))"

    def run(code, **more):
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env={**os.environ, **more})
    t.check(run(code).stdout.strip() == "[]", "without the variable something is imported")
    with_it = run(code, PTXOPT_HOOKS="triton")
    t.check("ptxopt.triton" in with_it.stdout and "'triton'" not in with_it.stdout, f"with the variable: {with_it.stdout}{with_it.stderr}")
    wrong = run(code, PTXOPT_HOOKS="nope")
    t.check(wrong.returncode == 0 and "there is no hook nope" in wrong.stderr, f"a wrong name: {wrong.stderr}")
    compiled = run(HEAD + line + "\nfrom triton.compiler import compile\ncompile()", PTXOPT_HOOKS="all", FAKE_TRITON="3.9.0",
                   PTXOPT_HOOK_OPTIONS='{"guard": "off"}')
    broken = run(code, PTXOPT_HOOKS="triton", PTXOPT_LIBRARY="/lib/x86_64-linux-gnu/libm.so.6")
    t.check(broken.returncode == 0 and re.fullmatch("ptxopt: warning: PTXOPT_HOOKS: .*is not libptxopt.so\n", broken.stderr), f"another library: {broken.stderr}")
    t.check(run(code, PTXOPT_HOOKS="none").stderr == "", "no hooks")
    t.check("ptxopt: 1 kernel\nclient  kernel" in compiled.stderr, f"the table: {compiled.stderr}")
    quiet = run(HEAD + line + "\nfrom triton.compiler import compile\ncompile()", PTXOPT_HOOKS="triton", FAKE_TRITON="3.9.0",
                PTXOPT_HOOK_OPTIONS='{"guard": "off"}', PTXOPT_HOOK_TABLE="0")
    t.check(quiet.stderr == "", f"no table: {quiet.stderr}")
    logged(t)
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "script.py"
        script.write_text(HEAD + "from triton.compiler import compile\nprint(sys.argv[1:], __name__, compile()[0] != fake_settings.ptx)")
        run_by_us = subprocess.run([sys.executable, "-m", "ptxopt", "triton", str(script), "a", "-b"], capture_output=True, text=True,
                                   timeout=60, env={**os.environ, "PTXOPT_GUARD": "off", "FAKE_TRITON": "3.9.0"})
        t.check(run_by_us.stdout.strip() == "['a', '-b'] __main__ True", f"a script: {run_by_us.stdout}{run_by_us.stderr}")
        t.check("softmax" in run_by_us.stderr, f"a script's table: {run_by_us.stderr}")
        def by_us(text, **more):
            script.write_text(text)
            return subprocess.run([sys.executable, "-m", "ptxopt", "triton", str(script)], capture_output=True, text=True, timeout=60,
                                  env={**os.environ, "PTXOPT_GUARD": "off", "FAKE_TRITON": "3.9.0", **more})
        t.check(by_us("").stderr == "ptxopt: triton: the script did not import triton\n", f"no client: {by_us('').stderr}")
        t.check("no kernel was compiled" in by_us(HEAD + "import triton.compiler").stderr, "no kernel")
        t.check(by_us("", PTXOPT_HOOK_TABLE="0").stderr == "", "no kernel and no table")
        raises = by_us("def f():\n  raise ValueError('theirs')\nf()\n", PTXOPT_HOOK_TABLE="0")
        files = re.findall(r'File "(.*?)"', raises.stderr)
        t.check(raises.returncode == 1 and files == [str(script)] * 2 and raises.stderr.endswith("ValueError: theirs\n"), f"a script that fails: {raises.stderr}")
        t.check(by_us("raise SystemExit(3)", PTXOPT_HOOK_TABLE="0").returncode == 3, "a script's exit code")
        for options, reason in (('{"levle": 1}', "there is no option 'levle'"), ("[1]", "PTXOPT_HOOK_OPTIONS is not a JSON object"),
                                ('{"profile": "none.json"}', "profile: 'none.json': "), ("{", "PTXOPT_HOOK_OPTIONS is not a JSON object")):
            wrong = subprocess.run([sys.executable, "-m", "ptxopt", "triton", str(script)], capture_output=True, text=True, timeout=60,
                                   env={**os.environ, "PTXOPT_HOOK_OPTIONS": options})
            t.check(wrong.returncode == 2 and wrong.stderr.startswith(f"ptxopt: error: {reason}"), f"{options}: {wrong.stderr}")


def logged(t):
    """What ptxopt-ptxas did for JAX, which calls it by itself, is in the log when the process ends."""
    with tempfile.TemporaryDirectory() as folder:
        log, ptxas = Path(folder) / "log", Path(folder) / "ptxas"
        ptxas.write_text('#!/bin/sh\nfor output; do :; done\nprintf cubin > "$output"\n')
        ptxas.chmod(0o755)
        call = (f"import os, subprocess\nsubprocess.run([os.environ['CUDA_ROOT'] + '/bin/ptxas', '-arch=sm_80', {str(ROOT / 'samples/softmax.ptx')!r}, "
                f"'-o', {str(Path(folder) / 'cubin')!r}], check=True)")
        run = subprocess.run([sys.executable, "-m", "ptxopt", "jax", "-c", call], capture_output=True, text=True, timeout=60,
                             env={**os.environ, "PTXOPT_HOOK_LOG": str(log), "PTXOPT_GUARD": "off", "PTXOPT_PTXAS": str(ptxas)})
        records = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        t.check([(r["client"], r["kernel"], r["changed"]) for r in records] == [("jax", "softmax", True)], f"the log: {records} {run.stderr}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, type=os.path.abspath)
    package.use(parser.parse_args().tool)
    t = Counted("hooks")
    for name, (version, code) in CASES.items():
        run = subprocess.run([sys.executable, "-c", HEAD + code], capture_output=True, text=True, timeout=60,
                             env={**os.environ, "FAKE_TRITON": version})
        t.check(run.returncode == 0, f"{name}: {run.stderr[-1500:]}")
    starting(t)
    print(f"hooks: {t.checks - t.wrong} passed, {t.wrong} failed")
    return 1 if t.wrong else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""The GPU bench, run on a stub of the driver that the interpreter serves: what needs no GPU is checked here.

  tests/gpu/stub/run.py --tool PTXOPT --stub LIBRARY --values PROGRAM [--whole] [--only NAME]

  inputs      contents.py gives what `ptxopt verify` fills memory with; random buffers are those of `ptxopt run`, made by
              Python and by the kernels of fill.cu
  statistics  intervals, verdicts and rank correlation against their definitions
  device      the stub finds misuse: handles, ranges, launches
  jobs        job.py: equal, different (with the place and the values), faster, slower, not to be distinguished, failing kernels,
              jobs that make no sense, nothing to run on
  folder      pack.py, and run.py in what it packed: all kernels, before and after
  real        with --whole: launches of real size stay in their memory
  clang       pack.py --compiler clang
  fit         every probe runs, and latencies follow from their sums

Without nvcc or ptxas the last three are left out and the script ends with status 77. --whole packs for more architectures, with
the guard, too, and compares on more inputs.
"""
import argparse
import ast
import ctypes
import json
import os
import struct
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

HERE = Path(__file__).resolve().parent
GPU = HERE.parent
sys.path[:0] = [str(GPU), str(GPU.parent / "lib"), str(HERE)]
import arguments  # noqa: E402
import bench  # noqa: E402
import device_memory  # noqa: E402
import driver  # noqa: E402
import figures  # noqa: E402
import fit  # noqa: E402
import model  # noqa: E402
import probes  # noqa: E402
import streams  # noqa: E402
import settings  # noqa: E402
import texts  # noqa: E402
from architecture import NoImage, choose  # noqa: E402
from cases import BOTTLENECKS, CASES  # noqa: E402
from checking import Failure, Skipped, check  # noqa: E402
from compilers import find  # noqa: E402
from pack import CARRIED  # noqa: E402

LEAST_KERNELS = 40
FREE_STEPS, MOST_STEPS = ("pipe", "tensor", "shared", "local"), 70  # families whose steps add no addresses after so many
NOTHING = 77
MOST_SAID = 2000  # characters
LAUNCH = {"kernel": "twice", "grid": [2, 1, 1], "block": [32, 1, 1], "arguments": ["x=buf:f32:60:random", "y=buf:f32:60:zero", "u32:60"]}
LIMIT = 800  # seconds of one script, on a busy machine
BUFFERS = {kind: f"buf:{kind}:100:{{}}" for kind in arguments.SIZES}


class Test:
    def __init__(self, options, work):
        self.tool, self.library, self.values = (os.path.abspath(path) for path in (options.tool, options.stub, options.values))
        self.work, self.whole = Path(work), options.whole

    def run(self, script, *words, environment=None, text=None):
        clean = {**os.environ, **settings.environment(), driver.VARIABLE: self.library, "PTXOPT_GUARD": "off", **(environment or {})}
        return subprocess.run([*driver.PYTHON, str(script), *map(str, words)], capture_output=True, text=True, timeout=LIMIT, env=clean,
                              input=text, cwd=self.work)

    # ---- inputs ----

    def inputs(self):
        figures.contents_of_verify(subprocess.run([self.values], capture_output=True, text=True, check=True, timeout=LIMIT).stdout)
        figures.wrong_arguments()
        self.buffers_of_run()

    def buffers_of_run(self):
        """The same bytes from `ptxopt run`, from Python and, of a device, from fill.cu."""
        fill = self.fill_ptx()
        inits = {"random": "random", "iota": "iota", "value": "fill=3"}
        for kind, spec in BUFFERS.items():
            for name, init in inits.items():
                out = self.work / "dump"
                subprocess.run([self.tool, "run", str(GPU / "../../samples/saxpy.ptx"), "--seed", "7", "--buffer", f"{name}={spec.format(init)}",
                                "--grid", "1", "--block", "1", "--arg", "u32:0", "f32:0", name, name, "--dump", f"{name}={out}"],
                               check=True, timeout=LIMIT, capture_output=True)
                wanted, buffer = out.read_bytes(), arguments.parse_buffer(name, spec.format(init), ".")
                check(arguments.initial_bytes(buffer, 7) == wanted, f"{kind} {init}: Python makes other bytes than ptxopt run")
                if fill:
                    with driver.Driver(self.library) as device:
                        memory = device.memory(buffer.size + device_memory.GUARD)
                        device_memory.Filler(device, fill, above=0)(buffer, memory, 7, 0)
                        check(memory.read() == wanted + bytes([device_memory.PATTERN]) * device_memory.GUARD, f"{kind} {init}: fill.cu makes other bytes")

    def fill_ptx(self):
        nvcc = find("NVCC", "nvcc")
        if not nvcc:
            return None
        out = self.work / "fill.ptx"
        subprocess.run([nvcc, "-arch=sm_80", "-O3", "-ptx", str(GPU / "kernels/fill.cu"), "-o", str(out)], check=True, timeout=LIMIT)
        return out.read_bytes()

    # ---- the stub ----

    def device(self):
        with driver.Driver(self.library) as device:
            x = device.memory(64)
            wrong = {
                "cuMemcpyHtoD_v2": (1, (x.address + 1, b"." * 64, 64)), "cuMemcpyDtoH_v2": (1, (ctypes.create_string_buffer(80), x.address, 65)),
                "cuMemsetD8_v2": (1, (x.address - 8, 0, 8)), "cuMemFree_v2": (1, (x.address + 8,)), "cuMemcpyDtoD_v2": (1, (x.address, x.address + 60, 8)),
                "cuModuleUnload": (400, (ctypes.c_void_p(x.address),)), "cuEventRecord": (400, (ctypes.c_void_p(8), None)),
                "cuModuleLoadData": (218, (ctypes.byref(ctypes.c_void_p()), b"nothing\0")), "cuMemAlloc_v2": (2, (ctypes.byref(ctypes.c_uint64()), 1 << 40)),
                "cuDeviceGet": (101, (ctypes.byref(ctypes.c_int()), 1)), "cuInit": (1, (1,))}
            for name, (code, words) in wrong.items():
                check(getattr(device.library, name)(*words) == code, name, "takes what makes no sense")
            image = device.load(texts.twice().encode())
            self.refuses(500, lambda: image.function("thrice"))
            function = image.function("twice")
            check(function.parameter_sizes() == [8, 8, 4], function.parameter_sizes())
            self.refuses(1, lambda: device.launch(function, [0, 1, 1], [32, 1, 1], 0, [bytes(8), bytes(8), bytes(4)]))
            self.refuses(1, lambda: device.launch(function, [1, 1, 1], [2048, 1, 1], 0, [bytes(8), bytes(8), bytes(4)]))
            self.refuses(1, lambda: device.launch(function, [1, 1, 1], [32, 1, 1], 100_000, [bytes(8), bytes(8), bytes(4)]))
            timer = device.timer()
            self.refuses(400, lambda: device.call("cuEventElapsedTime", ctypes.byref(ctypes.c_float()), *timer.events))
            image.unload()
            self.refuses(400, function.attributes)
            x.free()
            self.refuses(1, x.free)
        try:
            driver.Driver(self.library, device=1)
            raise Failure("there is a second device")
        except driver.NoDriver:
            pass
        check(choose((8, 6), ["sm_80", "sm_75", "sm_90"], "cubin") == "sm_80" and choose((9, 0), ["sm_90", "sm_90a"], "cubin") in ("sm_90", "sm_90a"), "choose")
        check(choose((12, 0), ["sm_80", "sm_90"], "ptx") == "sm_90", "PTX runs on newer devices")
        for capability, names in (((9, 0), ["sm_80"]), ((7, 5), ["sm_80"]), ((8, 0), ["sm_86"]), ((10, 3), ["sm_100a"])):
            try:
                check(False, capability, "runs", choose(capability, names, "cubin"))
            except NoImage:
                pass

    @staticmethod
    def refuses(code, action):
        try:
            action()
        except driver.CudaError as error:
            check(error.code == code, "another error than", code, error)
            return
        raise Failure(f"no error {code}")

    # ---- jobs ----

    def job(self, variants, exit_code, status, environment=None, arguments_=None, **more):
        description = {"variants": [], **more}
        for name, text in variants.items():
            (self.work / f"{name}.ptx").write_text(text, encoding="utf-8")
            description["variants"].append({"name": name, "image": f"{name}.ptx"})
        launch = {**LAUNCH, "arguments": arguments_ or LAUNCH["arguments"]}
        description.setdefault("checks", [{"launches": [launch], "inputs": 4}])
        if "time" in description:
            description["time"] = {"launches": [launch], **description["time"]}
        ran = self.run(GPU / "job.py", "-", text=json.dumps(description), environment=environment)
        check(ran.stdout.startswith("{"), "job.py:", ran.stderr)
        answer = json.loads(ran.stdout)
        check(ran.returncode == exit_code and answer["status"] == status, "exit", ran.returncode, "instead of", exit_code, answer)
        return answer

    def jobs(self):
        same = texts.twice()
        answer = self.job({"before": same, "after": texts.twice(12)}, 0, "equal", time={"seconds": 0})
        check(len(answer["comparisons"]) == 5 and answer["times"]["ratios"]["after"]["verdict"] == "slower", answer)
        check(answer["times"]["ratios"]["control"]["median"] == 1, answer)
        self.differences(same)
        self.noise(same)
        self.failures(same)

    def differences(self, same):
        answer = self.job({"before": same, "after": texts.twice(body=texts.WRONG_AT_5)}, 1, "different")
        found = answer["comparisons"][0]["differences"][0]
        check((found["buffer"], found["index"], found["byte"], found["differing"], found["variant"]) == ("y", 5, 20, 1, "after"), found)
        x = arguments.random_bytes("f32", 60, 0, "x")
        import struct
        value = struct.unpack_from("<f", x, 20)[0]
        check(found["before"].startswith("0x" + struct.pack(">f", 2 * value).hex()) and found["after"].startswith("0x" + struct.pack(">f", 2 * value + 1).hex()), found)
        found = self.job({"before": same, "after": texts.twice(body=texts.BEYOND)}, 1, "different")["comparisons"][0]["differences"][0]
        check(found["beyond_end"] and found["index"] == 60, found)
        answer = self.job({"before": texts.twice(body=texts.COUNTING), "after": same}, 0, "undetermined")
        check(all(row["undetermined"] == ["y"] and not row["differences"] for row in answer["comparisons"]), answer)
        self.job({"before": texts.twice(body=texts.LATER), "after": texts.twice(body=texts.WRONG_AT_5)}, 0, "undetermined",
                 checks=[{"launches": [LAUNCH]}])
        nans = {"before": texts.twice(body=texts.NAN), "after": texts.twice(body=texts.OTHER_NAN)}
        self.job(nans, 1, "different")
        self.job(nans, 0, "equal", nan="any")
        self.launches(same)

    def launches(self, same):
        """In clusters, and one after the other: then y is four times x, and a variant that is wrong in the first is found."""
        launch = LAUNCH
        clustered = {name: texts.twice(iterations, texts.CLUSTERED, "sm_90") for name, iterations in (("before", 10), ("after", 12))}
        self.job(clustered, 0, "equal", checks=[{"launches": [{**launch, "cluster": [2, 1, 1]}]}])
        self.job(clustered, 2, "base-failed", checks=[{"launches": [launch]}])
        then = {**launch, "arguments": ["y", "z=buf:f32:60:zero", "u32:60"]}
        wrong = {"before": same, "after": texts.twice(body=texts.WRONG_AT_5)}
        found = self.job(wrong, 1, "different", checks=[{"launches": [launch, then]}])["comparisons"][0]["differences"]
        check([(d["buffer"], d["index"]) for d in found] == [("y", 5), ("z", 5)], found)
        answer = self.job({"before": same, "after": texts.twice(12)}, 0, "equal", checks=[], time={"seconds": 0, "launches": [launch, then]})
        check(answer["times"]["ratios"]["after"]["verdict"] == "slower", answer)

    def noise(self, same):
        """Times that are off by up to 2%: a fifth of the iterations more is told, the same code is not."""
        noisy = settings.environment(noise=0.02)
        timed = {"seconds": 0, "least_iterations": 31, "most_iterations": 31}
        ratio = self.job({"before": texts.twice(40), "after": texts.twice(48)}, 0, "equal", noisy, time=timed)["times"]["ratios"]["after"]
        check(ratio["verdict"] == "slower" and 1.1 < ratio["low"] < ratio["median"] < ratio["high"] < 1.25, ratio)
        ratio = self.job({"before": texts.twice(48), "after": texts.twice(40)}, 0, "equal", noisy, time=timed)["times"]["ratios"]["after"]
        check(ratio["verdict"] == "faster", ratio)
        ratios = self.job({"before": same, "after": same}, 0, "equal", noisy, time=timed)["times"]["ratios"]
        check(all(ratio["verdict"] == bench.UNDECIDED and ratio["low"] < 1 < ratio["high"] for ratio in ratios.values()), ratios)

    def failures(self, same):
        for body, name in ((texts.FAR, "CUDA_ERROR_ILLEGAL_ADDRESS"), (texts.CROOKED, "CUDA_ERROR_MISALIGNED_ADDRESS"), (texts.TRAP, "CUDA_ERROR_LAUNCH_FAILED")):
            answer = self.job({"before": same, "after": texts.twice(body=body)}, 1, "failed")
            check(name in answer["error"] and answer["error"].startswith("after"), answer)
            check(name in self.job({"before": texts.twice(body=body), "after": same}, 2, "base-failed")["error"], "of the base")
        self.job({"before": same, "after": "nothing"}, 1, "failed")
        for arguments_ in (["buf:f32:60:random"], ["buf:f32:60:random", "y=buf:f32:60:zero", "u64:60"], ["x=buf:f32:9", "x", "u32:1"]):
            check(self.job({"before": same, "after": same}, 2, "bad-job", arguments_=arguments_)["error"], "why")
        self.job({"before": same, "after": same}, 2, "bad-job", fill="missing.ptx")
        self.job({"before": same, "after": same}, 2, "bad-job", arguments_=["x=buf:f32:900000000:zero", "x", "u32:0"])
        self.job({"before": same}, 2, "bad-job", checks=[{}])
        self.job({"before": same}, 2, "bad-job", checks=[{"launches": [{**LAUNCH, "grid": [1]}]}])
        (self.work / "no.ptx").write_text("nothing", encoding="utf-8")
        self.job({"before": same}, 2, "device-failed", fill="no.ptx", fill_above=0)
        self.job({}, 2, "bad-job")
        check(self.run(GPU / "job.py", "missing.json").returncode == 2 and self.run(GPU / "job.py", "-", text="{").returncode == 2, "no job")
        nowhere = self.job({"before": same, "after": same}, NOTHING, "no-driver", {driver.VARIABLE: "nowhere.so"})
        check("there is no CUDA driver" in nowhere["error"], nowhere)
        none = self.job({"before": same, "after": same}, NOTHING, "no-driver", settings.environment(devices=0))
        check("no device" in none["error"], none)

    # ---- the packed folder ----

    def packed(self):
        """The folder, made once."""
        folder = self.work / "packed"
        if not folder.exists():
            more = ["--archs", "sm_75,sm_80,sm_90,sm_120", "--guarded"] if self.whole else ["--archs", "sm_80", "--streams", "load*"]
            ran = self.run(GPU / "pack.py", "--tool", self.tool, "-o", folder, *more)
            if ran.returncode == NOTHING:
                raise Skipped(ran.stdout.strip())
            check(ran.returncode == 0, ran.stdout, ran.stderr)
        return folder, json.loads((folder / "manifest.json").read_text(encoding="utf-8"))

    def folder(self):
        check(len(CASES) >= LEAST_KERNELS and {c.bottleneck for c in CASES} == set(BOTTLENECKS), "too few kernels, or kinds of them")
        folder, manifest = self.packed()
        for path in CARRIED:
            if path.endswith(".py"):
                ast.parse((folder / path).read_text(encoding="utf-8"), feature_version=(3, 9))
        for images in manifest["images"].values():
            for variants in images.values():
                check(all((folder / path).stat().st_size for image in variants.values() for path in image.values()), variants)
        changed = [c["name"] for c in manifest["cases"] if c["changed"]["sm_80"]]
        check(len(changed) >= len(CASES) // 2, "ptxopt changes few of the kernels:", changed)
        models = [bool(c.get("model", {}).get("sm_80")) for c in manifest["cases"]]
        check(all(models) if model.has_time(self.tool) else not any(models), "modelled figures")
        self.all_kernels(folder, changed)
        self.broken(folder, manifest)
        self.nothing(folder)

    def all_kernels(self, folder, changed):
        out = self.work / "results.json"
        words = ["--load", "ptx", "--small", "--seconds", "0", "--iterations", "8", "--json", out]
        ran = self.run(folder / "run.py", *words, *(["--all", "--inputs", "12"] if self.whole else ["--inputs", "3"]))
        check(ran.returncode == 0, ran.stdout, ran.stderr)
        results = json.loads(out.read_text(encoding="utf-8"))
        check(len(results["cases"]) == (len(CASES) if self.whole else len(changed)), len(results["cases"]))
        check(all(row["status"] == "equal" for row in results["cases"]), [row["name"] for row in results["cases"] if row["status"] != "equal"])
        check(results["summary"]["control"]["least"] == results["summary"]["control"]["most"] == 1, results["summary"])
        check("by chance" in ran.stdout or "no rank correlation" in ran.stdout, ran.stdout)
        ratios = sum(len(row["times"]["ratios"]) - 1 for row in results["cases"])  # but for the control
        page = self.run(folder / "report.py", out).stdout
        check(driver.STUB in page and "no GPU" in page and "no GPU" in ran.stdout and page.count("| `") == ratios and "| pipe | after |" in page, page)
        check(self.run(folder / "report.py", folder / "manifest.json").returncode == 2, "report.py takes a manifest")
        # The bare machine has no packages: only what Python brings.
        bare = subprocess.run([sys.executable, "-S", "-E", "-s", str(folder / "run.py"), "--driver", self.library, "--load", "ptx", "--small",
                               "--seconds", "0", "--iterations", "1", "--filter", "horner"], capture_output=True, text=True, env=settings.environment(), cwd="/", timeout=LIMIT)
        check(bare.returncode == 0 and "1 kernels: 1 equal" in bare.stdout, bare.stdout, bare.stderr)

    def broken(self, folder, manifest):
        """A wrong `after` is said with its place, and ends the run with 1; a slower one on request."""
        image = folder / manifest["images"]["sm_80"]["latency.cu"]["after"]["ptx"]
        right = image.read_text(encoding="utf-8")
        at = right.index("fma.rn", right.index(".entry horner"))
        image.write_text(right[:at] + "fma.rz" + right[at + 6:], encoding="utf-8")
        words = ["--load", "ptx", "--small", "--seconds", "0", "--iterations", "1", "--filter", "horner", "--inputs", "8"]
        ran = self.run(folder / "run.py", *words)
        image.write_text(right, encoding="utf-8")
        check(ran.returncode == 1 and "DIFFERENT, after, small" in ran.stdout and "y[" in ran.stdout and "1 kernels: 1 different" in ran.stdout, ran.stdout)
        words = ["--load", "ptx", "--small", "--seconds", "0", "--iterations", "8", "--filter", "divide_chain"]
        check([self.run(folder / "run.py", *words, *more).returncode for more in ([], ["--fail-on-slower"])] == [0, 1], "--fail-on-slower")

    def nothing(self, folder):
        for words, environment, said in ((["--driver", "nowhere.so"], {}, "no CUDA driver"), ([], settings.environment(devices=0), "no device"),
                                         ([], settings.environment(architecture=70), "compute capability 7.0")):
            ran = self.run(folder / "run.py", *words, environment=environment)
            check(ran.returncode == NOTHING and said in ran.stderr and "nothing to run on" in ran.stderr, ran.returncode, ran.stderr)
        for stub in Path(find("NVCC", "nvcc")).resolve().parents[1].glob("lib*/stubs/libcuda.so"):  # NVIDIA's own, of the toolkit: only names
            real = ctypes.CDLL(str(stub))
            check(all(hasattr(real, name) for name in (*driver.CALLS, driver.PARAMETER_INFO, driver.LAUNCH_CLUSTERS)), "names that NVIDIA has not")
            ran = self.run(folder / "run.py", "--driver", stub)
            check(ran.returncode == NOTHING and "cuInit" in ran.stderr, ran.returncode, ran.stderr)
        ran = self.run(folder / "run.py", "--filter", "horner")  # cubins, which the stub does not take
        check(ran.returncode == 2 and "CUDA_ERROR_NO_BINARY_FOR_GPU" in ran.stdout, ran.stdout, ran.stderr)
        check(self.run(folder / "run.py", "--filter", "nobody").returncode == 2, "--filter nobody")
        out = self.work / "late.json"
        ran = self.run(folder / "run.py", "--load", "ptx", "--filter", "horner", "--limit", "0", "--json", out)
        check(ran.returncode == NOTHING and "1 kernels are left out, 0 s are over: horner" in ran.stdout, ran.returncode, ran.stdout)
        check("Left out, for lack of time: `horner`." in self.run(folder / "report.py", out).stdout, "report.py of what was left out")
        check(self.run(folder / "run.py", "--variants", "before,nobody").returncode == 2, "--variants before,nobody")
        words = ["--load", "ptx", "--small", "--seconds", "0", "--iterations", "8", "--filter", "divide_chain"]
        check("faster" in self.run(folder / "run.py", *words, "--variants", "after,before").stdout.split("divide_chain")[1].splitlines()[0], "the other way around")
        check(self.run(folder / "run.py", "--manifest", "missing.json").returncode == 2, "a manifest that is missing")

    def real(self):
        """The launches of real size, of the PTX before, in the interpreter: that they stay in their memory. With --whole."""
        if not self.whole:
            return
        folder, manifest = self.packed()
        for case in CASES:
            few = {"steps": min(case.real["steps"], MOST_STEPS)} if case.bottleneck in FREE_STEPS and "steps" in case.real else {}
            words = model.run_line(replace(case, real={**case.real, **few}).launches("real"))
            ptx = folder / manifest["images"]["sm_80"][case.file]["before"]["ptx"]
            ran = subprocess.run([self.tool, "run", str(ptx), *words], capture_output=True, text=True, timeout=LIMIT)
            check(ran.returncode == 0, case.name, ran.stderr)

    def clang(self):
        """pack.py --compiler clang: what clang takes, and nothing hidden of what fails after it."""
        folder = self.work / "clang"
        words = ["--tool", self.tool, "-o", folder, "--archs", "sm_80", "--compiler", "clang", "--no-probes", "--only", "horner"]
        ran = self.run(GPU / "pack.py", *words)
        if ran.returncode == NOTHING:
            raise Skipped(ran.stdout.strip())
        check(ran.returncode == 0 and "sm_80: 1 kernels" in ran.stdout, ran.stdout, ran.stderr)
        check("clang" in json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["made_by"]["compiler"], "the compiler in the manifest")
        ran = self.run(GPU / "pack.py", *words, "--only", "tensor_f16")
        check(ran.returncode == 1 and "clang does not take tensor.cu" in ran.stdout and "no kernel is left" in ran.stderr, ran.stdout, ran.stderr)
        ran = self.run(GPU / "pack.py", *words, "--tool", "false")
        check(ran.returncode == 1 and "does not take" not in ran.stdout and ran.stderr.startswith("pack.py: "), ran.stdout, ran.stderr)

    # ---- latencies ----

    def fitted(self):
        """Cycles from what warps wrote, whichever wrote last; probes after one that fails."""
        class Device:
            def __init__(self, *texts):
                self.texts = list(texts)

            def launch(self, *_):
                self.text = self.texts.pop(0)

            def synchronize(self):
                pass

            def read(self):
                return self.text
        device = Device(*(struct.pack("<6Q", 0, 0, *times) for times in ((0, 9, 0, 9), (100, 190, 130, 220), (100, 250, 200, 210))))
        check(fit.cycles(device, None, [], device, 64, 16, 3) == 120, "from the first beginning to the last end, the least but for the first")
        program = """if True:
            import json, sys
            for name in sys.argv[2::2]:
                if name == "bad": sys.exit("bad is bad")
                print(json.dumps({"name": name, "cycles": len(name)}), flush=True)
            print('{"name": "cut o', end="")"""
        found = fit.run_in_processes([sys.executable, "-c", program], [{"name": name} for name in ("a", "bad", "abc", "x")])
        check(found == {"a": {"cycles": 1}, "bad": {"error": "bad is bad"}, "abc": {"cycles": 3}, "x": {"cycles": 1}}, found)

    def fit(self):
        self.fitted()
        known = fit.solve({"a": ("A", 4.0), "ab": ("A+B", 10.0), "bbc": ("B+B+C", 13.0), "de": ("D+E", 5.0), "ff": ("F+F", 6.0)})
        check(known == {"A": 4, "B": 6, "C": 1, "F": 3}, known)
        rows = fit.table_rows("sm_90a", {"Fp32": 4.04, "GlobalLoad:L2": 260.4, "Bytes:L2": 35.04, "Bytes:Dram": 9.9})
        check(rows == ["TARGET_LATENCY(Fp32, 90, 90, 4, Measured)  // 4.04", "TARGET_MEMORY(90, Dram, ..., Measured, 9.9, Measured)",
                       "TARGET_MEMORY(90, L2, 260.4, Measured, 35.0, Measured)"], rows)
        stream = {"kinds": "Fp32+IntegerMultiply*2", "instructions": 3}
        uses = {"Fp32": {"Fma": 1}, "IntegerMultiply": {"Fma": 1, "FmaHeavy": 2}}
        check([fit.modelled_of(stream, {}, uses), fit.modelled_of(stream, {}, {}), fit.modelled_of({"kinds": "Fp32+Logic"}, {"Fp32": 4, "Logic": 5}, {})]
              == [4, None, 9], "what the model has for a stream, and for a chain")
        table = model.latencies("sm_80")
        kinds = {kind for probe in probes.PROBES for kind in probe.kinds.split("+")}
        check(kinds <= set(table), "the model has no latencies of", kinds - set(table))
        kinds, table = {kind for stream in streams.STREAMS for kind, _ in fit.counted(stream.kinds)}, model.uses("sm_90")
        check(kinds <= set(table), "the model has no uses of", kinds - set(table))
        folder, manifest = self.packed()
        check(not any(probe.get("note") for probe in manifest["probes"]["sm_80"]), "probes that ptxas folds")
        out = self.work / "fit.json"
        ran = self.run(folder / "run.py", "--fit", "--small", "--load", "ptx", "--json", out)
        check(ran.returncode == 0, ran.stdout, ran.stderr)
        found = json.loads(out.read_text(encoding="utf-8"))["probes"]
        check(len(found) == len(manifest["probes"]["sm_80"]) and all("cycles" in probe for probe in found.values()), found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, help="ptxopt")
    parser.add_argument("--stub", required=True, help="libptxopt_emulation.so")
    parser.add_argument("--values", required=True, help="ptxopt_verify_values")
    parser.add_argument("--whole", action="store_true", help="more architectures and inputs")
    parser.add_argument("--only", help="one of inputs, statistics, device, jobs, folder, real, clang, fit")
    options = parser.parse_args()
    failed = skipped = 0
    os.environ.update(settings.environment())  # the library is loaded here, too
    with tempfile.TemporaryDirectory() as work:
        test = Test(options, work)
        for name in ("inputs", "statistics", "device", "jobs", "folder", "real", "clang", "fit"):
            if options.only not in (None, name):
                continue
            try:
                (figures.statistics if name == "statistics" else getattr(test, name))()
                print(f"{name}: ok", flush=True)
            except Skipped as why:
                skipped += 1
                print(f"{name}: skipped: {why}")
            except Failure as why:
                failed += 1
                print(f"{name}: FAILED: {str(why)[:MOST_SAID]}")
    return 1 if failed else NOTHING if skipped else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Which real ptxas the drop-in calls: by the file, by the client, by the user's word; the configuration file; the log.

  tests/cli/wrapper/choose.py --tool PATH

Each ptxas here is a script that answers as one of a version does, and leaves its own name in the place of a cubin. So no
ptxas is needed.
"""
import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

import common
from common import environment, run

# A ptxas: says its version and its lists, refuses newer PTX, and otherwise writes its path to the output.
FAKE = """#!/bin/sh
last='' path='' out=''
for word; do
  case $word in
    --version)
      printf '%s\\n' 'ptxas: NVIDIA (R) Ptx optimizing assembler' 'Cuda compilation tools, release {version}, V{version}.1'
      exit ;;
    --help)
      printf '%s\\n' '--gpu-name <gpu name>  (-arch)' "  Allowed values for this option:  'compute_80',{architectures}." --other
      exit ;;
    *.ptx) path=${{path:-$word}} ;;
  esac
  [ "$last" != -o ] || out=$word
  last=$word
done
while read -r name asked rest && [ "$name" != .version ]; do :; done <"$path"
number() {{ echo $((${{1%.*}} * 100 + ${{1#*.}})); }}
if [ "$(number "$asked")" -gt "$(number {ptx})" ]; then
  echo "ptxas $path, line 1; fatal   : Unsupported .version; current version is '{ptx}'" >&2
  exit 255
fi
case $0 in /*) self=$0 ;; *) self=$PWD/$0 ;; esac
{{ echo "$self"; /bin/cat "$path"; }} >"$out"
"""
KERNEL = """.version {}
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{{
 .reg .b32 %r<4>; .reg .b64 %rd<2>;
 mov.u32 %r3, 12345; // not used
 ld.param.u64 %rd1, [p];
 mov.u32 %r1, 1;
 st.global.u32 [%rd1], %r1;
 ret;
}}
"""
OLD = {"version": "12.4", "ptx": "8.4", "architectures": ["sm_70", "sm_80", "sm_90"]}
MIDDLE = {"version": "12.9", "ptx": "8.8", "architectures": ["sm_70", "sm_80", "sm_90"]}
NEW = {"version": "13.4", "ptx": "9.4", "architectures": ["sm_80", "sm_90", "sm_100a"]}


def fake(path, kind):
    return common.script(path, FAKE.format(**{**kind, "architectures": ",".join(f"'{name}'" for name in kind["architectures"])}))


class Choose:
    def __init__(self, tool, folder):
        self.tool, self.folder, self.checks = tool, folder, common.Checks("choose")
        kinds = {"old": OLD, "middle": MIDDLE, "new": NEW}
        self.old, self.middle, self.new = (fake(folder / name / "ptxas", kind) for name, kind in kinds.items())
        self.drop_in = common.drop_in_of(tool)
        self.out = folder / "out"
        # A PATH without another ptxas.
        self.programs = folder / "programs"
        self.programs.mkdir()
        for version in ("8.0", "8.5", "9.0", "9.9"):
            (folder / f"{version}.ptx").write_text(KERNEL.format(version))

    def environment(self, *path, **more):
        more.setdefault("PTXOPT_CONFIG", "/dev/null")
        more["PTXOPT_OPTIONS"] = f"-O1 {more.get('PTXOPT_OPTIONS', '')}"  # dead code goes, which -O2 leaves to ptxas
        env = environment(PATH=":".join([*(str(Path(p).parent) for p in path), str(self.programs)]),
                          PTXOPT_CACHE_DIR=self.folder / "cache", HOME=self.folder, **more)
        return {k: v for k, v in env.items() if k not in {"CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV", "CONDA_PREFIX"} - set(more)}

    def call(self, version, env, arch="sm_80", program=None, before=()):
        """The ptxas that wrote the output, or the exit code; and what was said."""
        self.out.unlink(missing_ok=True)
        result = run([program or self.drop_in, *before, f"-arch={arch}", self.folder / f"{version}.ptx", "-o", self.out], env=env)
        if result.returncode != 0 or not self.out.exists():
            return result.returncode, result.stderr.decode()
        text = self.out.read_text()
        self.checks.check("12345" not in text, f"{version}: optimized", text)
        return text.splitlines()[0], result.stderr.decode()

    def by_file(self):
        env = self.environment(self.old, self.middle, self.new, PTXOPT_OPTIONS="-v")
        for version, arch, wanted in (("8.0", "sm_80", self.old), ("8.5", "sm_80", self.middle), ("9.0", "sm_80", self.new),
                                      ("8.0", "sm_100a", self.new), ("8.5", "sm_70", self.middle)):
            got, said = self.call(version, env, arch)
            self.checks.equal(got, wanted, f"PTX {version} for {arch}")
            self.checks.check(f"ptxas: {wanted} (PATH" in said, f"PTX {version} for {arch}: -v says which", said)
        self.checks.check(f"{self.old} takes PTX up to 8.4" in self.call("9.0", env)[1], "-v says why not the others")
        self.checks.check(f"{self.old} makes no code for sm_100a" in self.call("8.0", env, "sm_100a")[1], "-v: no code")
        if not os.path.exists("/usr/local/cuda/bin/ptxas"):
            code, said = self.call("9.9", env)
            self.checks.check(code == 255 and "none takes the file" in said, "none takes it: the first says so", said)
        # What can be read once only, and what is not optimized.
        for words in (["-"], ["/dev/stdin"]):
            result = run([self.drop_in, "-arch=sm_80", *words, "-o", self.out], env=env, input=(self.folder / "9.0.ptx").read_bytes())
            self.checks.check(f"ptxas: {self.new} (" in result.stderr.decode(), f"{words}: by the text", result.stderr.decode())
        result = run([self.drop_in, "-g", "-arch=sm_80", self.folder / "9.0.ptx", "-o", self.out], env=env)
        self.checks.equal((result.returncode, self.out.read_text().splitlines()[0]), (0, self.new), "debug code")

    def by_fault(self):
        """A release that is known to make wrong code of the file is passed over, where another takes it and does not."""
        faulty = self.folder / "faulty.ptx"
        text = KERNEL.format("8.0").replace("sm_80", "sm_90").replace(".reg .b64", ".reg .b16 %h<3>; .reg .b64")
        faulty.write_text(text.replace(" ret;", " mov.u32 %r0, 7;\n add.s16x2 %r2, %r1, %r3;\n cvt.u16.u32 %h1, %r2;\n st.global.u16 [%rd1+4], %h1;\n ret;")
                          .replace("mov.u32 %r1, 1;", "ld.global.u32 %r1, [%rd1];"))
        row, env = "add-16x2-immediate", self.environment(self.old, self.middle, self.new, PTXOPT_OPTIONS="-v")

        def call(env, *arch):
            result = run([self.drop_in, *arch, faulty, "-o", self.out], env=env)
            return self.out.read_text().splitlines()[0], result.stderr.decode()
        got, said = call(env, "-arch=sm_90")
        self.checks.equal(got, self.new, "the old ones make wrong code of it")
        self.checks.check(f"{self.old} makes wrong code of it ({row})" in said and "warning" not in said, "-v says why, nothing warns", said)
        self.checks.equal(call(env, "-arch=sm_80")[0], self.old, "not for an architecture without the fault")
        for variable in ({"PTXOPT_PTXAS": self.old}, {"PTXAS": self.middle}):
            got, said = call({**env, **variable}, "-arch=sm_90")
            self.checks.equal(got, list(variable.values())[0], f"{variable}: the user's word")
            self.checks.equal(sum("warning" in line and row in line for line in said.splitlines()), 1, f"{variable}: one warning\n{said}")
            self.checks.check("'k', line 12: the constant" in said, f"{variable}: the place", said)
        said = call({**env, "PTXOPT_PTXAS": self.new}, "-arch=sm_90")[1]
        self.checks.check("warning" not in said, "a good one: no warning", said)
        result = run([self.tool, faulty, "-o", self.out], env={**env, "PTXOPT_GUARD": "auto", "PTXOPT_PTXAS": self.old})
        said = [line for line in result.stderr.decode().splitlines() if row in line]
        self.checks.check(len(said) == 1 and "warning" in said[0] and said[0].endswith("[guard]"), "the guard warns once", result.stderr.decode())
        # What is right before and not after: wide-multiply makes max.s32 of max.s64.
        brings = self.folder / "brings.ptx"
        brings.write_text(text.replace("%r<4>", "%r<9>").replace("%rd<2>", "%rd<9>").replace("mov.u32 %r1, 1;", "ld.global.u32 %r1, [%rd1];").replace(
            " ret;", " abs.s32 %r4, %r1;\n min.s32 %r5, %r4, %r3;\n cvt.s64.s32 %rd2, %r5;\n max.s64 %rd3, %rd2, 0;\n"
                     " cvt.u32.u64 %r6, %rd3;\n st.global.u32 [%rd1+8], %r6;\n ret;"))
        at125 = fake(self.folder / "at125" / "ptxas", {**OLD, "version": "12.5"})
        for ptxas, kept in ((at125, True), (self.new, False)):
            result = run([self.tool, "-v", brings, "-o", self.out], env={**env, "PTXOPT_GUARD": "auto", "PTXOPT_PTXAS": ptxas, "PTXOPT_OPTIONS": "-O2"})
            said = result.stderr.decode()
            self.checks.equal("k: kept as it was: known-bad abs-clamp" in said, kept, f"{ptxas}: a change that brings a fault\n{said}")
        if not os.path.exists("/usr/local/cuda/bin/ptxas"):
            got, said = call(self.environment(self.middle, self.old), "-arch=sm_90")
            self.checks.check(got == self.middle and row in said, "none is better: the first, and a warning", said)

    def by_form(self):
        """What the only ptxas would make wrong code of is given to it in another form, where one is known; otherwise it warns."""
        text = KERNEL.format("8.0").replace(" ret;", " setp.eq.s32 %p1, %r1, 7;\n @%p1 bra NEXT;\n trap;\nNEXT:\n ret;").replace(
            ".reg .b32", ".reg .pred %p<2>; .reg .b32").replace("mov.u32 %r1, 1;", "ld.global.u32 %r1, [%rd1];")
        source = self.folder / "trap.ptx"
        source.write_text(text)
        at122 = fake(self.folder / "at122" / "ptxas", {**OLD, "version": "12.2"})
        for ptxas, guard, form in ((at122, "ptxas", True), (at122, "off", False), (self.old, "ptxas", False)):
            env = self.environment(PTXOPT_PTXAS=ptxas, PTXOPT_OPTIONS=f"-v --guard={guard}")
            result = run([self.drop_in, "-arch=sm_80", source, "-o", self.out], env=env)
            name, got = self.out.read_text().split("\n", 1)
            said = result.stderr.decode()
            about = [line for line in said.splitlines() if "trap-falls-through" in line]
            self.checks.check(result.returncode == 0 and name == ptxas, f"{ptxas} {guard}", said)
            self.checks.equal("trap; exit;" in got, form, f"{ptxas} {guard}: the form\n{got}")
            warned = [line for line in about if "warning" in line]
            self.checks.equal(len(warned), int(ptxas == at122 and not form), f"{ptxas} {guard}: warnings\n{said}")
            self.checks.equal(any("written in another form" in line for line in about), form, f"{ptxas} {guard}: -v\n{said}")
        # Lines keep their numbers.
        self.checks.equal(len(got.splitlines()), len(text.splitlines()), "lines")
        report = self.folder / "report.json"
        env = self.environment(PTXOPT_PTXAS=at122, PTXOPT_GUARD="auto")
        run([self.tool, source, "-o", self.out, "--report", report], env=env)
        self.checks.equal(self.out.read_text().replace("trap; exit;", "trap;").count("exit"), 0, "once")
        self.checks.check(len(json.loads(report.read_text())["guard"]["avoided"]) == 1, "the report says so", report.read_text())
        run([self.tool, source, "-o", self.out, "-O0"], env=env)
        self.checks.equal(self.out.read_text(), text, "-O0")

    def by_option(self):
        """--strip-debug and --externals of $PTXOPT_OPTIONS."""
        source = self.folder / "debug.ptx"
        source.write_text(KERNEL.format("8.0").replace("sm_80\n", "sm_80, debug\n").replace(" mov.u32 %r1", " .loc 1 2 3\n mov.u32 %r1")
                          .replace(".visible", '.file 1 "k.cu"\n.visible') + ".section .debug_str\n{\n .b8 1\n}\n")
        for options, stripped in (("--strip-debug", True), ("", False)):
            run([self.drop_in, "-arch=sm_80", source, "-o", self.out], env=self.environment(PTXOPT_PTXAS=self.old, PTXOPT_OPTIONS=options))
            text = self.out.read_text()
            self.checks.equal([word in text for word in (".loc", ".file", "debug", "12345")], [not stripped] * 4, f"'{options}': {text}")
        run([self.drop_in, "-arch=sm_80", "-g", source, "-o", self.out], env=self.environment(PTXOPT_PTXAS=self.old, PTXOPT_OPTIONS="--strip-debug"))
        self.checks.check(".loc" in self.out.read_text(), "-g asks for debug information")
        source = self.folder / "optix.ptx"
        source.write_text(KERNEL.format("8.0").replace(" mov.u32 %r1, 1;", " call (%r1), _optix_get_launch_index_x, ();"))
        for options, taken in (("--externals=optix", True), ("--guard=off", True), ("--externals=none --guard=off", False)):
            run([self.drop_in, "-arch=sm_80", source, "-o", self.out], env=self.environment(PTXOPT_PTXAS=self.old, PTXOPT_OPTIONS=options))
            text = self.out.read_text()
            self.checks.check("_optix" in text and ("12345" not in text) == taken, f"{options}: {text}")
        said = run([self.drop_in, "-arch=sm_80", source, "-o", self.out],
                   env=self.environment(PTXOPT_PTXAS=self.old, PTXOPT_OPTIONS="--externals=cuda")).stderr.decode()
        self.checks.check("PTXOPT_OPTIONS: --externals" in said, "a mistake", said)

    def by_guard(self):
        """`ptxopt IN -o OUT`: what a script leaves is no cubin, so that nothing is compared; but the right one was asked."""
        env = {**self.environment(self.old, self.middle, self.new), "PTXOPT_GUARD": "auto"}
        for version, wanted in (("8.0", self.old), ("8.5", self.middle), ("9.0", self.new)):
            result = run([self.tool, "-v", self.folder / f"{version}.ptx", "-o", self.out], env=env)
            said = result.stderr.decode()
            self.checks.check(result.returncode == 0 and f"ptxas: {wanted} (PATH" in said, f"the guard, PTX {version}: -v says which", said)
            self.checks.check(f"{wanted}: no cubin that can be read" in said, f"the guard, PTX {version}: it is asked", said)
        result = run([self.tool, "-v", self.folder / "9.0.ptx", "-o", self.out, "--ptxas", self.old], env=env)
        self.checks.check(f"ptxas: {self.old} (--ptxas)" in result.stderr.decode(), "the guard: the user's word counts", result.stderr.decode())

    def by_word(self):
        for words in ({"PTXOPT_PTXAS": self.old}, {"PTXAS": self.old}, {"PTXOPT_PTXAS": self.old, "PTXAS": self.new},
                      {"PTXOPT_OPTIONS": f"--ptxas={self.old}"}):
            self.checks.equal(self.call("9.0", self.environment(self.new, **words))[0], 255, f"{words}: the user's word counts")
            self.checks.equal(self.call("8.0", self.environment(self.new, **words))[0], self.old, f"{words}: takes the file")
        env = self.environment(self.old, PTXOPT_PTXAS=self.middle)
        for before in (["--real", self.new], [f"--real={self.new}"]):
            self.checks.equal(self.call("9.0", env, before=before)[0], self.new, f"{before}")
            self.checks.equal(self.call("9.0", env, program=self.tool, before=["as", *before])[0], self.new, f"as {before}")
        result = run([self.drop_in, "--real"], env=env)
        self.checks.check(result.returncode == 2 and b"--real" in result.stderr, "--real without a path", result.stderr)
        home = self.folder / "home" / "bin" / "ptxas"
        fake(home, MIDDLE)
        env = self.environment(self.new, CUDA_HOME=home.parents[1])
        self.checks.equal([self.call(v, env)[0] for v in ("8.0", "9.0")], [str(home), self.new], "CUDA_HOME is a preference")

    def by_client(self):
        packages = self.folder / "packages"
        own = packages / "triton" / "backends" / "nvidia" / "bin"
        plain, second = fake(own / "ptxas", MIDDLE), fake(own / "ptxas-blackwell", NEW)
        links = {name: common.link_as(self.drop_in, self.folder / "links", name)
                 for name in ("ptxas", "ptxas-blackwell", "ptxopt-ptxas-blackwell", "ptxas-other")}
        both = {"TRITON_PTXAS_PATH": links["ptxas"], "TRITON_PTXAS_BLACKWELL_PATH": links["ptxas-blackwell"], "PYTHONPATH": packages}
        env = self.environment(self.old, **both)

        def version(link, environment, options=None):
            more = {"PTXOPT_OPTIONS": options} if options else {}
            return run([link, "--version"], env={**environment, **more}).stdout.decode().splitlines()

        self.checks.check("release 12.9" in version(links["ptxas"], env)[1], "Triton asks ptxas for its version")
        self.checks.check("release 13.4" in version(links["ptxas-blackwell"], env)[1], "... and ptxas-blackwell")
        lines = version(links["ptxas"], env)
        self.checks.check(len(lines) == 3 and lines[2].startswith("ptxopt "), "Triton's cache sees ptxopt", str(lines))
        self.checks.check(lines != version(links["ptxas"], env, "-O0"), "... and its options")
        result = run([links["ptxas"], "--version"], env={**env, "PTXOPT_OPTIONS": "-v"})
        self.checks.equal((result.returncode, result.stderr), (0, b""), "-v says nothing of a call without an input")
        self.checks.equal(len(version(links["ptxas"], self.environment(self.old))), 2, "another client gets the answer of ptxas alone")
        for link, ptx, wanted in (("ptxas", "8.5", plain), ("ptxas-blackwell", "8.5", second), ("ptxas", "9.0", second),
                                  ("ptxas-blackwell", "9.0", second)):
            self.checks.equal(self.call(ptx, env, program=links[link])[0], wanted, f"Triton's {link} with PTX {ptx}")
        # The variable says which one is meant, whatever we are called; where both name us, the name of the link.
        alone = self.environment(self.old, TRITON_PTXAS_BLACKWELL_PATH=self.drop_in, PYTHONPATH=packages)
        self.checks.equal(self.call("8.5", alone)[0], second, "only TRITON_PTXAS_BLACKWELL_PATH names us")
        same = self.environment(self.old, TRITON_PTXAS_PATH=self.drop_in, TRITON_PTXAS_BLACKWELL_PATH=self.drop_in, PYTHONPATH=packages)
        self.checks.equal([self.call(v, same)[0] for v in ("8.5", "9.0")], [plain, second], "one path for both")
        # No Triton: the name is searched, and plain ptxas after it; the one beside the link comes first.
        env = self.environment(self.old)
        self.checks.equal(self.call("8.0", env, program=links["ptxas-other"])[0], self.old, "a name that nobody has")
        fake(Path(self.old).with_name("ptxas-other"), MIDDLE)
        self.checks.equal(self.call("8.0", env, program=links["ptxas-other"])[0], str(Path(self.old).with_name("ptxas-other")), "a name on the PATH")
        beside = fake(self.folder / "links" / "ptxas-other.real", MIDDLE)
        self.checks.equal(self.call("8.0", env, program=links["ptxas-other"])[0], beside, "beside the link")
        # A Python environment is looked at last.
        wheel = fake(self.folder / "wheels" / "nvidia" / "cu13" / "bin" / "ptxas", NEW)
        env = self.environment(self.old, PYTHONPATH=Path(wheel).parents[3])
        if not os.path.exists("/usr/local/cuda/bin/ptxas"):
            self.checks.equal(self.call("9.0", env)[0], wheel, "a wheel where no other takes the file")
        self.checks.equal(self.call("8.0", env)[0], self.old, "no wheel where another takes the file")

    def configured(self):
        file = self.folder / "config.json"
        env = self.environment(self.new, PTXOPT_CONFIG=file)
        del env["PTXOPT_OPTIONS"]
        log = self.folder / "log.jsonl"
        file.write_text(json.dumps({"ptxas": self.middle, "options": "-O1 -v", "log": str(log)}))
        got, said = self.call("8.5", env)
        self.checks.equal(got, self.middle, "the file names the ptxas")
        self.checks.check("ptxas: " in said, "the file has options", said)
        record = json.loads(log.read_text().splitlines()[-1])
        self.checks.equal([record[k] for k in ("ptxas", "why", "architecture", "inputs", "changed")],
                          [self.middle, "PTXOPT_PTXAS", "sm_80", 1, 1], "the log")
        env["PTXOPT_OPTIONS"] = "-O1"
        self.checks.check("ptxas: " not in self.call("8.5", env)[1], "PTXOPT_OPTIONS counts before the file's")
        run([self.drop_in, "-g", "-arch=sm_80", self.folder / "8.5.ptx", "-o", self.out], env=env)
        record = json.loads(log.read_text().splitlines()[-1])
        self.checks.equal((record.get("not_optimized"), record["ptxas"]), ("debug code", self.middle), "the log: why nothing was optimized")
        self.checks.equal(self.call("8.5", {**env, "PTXOPT_PTXAS": self.new})[0], self.new, "a variable counts before the file")
        self.checks.equal(self.call("8.5", {**env, "PTXAS": self.new})[0], self.new, "so does PTXAS")
        at_home = self.folder / ".config" / "ptxopt" / "config.json"
        at_home.parent.mkdir(parents=True)
        at_home.write_text(json.dumps({"ptxas": self.middle}))
        usual = self.environment(self.new)
        del usual["PTXOPT_CONFIG"]
        usual.pop("XDG_CONFIG_HOME", None)
        self.checks.equal(self.call("8.5", usual)[0], self.middle, "~/.config/ptxopt/config.json")
        usual["XDG_CONFIG_HOME"] = str(self.folder / "nothing")
        self.checks.equal(self.call("8.5", usual)[0], self.new, "$XDG_CONFIG_HOME is looked at instead")
        for text, place, why in (('{\n  "ptxas": }', "2:12", "not JSON"), ('{"a": "b",\n "guard": "off"}', "1:2", "'a' is not a setting"),
                                 ('{\n "ptxas": 3}', "2:2", "'ptxas' is to be a string"), ("[]", "1:1", "not a JSON object"),
                                 ('{"cache_size": "3"}', "1:2", "'cache_size' is to be a whole number")):
            file.write_text(text)
            result = run([self.drop_in, "-arch=sm_80", self.folder / "8.5.ptx", "-o", self.out], env=env)
            said = result.stderr.decode()
            self.checks.check(result.returncode == 0 and f"{file}:{place}: error: " in said and why in said, f"{text!r}: a warning", said)
            self.checks.check("12345" in self.out.read_text(), f"{text!r}: the PTX as it was")
            result = run([self.tool, self.folder / "8.5.ptx", "-o", self.out], env=env)
            self.checks.check(result.returncode == 2 and f"{file}:{place}: error: " in result.stderr.decode(), f"{text!r}: ptxopt", result.stderr.decode())
        file.unlink()
        result = run([self.tool, self.folder / "8.5.ptx", "-o", self.out], env=env)
        self.checks.check(result.returncode == 2 and b"cannot be read" in result.stderr, "a file that is not there", result.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    tool = str(Path(parser.parse_args().tool).resolve())
    with tempfile.TemporaryDirectory() as name:
        choose = Choose(tool, Path(name).resolve())
        choose.by_file()
        choose.by_fault()
        choose.by_form()
        choose.by_option()
        choose.by_guard()
        choose.by_word()
        choose.by_client()
        choose.configured()
    return choose.checks.end()


if __name__ == "__main__":
    sys.exit(main())

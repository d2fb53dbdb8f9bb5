#!/usr/bin/env python3
"""The PTX that gcc makes of the loops which a C program gives to a device.

  gcc_offload.py GCC openacc|openmp sm_XX SOURCE OUT.ptx

Device code is made when a program is linked, by the compiler for nvptx that lto-wrapper calls. Of its temporary files the
one taken is what nvptx-none-as wrote: the program's functions in PTX, with declarations before uses, without the library.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

NEWEST = 80  # that gcc 12 has a name for
LIMIT = 120  # seconds


def device_compiler(gcc):
    """The path of gcc's own compiler for nvptx, or None."""
    machine, number = (subprocess.run([gcc, what], capture_output=True, text=True).stdout.strip()
                       for what in ("-dumpmachine", "-dumpversion"))
    return shutil.which(f"{machine}-accel-nvptx-none-gcc-{number.split('.')[0]}")


def device_code(gcc, language, arch, source, folder):
    number = min(int(re.search(r"\d+", arch)[0]), NEWEST)
    command = [gcc, "-O2", f"-f{language}", "-foffload=nvptx-none", f"-foffload-options=nvptx-none=-misa=sm_{number}",
               "-save-temps", "-shared", "-fPIC", os.path.abspath(source), "-o", "a.so"]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=LIMIT)
    found = [name for name in os.listdir(folder) if name.endswith("mkoffload.o")]
    if result.returncode or not found:
        sys.exit(f"error: {' '.join(command)}: {result.stderr or 'no code for a device'}")
    with open(os.path.join(folder, found[0]), encoding="utf-8") as file:
        return file.read()


def main():
    gcc, language, arch, source, out = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        text = device_code(gcc, language, arch, source, folder)
    with open(out, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()

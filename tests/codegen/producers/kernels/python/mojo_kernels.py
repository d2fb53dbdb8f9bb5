"""The kernels of ../mojo:  mojo_kernels.py KERNEL CAPABILITY OUT.ptx  compiles them, without a GPU; --list names them."""
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "mojo" / "kernels.mojo"


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(re.findall(r"enqueue_function\[(\w+)\]", SOURCE.read_text())))
        return
    name, capability, out = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        command = [Path(sys.executable).with_name("mojo"), "build", "--emit", "asm", "--target-accelerator", f"sm_{capability}", SOURCE, "-o",
                   f"{folder}/host.s"]
        subprocess.run(command, check=True)
        made = list(Path(folder).glob(f"*_{name}_*.ptx"))  # a file for each kernel, beside that of the host
        if len(made) != 1:
            sys.exit(f"mojo made {made} of {name}")
        shutil.copy(made[0], out)


main()

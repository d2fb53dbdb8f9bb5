"""Several ptxas: those below a folder, or those of the packages nvidia-cuda-nvcc and nvidia-cuda-nvcc-cu12 on PyPI, one for
each release of CUDA.

Of a package only ptxas is kept, under $PTXOPT_TEST_CACHE, else ~/.cache/ptxopt-tests: 35 MB each, 0.5 GB for all.
"""
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from toolkit import newest_ptx

# Every release with a package of its own. There is no 12.7.
RELEASES = {**{f"12.{minor}": "nvidia-cuda-nvcc-cu12" for minor in (0, 1, 2, 3, 4, 5, 6, 8, 9)},
            **{f"13.{minor}": "nvidia-cuda-nvcc" for minor in range(6)}}
DOWNLOAD_LIMIT = 900  # seconds


@dataclass
class Toolchain:
    path: str
    build: str  # 13.0.88
    newest: tuple  # version of PTX, (9, 0)
    architectures: list  # that it makes code for: "sm_75", "sm_90a"

    def ptx(self):
        return "{}.{}".format(*self.newest)


class Unavailable(Exception):
    """A package that cannot be had; str() is why."""


def toolchain(path):
    """What a ptxas says of itself; None for a program that does not answer as ptxas does."""
    try:
        said = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=60).stdout
        build = re.search(r"release [\d.]+, V([\d.]+)", said)
        about = subprocess.run([path, "--help"], capture_output=True, text=True, timeout=60).stdout
        names = set(re.findall(r"'(sm_\d+[af]?)'", about))
        return Toolchain(str(path), build[1], newest_ptx(str(path)), sorted(names, key=order_of)) if build else None
    except (OSError, RuntimeError, subprocess.SubprocessError):
        return None


def order_of(arch):
    number, suffix = re.match(r"sm_(\d+)([af]?)", arch).groups()
    return int(number), suffix


def below(folder):
    """One of each build, the oldest first."""
    found = (toolchain(path.resolve()) for path in sorted(Path(folder).rglob("ptxas")) if path.is_file() and os.access(path, os.X_OK))
    builds = {t.build: t for t in found if t}
    return sorted(builds.values(), key=lambda t: [int(n) for n in t.build.split(".")])


def downloaded(releases):
    """The folder that has the ptxas of these releases, each in a folder of its own, as RELEASE/ptxas."""
    cache = Path(os.environ.get("PTXOPT_TEST_CACHE", Path.home() / ".cache" / "ptxopt-tests")) / "toolchains"
    for release in releases:
        target = cache / release / "ptxas"
        if not target.exists():
            download(release, target)
    return cache


def download(release, target):
    if release not in RELEASES:
        raise Unavailable(f"there is no package of CUDA {release}; there are {', '.join(RELEASES)}")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder, f"{RELEASES[release]}=={release}.*"]
        result = subprocess.run(command, capture_output=True, text=True, timeout=DOWNLOAD_LIMIT)
        wheels = list(Path(folder).glob("*.whl"))
        if result.returncode or not wheels:
            lines = result.stderr.strip().splitlines() or ["pip says nothing"]
            raise Unavailable(f"CUDA {release}: {lines[-1]}")
        with zipfile.ZipFile(wheels[0]) as wheel:
            name = next((n for n in wheel.namelist() if n.endswith("/bin/ptxas")), None)
            if not name:
                raise Unavailable(f"CUDA {release}: the package has no ptxas")
            part = Path(folder) / "ptxas"
            part.write_bytes(wheel.read(name))
        part.chmod(0o755)
        part.rename(target)

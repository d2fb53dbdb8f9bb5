"""Where ptxas is: $PTXAS, then that of the PATH, then that of /usr/local/cuda/bin. And which version of PTX it takes."""
import functools
import os
import re
import shutil
import subprocess

INSTALLED = "/usr/local/cuda/bin/ptxas"


def first_there(*candidates):
    return next((path for path in candidates if path and os.path.exists(path)), None)


def find_ptxas():
    return first_there(os.environ.get("PTXAS"), shutil.which("ptxas"), INSTALLED)


def real_ptxas():
    """The program itself, not a script in front of it on the PATH: scripts may look at their name."""
    return first_there(os.environ.get("PTXAS"), INSTALLED, shutil.which("ptxas"))


@functools.lru_cache
def newest_ptx(ptxas):
    """The newest version of PTX that a ptxas takes, (9, 0) for 13.0: it says so where it is given a newer one."""
    told = subprocess.run([ptxas, "-o", os.devnull, "-"], input=".version 99.9\n.target sm_90\n", capture_output=True, text=True)
    said = re.search(r"current version is '(\d+)\.(\d+)'", told.stdout + told.stderr)
    if not said:
        raise RuntimeError(f"{ptxas} does not say which version of PTX it takes: {(told.stdout + told.stderr)[:300]}")
    return int(said[1]), int(said[2])


def needed_ptx(text):
    """The version of PTX that a text says it is in."""
    said = re.search(r"^\s*\.version\s+(\d+)\.(\d+)", text, re.M)
    return (int(said[1]), int(said[2])) if said else (0, 0)

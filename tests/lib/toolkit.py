"""Where ptxas is: $PTXAS, then that of the PATH, then that of /usr/local/cuda/bin."""
import os
import shutil

INSTALLED = "/usr/local/cuda/bin/ptxas"


def first_there(*candidates):
    return next((path for path in candidates if path and os.path.exists(path)), None)


def find_ptxas():
    return first_there(os.environ.get("PTXAS"), shutil.which("ptxas"), INSTALLED)


def real_ptxas():
    """The program itself, not a script in front of it on the PATH: scripts may look at their name."""
    return first_there(os.environ.get("PTXAS"), INSTALLED, shutil.which("ptxas"))

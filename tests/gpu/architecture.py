"""Which of the architectures in a folder a device runs."""
import re


class NoImage(Exception):
    """The folder has nothing for the device; str() is what it has."""


def number(architecture):
    """(8, 0) of sm_80 and (9, 0) of sm_90a."""
    digits = re.sub(r"\D", "", architecture)
    return int(digits[:-1]), int(digits[-1])


def choose(capability, architectures, load):
    """Machine code runs on its own major version, from its minor version on, and with a letter on its own device only. PTX
    runs on every device from its architecture on. The newest of these is taken."""
    major, minor = capability
    fits = []
    for architecture in architectures:
        own = number(architecture)
        exact = own == (major, minor)
        if architecture[-1].isalpha() and architecture[-1] != "f" and not exact:
            continue
        if load == "cubin" and own[0] == major and own[1] <= minor or load == "ptx" and own <= (major, minor):
            fits.append((own, architecture))
    if not fits:
        raise NoImage(f"the device has compute capability {major}.{minor}, the folder {load} of {', '.join(architectures)}")
    return max(fits)[1]

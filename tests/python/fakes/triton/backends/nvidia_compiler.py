import functools
import os
import subprocess
import tempfile
from types import SimpleNamespace

import fake_settings
from triton import knobs

_OLD = os.environ.get("FAKE_TRITON", "3.9.0") < "3.4"
_UNOPTIMIZED = (lambda: os.environ.get("DISABLE_PTXAS_OPT") == "1") if _OLD else (lambda: knobs.nvidia.disable_ptxas_opt)
if _OLD:
    del knobs


def _ptxas():
    return fake_settings.ptxas


class CUDABackend:
    target = SimpleNamespace(arch=80)

    def make_ptx(self, source, metadata):
        metadata["name"] = "softmax"
        return fake_settings.ptx

    def make_cubin(self, source, metadata):
        """Leaves its files where ptxas fails, as the real one does. `metadata["log"]` is for the test."""
        with tempfile.NamedTemporaryFile(delete=False, mode="w", suffix=".ptx") as text, \
                tempfile.NamedTemporaryFile(delete=False, mode="r", suffix=".log") as log:
            text.write(source)
            text.flush()
            output = text.name + ".o"
            plain = ["--opt-level", "0"] if _UNOPTIMIZED() else []
            more = fake_settings.ptx_options.split(" ") if fake_settings.ptx_options else []
            subprocess.run([_ptxas(), "-lineinfo", "-v", *plain, *more, "--gpu-name=sm_80", text.name, "-o", output], check=True,
                           close_fds=False, stderr=log)
            with open(log.name) as said:
                metadata["log"] = said.read()
            os.remove(text.name)
            os.remove(log.name)
            with open(output, "rb") as made:
                cubin = made.read()
            os.remove(output)
        return cubin

    def add_stages(self, stages, options, language=None):
        stages["ptx"] = lambda source, metadata: self.make_ptx(source, metadata)
        stages["cubin"] = lambda source, metadata: self.make_cubin(source, metadata)
        if not _OLD and knobs.runtime.add_stages_inspection_hook is not None:
            knobs.runtime.add_stages_inspection_hook(self, stages, options, language, 80)

    @functools.lru_cache()
    def hash(self):
        return "ptxas 1.0-80"

import functools
import os
from types import SimpleNamespace

import fake_settings
from triton import knobs

_OLD = os.environ.get("FAKE_TRITON", "3.9.0") < "3.4"
if _OLD:
    del knobs


if _OLD:
    def _path_to_binary(binary):
        return fake_settings.ptxas, "12.4"
else:
    def get_ptxas(arch):
        return SimpleNamespace(path=fake_settings.ptxas)


class CUDABackend:
    target = SimpleNamespace(arch=80)

    def make_ptx(self, source, metadata):
        metadata["name"] = "softmax"
        return fake_settings.ptx

    def add_stages(self, stages, options, language=None):
        stages["ptx"] = lambda source, metadata: self.make_ptx(source, metadata)
        stages["cubin"] = lambda source, metadata: source
        if not _OLD and knobs.runtime.add_stages_inspection_hook is not None:
            knobs.runtime.add_stages_inspection_hook(self, stages, options, language, 80)

    @functools.lru_cache()
    def hash(self):
        return "ptxas 1.0-80"

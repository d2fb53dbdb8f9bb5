"""numba-cuda's library of code as far as its hook sees it."""
from types import SimpleNamespace

import fake_settings


class _Linker:
    info_log = ""

    def __init__(self, max_registers=0, cc=None, lto=False):
        self.lto, self.ptx = lto, None

    def add_ptx(self, ptx):
        self.ptx = ptx.decode()

    def complete(self):
        return "linked", self.lto, self.ptx


driver = SimpleNamespace(_Linker=_Linker)


class CUDACodeLibrary:
    needs_cudadevrt = False
    _max_registers = None
    _name = "library"

    def __init__(self, lto=False, debug=False, files=()):
        self._lto, self._linking_files = lto, files
        self._nvvm_options = {"g": None} if debug else {}
        self._ptx_cache, self._cubin_cache, self._linkerinfo_cache = {}, {}, {}

    def _ensure_cc(self, cc):
        return cc or (8, 0)

    def get_asm_strs(self, cc=None):
        return self._ptx_cache.setdefault(self._ensure_cc(cc), [fake_settings.ptx])

    def get_lto_ptx(self, cc=None):
        return fake_settings.ptx + "\x00"

    def get_cubin(self, cc=None):
        return driver._Linker(lto=self._lto).complete()

"""The hook for numba-cuda 0.24 to 0.30: the PTX between NVVM and the linker is optimized.

    import ptxopt.numba
    ptxopt.numba.install()

CUDACodeLibrary.get_asm_strs makes that PTX, for kernels and for cuda.compile_ptx. With link-time optimization, which
numba-cuda uses where there is nvJitLink, PTX is there only after linking: get_cubin then links to PTX, and assembles the
optimized text, unless other files are linked. Numba's cache on disk keeps what was compiled with other versions or
options of ptxopt apart.
"""
from __future__ import annotations

import sys
from typing import Any, Callable, List, Optional, Tuple

from . import _hooks
from ._client import Client
from ._hooks import Stats

LEAST, MOST = (0, 24), (0, 30)
_CODEGEN, _DISPATCHER = "numba.cuda.codegen", "numba.cuda.dispatcher"
_client = Client()


def install(*, table: Optional[bool] = None, **options: Any) -> None:
    """Installs the hook; `options` are those of ptxopt.optimize. `table`: print what changed when the process ends."""
    _client.install({_CODEGEN: _patch_codegen, _DISPATCHER: _patch_cache}, options, table)


def uninstall() -> None:
    """Leaves Numba as it was."""
    _client.uninstall()


def stats() -> Stats:
    return _hooks.stats("numba")


def _knows() -> bool:
    package = sys.modules.get("numba_cuda")
    if package is None:
        _hooks.say_once("Numba without the package numba-cuda is not known: nothing is optimized")
        return False
    return _client.wanted and _hooks.knows("numba-cuda", package, LEAST, MOST)


def _patch_codegen(module: Any) -> None:
    library = getattr(module, "CUDACodeLibrary", None)
    if not _knows():
        return
    if not hasattr(library, "get_asm_strs"):
        _hooks.say_once("numba-cuda has no CUDACodeLibrary.get_asm_strs: nothing is optimized")
        return
    _client.patches.wrap(library, "get_asm_strs", _asm_strs)
    if hasattr(library, "get_lto_ptx"):
        _client.patches.wrap(library, "get_cubin", lambda original: _cubin(original, module))


def _asm_strs(original: Callable[..., List[str]]) -> Callable[..., List[str]]:
    def get_asm_strs(self: Any, cc: Any = None) -> List[str]:
        cc = self._ensure_cc(cc)
        if self._ptx_cache.get(cc):
            return original(self, cc=cc)
        made = original(self, cc=cc)
        if "g" in self._nvvm_options:  # compiled for a debugger
            return made
        self._ptx_cache[cc] = [_hooks.optimized("numba", ptx, name=self._name) for ptx in made]
        return self._ptx_cache[cc]
    return get_asm_strs


def _cubin(original: Callable[..., bytes], module: Any) -> Callable[..., bytes]:
    def get_cubin(self: Any, cc: Any = None) -> bytes:
        cc = self._ensure_cc(cc)
        if not self._lto or self._cubin_cache.get(cc) or self._linking_files or self.needs_cudadevrt:
            return original(self, cc=cc)
        try:
            ptx = self.get_lto_ptx(cc=cc).strip("\x00")
        except Exception as error:
            _hooks.say_once(f"Numba's linker makes no PTX, so nothing is optimized: {error}")
            return original(self, cc=cc)
        better = _hooks.optimized("numba", ptx, name=self._name)
        if better == ptx:
            return original(self, cc=cc)
        linker = module.driver._Linker(max_registers=self._max_registers, cc=cc, lto=False)
        linker.add_ptx(better.encode())
        self._cubin_cache[cc] = linker.complete()
        self._linkerinfo_cache[cc] = linker.info_log
        return self._cubin_cache[cc]
    return get_cubin


def _patch_cache(module: Any) -> None:
    cache = getattr(module, "CUDACache", None)
    if _knows() and hasattr(cache, "_index_key"):
        def with_key(original: Callable[..., Tuple[Any, ...]]) -> Callable[..., Tuple[Any, ...]]:
            def _index_key(self: Any, *arguments: Any, **named: Any) -> Tuple[Any, ...]:
                return (*original(self, *arguments, **named), _client.key)
            return _index_key
        _client.patches.wrap(cache, "_index_key", with_key)

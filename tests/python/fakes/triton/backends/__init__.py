"""Before 3.4 the modules of backends are loaded by their paths, and sys.modules does not have them."""
import importlib.util
import os
from types import SimpleNamespace

_path = os.path.join(os.path.dirname(__file__), "nvidia_compiler.py")
_spec = importlib.util.spec_from_file_location("nvidia", _path)
_module = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_module)
backends = {"nvidia": SimpleNamespace(compiler=_module.CUDABackend)}

"""TileLang as far as its hook sees it."""
__version__ = "0.1.15"
from .cache import binary_cache, kernel_cache  # noqa: E402,F401
from .contrib import nvcc  # noqa: E402,F401
from .jit.adapter import libgen  # noqa: E402,F401

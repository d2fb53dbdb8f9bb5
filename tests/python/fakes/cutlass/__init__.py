"""CuTe DSL as far as its hook sees it."""
__version__ = "4.8.1"
from ._mlir import ir  # noqa: E402,F401
from .base_dsl import compiler, dsl  # noqa: E402,F401

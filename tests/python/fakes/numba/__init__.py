import numba_cuda  # noqa: F401

from . import build  # noqa: F401

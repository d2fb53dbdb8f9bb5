"""Triton as far as its hook sees it, of the version $FAKE_TRITON."""
import os

__version__ = os.environ.get("FAKE_TRITON") or "3.9.0"
from . import backends  # noqa: E402,F401

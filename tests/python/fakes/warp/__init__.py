from . import config  # noqa: F401
from ._src import context  # noqa: F401

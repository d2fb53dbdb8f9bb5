"""Attributes, types, and operations that hold constants."""
import contextlib
from types import SimpleNamespace


class StringAttr:
    @staticmethod
    def get(code):
        return SimpleNamespace(value_bytes=code)


class Type:
    parse = staticmethod(str)


class TypeAttr:
    get = staticmethod(str)


def constant(code):
    operation = SimpleNamespace(name="llvm.mlir.global", context=contextlib.nullcontext(), location=contextlib.nullcontext(),
                                attributes={"value": StringAttr.get(code), "global_type": f"!llvm.array<{len(code)} x i8>"})
    return SimpleNamespace(operation=operation)

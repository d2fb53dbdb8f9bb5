import re
from types import SimpleNamespace

import fake_settings
from cutlass._mlir.ir import constant

BINARY = b"\x50\xed\x55\xba, a file of several"


class Compiler:
    def compile(self, module, pipeline, arch="", *, remark_filter=""):
        """`module` says how many binaries there are."""
        for kind, content in (("ptx", fake_settings.ptx), ("cubin", "theirs")):
            path = re.search(rf"dump-{kind}-path='([^']*)'", pipeline)
            if path:
                with open(f"{path[1]}.sm_80.{kind}", "w", encoding="utf-8") as file:
                    file.write(content)
        function = SimpleNamespace(operation=SimpleNamespace(name="llvm.func", attributes={}))
        return SimpleNamespace(body=SimpleNamespace(operations=[function, constant(b"text")] + module * [constant(BINARY)]))

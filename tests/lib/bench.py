"""What ptxopt makes of texts, and ptxas of these; each is asked once about a text.

Texts lie in the work folder under their hash, so that what did not change is not optimized or assembled again.
"""
import json
import os

from code_figures import fingerprint_of
from compilers import digest, first_line, read, run, write

LIMIT = 300  # seconds


class Refused(Exception):
    """ptxopt or ptxas refuses a text; str() is what it says."""


class Bench:
    def __init__(self, tool, work, toolchain):
        self.tool, self.work, self.toolchain = os.path.abspath(tool), work, toolchain
        self.tool_key = digest(read(self.tool))
        os.environ["PTXAS"] = toolchain.path  # which machine_code asks
        os.environ["PTXOPT_CACHE_DIR"] = os.path.join(work, "cache")  # `baseline` and the guard ask the same
        for folder in ("texts", "figures"):
            os.makedirs(os.path.join(work, folder), exist_ok=True)

    def stored(self, text):
        data = text.encode("latin-1")
        path = os.path.join(self.work, "texts", digest(data) + ".ptx")
        if not os.path.exists(path):
            write(path, data)
        return path

    def made(self, source, *options):
        """The path of what ptxopt makes of a file."""
        output = os.path.join(self.work, "texts", digest(read(source), self.tool_key, *options) + ".ptx")
        if not os.path.exists(output):
            result = run([self.tool, source, "-o", output, *options], LIMIT)
            if result.returncode:
                raise Refused(f"ptxopt ends with status {result.returncode}: {first_line(result.stderr)}")
        return output

    def code(self, path, arch):
        return fingerprint_of(path, arch, self.work, self.toolchain.build)

    def figures(self, path, arch):
        """kernel -> its figures, as `ptxopt baseline` counts them."""
        kept = os.path.join(self.work, "figures", digest(read(path), arch, self.toolchain.build, self.tool_key) + ".json")
        if not os.path.exists(kept):
            result = run([self.tool, "baseline", path, "-o", kept, "--arch", arch, "--ptxas", self.toolchain.path, "-j", "1"], LIMIT)
            if result.returncode:
                raise Refused(first_line(result.stderr))
        rows = json.loads(read(kept))["units"][0]["functions"]
        return {row["name"]: row for row in rows}

    def times(self, path, arch):
        """kernel -> its regions, as `ptxopt time` has them."""
        kept = os.path.join(self.work, "figures", digest(read(path), arch, self.toolchain.build, self.tool_key) + ".time.json")
        if not os.path.exists(kept):
            result = run([self.tool, "time", path, "-o", kept, "--format", "json", "--arch", arch, "--ptxas", self.toolchain.path], LIMIT)
            if result.returncode:
                raise Refused(first_line(result.stderr))
        return {row["name"]: row["regions"] for row in json.loads(read(kept))["functions"] if row["kind"] == "entry"}

"""docs/ci.md: each recipe runs, line by line, and ends as the page says."""
import os
import re
import subprocess
import sys

from files import kernel, module
from support import ROOT, Suite, check

sys.path.insert(0, str(ROOT / "tests/lib"))
from containers import PTX, elf, fat  # noqa: E402

RECIPE = re.compile(r"<!-- recipe: (\d) -->\n((?: {4}.+\n)+)")


class Recipes(Suite):
    def test_recipes(self):
        ptxas = self.ptxas()
        page = (ROOT / "docs/ci.md").read_text(encoding="utf-8")
        bodies = {"old": (kernel("saxpy"), kernel("gemm_tiles")), "new": (kernel("axpy"), kernel("gemm_tiles", 60, ".maxnreg 24"))}
        for side, kernels in bodies.items():
            self.write(f"{side}/a.ptx", module(*kernels))
            self.write(f"lib{side}.so", elf({".nv_fatbin": fat((PTX, 80, module(*kernels).encode()))}, 3))
        self.write("broken.ptx", module(kernel("k")).replace("ret;", "add.s32 %rd1, %rd1, 1; ret;", 1))
        (self.folder / "bin").mkdir()
        (self.folder / "bin/ptxopt").symlink_to(self.tool)
        env = {**os.environ, "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}", "PTXOPT_PTXAS": ptxas}
        recipes = RECIPE.findall(page)
        check(len(recipes) >= 12 and len(re.findall("^    (?:[A-Z_]+=[A-Z]+ )?ptxopt ", page, re.M)) == page.count("<!-- recipe") + sum(block.count("\n") - 1 for _, block in recipes),
              "a recipe that is not run")
        for status, block in recipes:
            lines = block.strip().split("\n")
            check(len(lines) <= 2, f"more than two commands: {block}")
            for n, line in enumerate(lines):
                run = subprocess.run(["bash", "-c", re.sub(r"(?<!_)PTXAS", ptxas, line)], cwd=self.folder, env=env, capture_output=True, text=True, timeout=120)
                wanted = int(status) if n + 1 == len(lines) else 0
                check(run.returncode == wanted, f"{line.strip()}: {run.returncode} instead of {wanted}: {run.stdout}{run.stderr}")
                check((run.stdout + run.stderr).strip() or "-o " in line, f"{line.strip()}: says nothing")

"""What the tests of `ptxopt diff` share: running the tool, made baselines, checks of what it writes."""
import json
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lib"))
from checking import Failure, Skipped, check  # noqa: E402, F401
from toolkit import find_ptxas  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]
MARK = "<!-- ptxopt-diff -->"

try:
    import jsonschema
except ImportError:
    jsonschema = None


def validate(document, name):
    if jsonschema is None:
        return
    schema = json.loads((ROOT / "schemas" / f"{name}.schema.json").read_text())
    errors = list(jsonschema.Draft202012Validator(schema).iter_errors(document))
    check(not errors, f"{name}: not what the schema says: {[e.message for e in errors[:3]]}")


def function(name, kind="entry", **figures):
    f = {"name": name, "kind": kind, "registers": 32, "spill-stores": 0, "spill-loads": 0, "stack": 0, "shared": 0,
         "constant": 380, "barriers": 0, "threads": 0, "instructions": 200, "inner": 50, "inner-loops": 1, "warps": 64}
    assert not figures.keys() - {k.replace("-", "_") for k in f} - {"notes", "code", "code_parts", "compile_time"}, figures
    f.update({key.replace("_", "-"): value for key, value in figures.items()})
    if kind == "func":
        f["warps"] = 0
    return f


class Side:
    """A baseline in the making."""

    def __init__(self, ptxas="V13.0.88"):
        self.document = {"format": "ptxopt-baseline", "version": 1, "ptxas": ptxas, "ptxas-options": [], "units": []}

    def unit(self, file, *functions, architecture="sm_80"):
        self.document["units"].append({"file": file, "architecture": architecture, "functions": list(functions)})
        return self


class Suite:
    """Methods called test_... are tests; each has a folder of its own."""

    def __init__(self, tool, folder):
        self.tool, self.folder = str(Path(tool).resolve()), folder

    def model(self, architecture="sm_80"):
        """The digest of the model of time, which no command says without machine code: of a cubin's baseline."""
        program = find_ptxas()
        if not program:
            raise Skipped("there is no ptxas")
        source = self.write("model/k.ptx", f".version 7.0\n.target {architecture}\n.address_size 64\n.visible .entry k() {{ ret; }}\n")
        return json.loads(self.run("baseline", source, "-o", "-").stdout)["units"][0]["functions"][0]["cycles"]["model"]

    def ptxas(self):
        program = find_ptxas()
        if not program:
            raise Skipped("there is no ptxas")
        return program

    def write(self, name, content, mode=None):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Side):
            validate(content.document, "baseline")
            content = json.dumps(content.document)
        path.write_bytes(content) if isinstance(content, bytes) else path.write_text(content)
        if mode:
            path.chmod(mode)
        return path

    def run(self, *arguments, status=0, env=None):
        run = subprocess.run([self.tool, *map(str, arguments)], capture_output=True, text=True, timeout=120,
                             stdin=subprocess.DEVNULL, env=env)
        check(run.returncode == status, f"exit status {run.returncode} instead of {status}\n{run.stdout}{run.stderr}")
        check("\x1b" not in run.stdout + run.stderr, "colours where there is no terminal")
        return run

    def diff(self, before, after, *options, status=0, env=None):
        """Runs it once for all formats and returns the JSON, with .text, .markdown, .junit and .stderr on the side."""
        paths = []
        for name, side in (("before.json", before), ("after.json", after)):
            paths.append(self.write(name, side) if isinstance(side, Side) else side)
        outputs = {name: self.folder / f"out.{name}" for name in ("json", "markdown", "junit", "html")}
        for path in outputs.values():
            path.unlink(missing_ok=True)
        run = self.run("diff", *paths, *options, *(x for name, path in outputs.items() for x in (f"--{name}", path)),
                       status=status, env=env)
        result = Outcome(json.loads(outputs["json"].read_text()))
        result.text, result.stderr = run.stdout, run.stderr
        result.markdown = outputs["markdown"].read_text()
        result.junit = ElementTree.fromstring(outputs["junit"].read_text())
        result.page = page_data(outputs["html"].read_text())
        self.check_agreement(result, status)
        return result

    def check_agreement(self, result, status):
        """What must hold of any comparison: schema, and formats that say the same."""
        validate(dict(result), "diff")
        check(result["verdict"] == ["ok", "regression", "not-compared"][status], result["verdict"])
        functions, suites = result["functions"], result.junit
        cases = suites.findall("testsuite/testcase")
        failing = [f for f in functions if f["change"] == "regression"]
        check(int(suites.get("tests")) == len(cases) == len(functions) + len(result["problems"]), "test cases")
        check(int(suites.get("failures")) == len(suites.findall(".//failure")) == len(failing), "failures")
        check(int(suites.get("errors")) == len(suites.findall(".//error")) == len(result["problems"]), "errors")
        check((status == 2) == bool(result["problems"]), "exit status 2 without a reason")
        check(status == 0 or failing or result["problems"], "an exit status without a reason")
        check(result.markdown.startswith(f"{MARK}\n### {'✅' if status == 0 else '❌'} ptxopt diff: "), result.markdown[:99])
        order = ["regression", "worse", "missing", "better", "new", "other-code", "same"]
        ranks = [order.index(f["change"]) for f in functions]
        check(ranks == sorted(ranks), f"order of {ranks}")
        kernels = [f["change"] for f in functions if f["kind"] == "entry"]
        counts = result["summary"]["kernels"]
        check(all(counts[c] == kernels.count(c) for c in order), f"{counts} of {kernels}")
        rows, words = result.page["rows"], {"limit": "regression"}
        check([r["mangled"] for r in rows] == [f["name"] for f in functions], "rows of the page")
        for row, f in zip(rows, functions):
            missing = row["change"] == "missing" and f["change"] == "regression"
            check(missing or words.get(row["change"], row["change"]) == f["change"], f"the page says {row['change']} of {f}")
            for side, at in (("before", 0), ("after", 1)):
                figures = dict(zip((head["name"] for head in result.page["figures"]), (pair[at] for pair in row["figures"])))
                for name, head in (("registers", "registers"), ("instructions", "instructions"), ("shared", "shared")):
                    wanted = f[side] and f[side][name]
                    check(figures[head] == wanted or (figures[head] is None and not wanted), f"the page has {head} {figures[head]} {side} of {f}")
        check(result.page["verdict"] == result["verdict"] and len(result.page["problems"]) >= len(result["problems"]), "verdict of the page")
        junit = ElementTree.tostring(suites, encoding="unicode")
        for f in functions:
            for note in f["new-notes"]:
                check(all(note["id"] in text for text in (result.text, result.markdown, junit)), f"{note} is not in all formats")
            for breach in f["breaches"]:
                said = f"{breach['figure']} {breach['value']} (limit"
                check(all(said in text for text in (result.text.replace("\n    ", " "), result.markdown, junit)), f"{breach} is not in all formats")
            if f["decided-by"] and f["change"] in ("better", "worse") and len(functions) < 10:
                by = f"by {f['decided-by']['measure']}"
                check(all(by in text for text in (result.text, result.markdown, junit)), f"{by} is not in all formats")
        for problem in result["problems"]:
            check(problem["message"].split("\n")[0][:60] in result.stderr or len(result["problems"]) > 20, result.stderr)


def page_data(html):
    """What the page was given."""
    found = re.search(r'<script type="application/json" id="data">([^<]*)</script>', html)
    frame = html.replace(found[1], "").replace("http://www.w3.org/2000/svg", "")
    check("://" not in frame and "src=" not in frame and "@import" not in frame, "the page loads something")
    return json.loads(found[1])


class Outcome(dict):
    def change(self, name):
        """Of the only function of this name."""
        found = [f["change"] for f in self["functions"] if f["name"] == name]
        check(len(found) == 1, f"{len(found)} rows for {name}: {self['functions']}")
        return found[0]

    def row(self, name):
        self.change(name)
        return next(f for f in self["functions"] if f["name"] == name)


def html_of(markdown):
    """As GitHub shows it; its own program, where it is installed."""
    program = shutil.which("cmark-gfm")
    if not program:
        raise Skipped("there is no cmark-gfm")
    return subprocess.run([program, "--unsafe", "-e", "table", "-e", "tagfilter"], input=markdown, capture_output=True,
                          text=True, check=True, timeout=60).stdout


def cells_of(html):
    """The rows of all tables, as text."""
    rows = re.findall(r"<tr>(.*?)</tr>", html, re.S)
    return [[re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S)] for row in rows]

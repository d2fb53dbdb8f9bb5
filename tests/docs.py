#!/usr/bin/env python3
"""The documentation is what the tool and the tree are.

  tests/docs.py --tool PATH [--update] [--self-test]

Pages: README.md and the other pages of the root, docs/, tests/README.md, and the READMEs of samples/ and of the corpus.

  tables    between `<!-- NAME -->` and `<!-- /NAME -->` a page has what the tool lists, or what a .def file declares: see
            TABLES. --update writes them
  options   every --option named in code is one that the command on that line declares to its parser, as the completion of
            shells lists them; named alone, one of any command, or of a script that the page names; options of other
            programs stand in FOREIGN
  paths     every path and file name in code exists; a script that is run with arguments is executable
  links     every relative link leads to a file, and its anchor to a heading
  openings  a page of docs/ begins with who needs it and what for: a paragraph "For READERS: PURPOSE"
  markdown  the rows of a table have as many cells as its head, and every block of code ends
  hashes    every revision that a page names is in the history; left out where there is no whole history
  measured  the index of docs/results names the revision at which each page says that it was measured
  versions  CMake, the changelog, the citation and the pages name one version
  README    at most 100 lines; its first block of commands names samples/run.sh; docs/README.md names every subcommand
  subjects  docs/passes.md has a heading for every pass, docs/dumps.md a row for every dump, tests/README.md names every
            folder of tests/, a row of docs/seeds.md its code and its test
  words     no word of tests/lib/words.py outside of code and quotations, and no sentence of more than 35 words outside of
            code and tables. Generated tables have the words of the sources, which tests/sources.py holds

--self-test plants a mistake of each kind into the pages, in memory, and fails if one is not found.
"""
import argparse
import ast
import difflib
import functools
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/lib"))
from words import WORDS, faults_of_page  # noqa: E402
GROUPS = {"inputs", "semantics", "codegen", "cli"}  # folders of tests/ that have a folder for each kind
PAGES = ["*.md", "docs/**/*.md", "tests/README.md", "tests/inputs/syntax/README.md", "samples/**/*.md"]
FIRST_COMMAND = "samples/run.sh"
MOST_LINES = 100

# Programs whose options are not ours, as the first word of a command.
FOREIGN_PROGRAMS = {"cmake", "ctest", "cpack", "ninja", "git", "clang", "clang++", "nvcc", "pip", "man", "dot", "apt-get", "mojo", "slangc"}
FOREIGN = {"--fmad": "ptxas", "--regAllocOptLevel": "ptxas", "--sanitize": "ptxas",
           "--dryrun": "nvcc", "--ptxas-path": "clang", "--cuda-path": "clang", "--install": "cmake", "--build": "cmake", "--verbose": "cmake",
           "--xla_gpu_cuda_data_dir": "XLA", "--xla_gpu_enable_libnvptxcompiler": "XLA",
           "--xla_gpu_enable_libnvjitlink": "XLA"}


# ---- what the tool and the tables of the sources say ----

class Facts:
    def __init__(self, tool):
        self.tool = os.path.abspath(tool)
        self.passes = self.listed("--list-passes", r"(\S+)\s+(-O\d|on request)\s+(\S.*)")
        self.knobs, self.test_knobs = (self.listed(option, r"(\S+)\s+(\S+) in (\S+)\s+(\S.*)")
                                       for option in ("--list-knobs", "--list-test-knobs"))
        self.opcodes = self.listed("--list-opcodes", r"(\S+)\s+(\S+)\s+(\S+)\s+(\S.*)")
        help_text = self.output("--help-all")
        declared_options = self.declared_options()
        self.commands = re.findall(r"^  (\w+) +\S.*", help_text.split("Commands (")[1].split("\n\n")[0], re.M)
        self.options = {"": declared_options[""] | {f"--{row[0]}" for row in self.test_knobs} | {"--list-test-knobs"}}
        for command in self.commands:
            # These two take the options of another program; their own are those of $PTXOPT_OPTIONS.
            self.options[command] = None if command in ("as", "nvcc") else declared_options[command] | {"--help"}
        wrapper = "".join((ROOT / "src/commands/tool" / name).read_text(encoding="utf-8")
                       for name in ("options/wrapper_options.cpp", "commands/as_ptxas.cpp", "commands/nvcc.cpp"))
        self.wrapper_options = {option for names in re.findall(r'add_(?:option|flag)\(\s*"([^"]*)"', wrapper) for option in names.split(",")
                                if option.startswith("--")} | declared_options["nvcc"] | {"--real", "--help"}
        self.dumps = re.search(r"or --passes choose: ([\w,\s]+?)\n +--dump-file", help_text)[1].replace("\n", " ").split(",")
        self.files = {p.name for folder in ("src", "tests", "include", "samples", "cmake", "grammar", "schemas", "python")
                      for p in (ROOT / folder).rglob("*") if p.is_file()}

    def output(self, *arguments):
        environment = {**os.environ, "NO_COLOR": "1"}
        return subprocess.run([self.tool, *arguments], capture_output=True, text=True, check=True, timeout=60,
                              env=environment).stdout

    def listed(self, option, pattern):
        """The rows that the tool lists, taken apart by `pattern`."""
        matches = [(line, re.fullmatch(pattern, line)) for line in self.output(option).splitlines()]
        bad = [line for line, match in matches if not match]
        if bad or not matches:
            raise SystemExit(f"docs.py: {option} prints what is no row of a table: {bad[:1]}")
        return [match.groups() for _, match in matches]

    def declared_options(self):
        """command -> the options that it declares to its parser, of which the completion for fish has a line each."""
        result = {}
        for command, rest in re.findall(r"^complete -c ptxopt -n '__ptxopt_is (\w+)' (.*)$", self.output("--completion", "fish"), re.M):
            result.setdefault("" if command == "file" else command, set()).update(f"--{name}" for name in re.findall(r"^(?:-s \w )?-l ([\w-]+)", rest))
        return result

    def all_options(self):
        return set().union(*(o for o in self.options.values() if o), self.wrapper_options)


def declared(path, macro):
    """The arguments of each use of a macro in a .def file, strings without their quotes."""
    text = (ROOT / path).read_text(encoding="utf-8")
    uses = re.findall(rf"^{macro}\((.*)\)", text, re.M)
    rows = [[a.strip('"') for a in re.findall(r'"[^"]*"|[^\s,"][^,"]*', use)] for use in uses]
    if not rows:
        raise SystemExit(f"docs.py: {path} has no {macro}")
    return rows


def table(head, rows):
    escaped = [[cell.replace("|", r"\|") for cell in row] for row in rows]
    lines = ["| " + " | ".join(cells) + " |" for cells in [head, *escaped]]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]])


def passes_table(facts):
    return table(("pass", "from", "what it does"), [(f"[`{n}`](#{n})", level, what) for n, level, what in facts.passes])


def declines_table(_):
    text = (ROOT / "src/optimize/passes/manager/passes.def").read_text(encoding="utf-8")
    rows = re.findall(r'^PTXOPT_PASS\(\w+, "([\w-]+)", .*, (Loops|Blocks), needs', text, re.M)
    return table(("a label names", "for"), [(f"a {kind.lower()[:-1]}", ", ".join(f"`{name}`" for name, of in rows if of == kind)) for kind in ("Loops", "Blocks")])


def pipeline_table(facts):
    kinds = re.search(r"enum class StepKind[^{]*{([^}]*)}", (ROOT / "src/optimize/passes/manager/pipeline.h").read_text(encoding="utf-8"))[1]
    steps = facts.listed("--list-pipeline", rf"(\S+)\s+(-O\d)\s+({kinds.strip().replace(', ', '|')})\s+(\S.*)")
    return table(("step", "from", "kind", "analyses that it asks for"),
                 [(f"`{step}`", f"`{level}`", kind, asks) for step, level, kind, asks in steps])


def knobs_table(facts):
    return table(("knob", "default", "range", "what it sets"),
                 [(f"`--{name}`", default, values.replace("..", " to ").replace("|", ", "), what)
                  for name, default, values, what in facts.knobs])


def test_knobs_table(facts):
    return table(("knob", "range", "what it sets"), [(f"`--{name}`", values.replace("..", " to "), what) for name, _, values, what in facts.test_knobs])


def opcodes_table(facts):
    executed = dict(line.split()[:2] for line in facts.output("run", "--list-opcodes").splitlines())
    rows = [row for row in facts.opcodes if not row[3].startswith("fallback:")]
    return table(("opcode", "operands", "effects", "executed", "what it is"),
                 [(f"`{name}`", operands, effects.replace(",", ", "), executed.get(name, "?"), what)
                  for name, operands, effects, what in rows])


def environment_table(_):
    return table(("variable", "meaning"), [(f"`{n}`", what) for n, _, what in declared("src/commands/tool/options/environment.def", "PTXOPT_VARIABLE")])


def capture_table(_):
    rows = re.findall(r'^CAPTURE_VARIABLE\((\w+), \w+, "(.*?)", "(.*)"\)$', (ROOT / "src/execute/capture/variables.def").read_text(encoding="utf-8"), re.M)
    return table(("variable", "default", "meaning"), [(f"`{name}`", f"`{usual}`", what) for name, usual, what in rows])


def variants_table(_):
    rows = []
    for name, level, skip, also, knobs, what in declared_variants():
        options = [f"-O{level}"] + [f"--skip-pass={skip}"] * bool(skip) + [f"--{k}" for k in knobs.split(",") if k]
        rows.append((f"`{name}`", f"`{' '.join(options)}`" + (f", then `{also}`" if also else ""), what))
    limits = [(f"`{name}`", "the best so far", what) for name, _, what in declared("src/measure/tune/variants.def", "PTXOPT_LIMIT")]
    return table(("variant", "options", "what it is"), rows + limits)


def declared_variants():
    text = (ROOT / "src/measure/tune/variants.def").read_text(encoding="utf-8")
    string = r'"([^"]*)"'
    return re.findall(rf"^PTXOPT_VARIANT\({string}, (\d), {string}, {string}, {string}, {string}\)", text, re.M)


def settings_table(_):
    rows = re.findall(r'^PTXOPT_SETTING\("(\w+)", "(\w+)", (\w+), "(.*)"\)$', (ROOT / "src/commands/tool/options/config.def").read_text(encoding="utf-8"), re.M)
    return table(("setting", "in the place of", "value", "meaning"),
                 [(f"`{key}`", f"`${variable}`", {"String": "string", "Number": "number"}[kind], what) for key, variable, kind, what in rows])


FORMS = ROOT / "src/optimize/passes/addressing/forms.def"


def address_forms_table(_):
    rows = re.findall(r'^PTXOPT_ADDRESS_FORM\(\w+, "([\w-]+)", (\w+), (\w+),\s+"(.*)"\)$', FORMS.read_text(encoding="utf-8"), re.M)
    waits = {"Nothing": "", "Access": "the access", "Step": "its step, for a store"}
    return table(("form", "what it is", "cost", "what waits"), [(f"`{name}`", what, f"`{cost}`", waits[wait]) for name, cost, wait, what in rows])


def loop_forms_table(_):
    rows = re.findall(r'^PTXOPT_LOOP_FORM\(\w+, "([\w-]+)",.*?"([^"]*)"\)$', FORMS.read_text(encoding="utf-8"), re.M | re.S)
    return table(("form", "knob", "what it is"), [(f"`{name}`", f"`--form-{name}`", what) for name, what in rows])


def rows_of_definitions(file, macro, arguments):
    """Each line of the file that calls the macro, by these arguments; one that has others is an error."""
    text = (ROOT / file).read_text(encoding="utf-8")
    rows = re.findall(rf"^{macro}\({', '.join(arguments)}\)$", text, re.M)
    if not rows or len(rows) != len(re.findall(rf"^\s*{macro}\(", text, re.M)):
        raise ValueError(f"{file}: a line of {macro} is not read")
    return rows


STRING, WORD = r'"([^"]*)"', r"(\w+)"


def known_bad_rows():
    return rows_of_definitions("src/measure/ptxas/known_bad.def", "PTXOPT_KNOWN_BAD", [STRING] * 4 + [WORD] * 3 + [STRING] * 3)


def known_bad_patterns():
    return rows_of_definitions("src/measure/ptxas/known_bad_patterns.def", "PTXOPT_BAD_PATTERN", [WORD, STRING, WORD, r'"[^"]*"', STRING])


def known_bad_table(_):
    def releases(bad, good):
        return f"{bad} to before {good}" if bad and good else f"before {good}" if good else f"from {bad}"
    effects = {"WrongCode": "", "Refuses": "refuses: ", "Crashes": "crashes: ", "Hangs": "hangs: "}
    patterns = {identifier: name for identifier, name, _, _ in known_bad_patterns()}
    return table(("row", "ptxas", "sm_", "pattern", "what happens", "evidence"),
                 [(f"[{name}]({source})", releases(bad, good), architectures or "all", patterns[pattern], effects[effect] + what, evidence.lower())
                  for name, bad, good, architectures, pattern, effect, evidence, what, _, source in known_bad_rows()])


def known_bad_tried_table(_):
    return table(("row", "releases"), [(row[0], row[8]) for row in known_bad_rows() if row[6] == "Tried"])


def known_bad_patterns_table(_):
    return table(("pattern", "kind", "what the text has"), [(name, kind.lower(), what) for _, name, kind, what in known_bad_patterns()])


COMPONENT_GROUPS = ["core", "optimize", "execute", "measure", "commands"]  # none uses a later one


def component_uses():
    """component -> the other components that its files include, each as GROUP/COMPONENT"""
    components = {folder.name: folder for folder in (ROOT / "src").glob("*/*") if folder.is_dir()}
    uses = {}
    for name, folder in components.items():
        texts = (p.read_text(encoding="utf-8") for p in folder.rglob("*") if p.suffix in (".h", ".cpp"))
        found = {m for text in texts for m in re.findall(r'^#include "(\w+)/', text, re.M)}
        uses[f"{folder.parent.name}/{name}"] = {f"{components[m].parent.name}/{m}" for m in found & components.keys() - {name}}
    return uses


def in_order(uses):
    """The components, each after those that it uses. A circle is an error."""
    order = []
    while left := {component: of - set(order) for component, of in uses.items() if component not in order}:
        ready = sorted(component for component, of in left.items() if not of)
        if not ready:
            raise SystemExit("docs.py: these components use each other in a circle: " + ", ".join(sorted(left)))
        order += ready
    return order


def components_table(_):
    """What each component has is written in the page; the order and what it uses are those of the includes."""
    uses = component_uses()
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    what = dict(re.findall(r"^\| `src/(\w+/\w+)/` \| (.*?) \| [^|]*\|$", page, re.M))
    if missing := sorted(uses.keys() - what.keys()):
        raise SystemExit("docs.py: docs/architecture.md has no line of " + ", ".join(missing))
    group_of = {component: COMPONENT_GROUPS.index(component.partition("/")[0]) for component in uses}
    if upward := [f"{component} uses {used}" for component, of in uses.items() for used in sorted(of) if group_of[used] > group_of[component]]:
        raise SystemExit("docs.py: a group uses a later one: " + ", ".join(upward))
    return table(("folder", "what it has", "uses"),
                 [(f"`src/{component}/`", what[component].replace(r"\|", "|"), ", ".join(sorted(of.partition("/")[2] for of in uses[component])))
                  for component in sorted(in_order(uses), key=group_of.get)])


def checks_table(_):
    return table(("check", "severity", "what it finds"),
                 [(f"`{name}`", severity.lower(), what) for _, name, severity, what in declared("src/commands/check/checks.def", "PTXOPT_CHECK")])


TABLES = {
    "docs/check.md": {"checks": checks_table},
    "docs/architecture.md": {"components": components_table},
    "docs/known-bad.md": {"known-bad": known_bad_table, "known-bad-tried": known_bad_tried_table, "known-bad-patterns": known_bad_patterns_table},
    "docs/drop-in.md": {"settings": settings_table},
    "docs/passes.md": {"passes": passes_table, "declines": declines_table, "pipeline": pipeline_table, "address-forms": address_forms_table, "loop-forms": loop_forms_table},
    "docs/knobs.md": {"knobs": knobs_table, "test-knobs": test_knobs_table},
    "docs/opcodes.md": {"opcodes": opcodes_table},
    "docs/run.md": {"not-executable": lambda f: f.output("run", "--list-opcodes", "--format", "markdown").rstrip("\n")},
    "docs/command-line.md": {"environment": environment_table},
    "docs/tune.md": {"variants": variants_table},
    "docs/record.md": {"capture": capture_table},
}


# ---- the pages ----

GENERATED = re.compile(r"<!-- ([\w-]+) -->\n.*?<!-- /\1 -->", re.S)


def read_pages():
    found = sorted({p for pattern in PAGES for p in ROOT.glob(pattern)})
    return {p.relative_to(ROOT).as_posix(): p.read_text(encoding="utf-8") for p in found}


def parts(text):
    """The page as (is_code, line) pairs, with inline code inside the lines of prose."""
    fenced, after_blank, in_code = False, True, False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
            continue
        indented = line.startswith("    ") and (in_code or (after_blank and not re.match(r"\s+(?:[-*]|\d+\.)\s", line)))
        in_code = indented or (in_code and not line.strip())
        after_blank = not line.strip()
        yield fenced or indented, line


def pieces_of_code(text):
    """Lines of code blocks and inline code."""
    joined = ""
    for is_code, line in parts(text):
        if is_code:
            joined += line.strip()
            if joined.endswith("\\"):
                joined = joined[:-1]
                continue
            yield joined
            joined = ""
        else:
            yield from re.findall(r"`([^`]+)`", line)


def headings(text):
    return [re.sub(r"^#+\s+", "", line) for is_code, line in parts(text) if not is_code and re.match(r"#+\s", line)]


def anchor(heading):
    return re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower()).replace(" ", "-")


# ---- the checks: each yields what is wrong, in words ----

def with_tables(pages, facts):
    """The pages with tables as the tool has them, and which cannot be."""
    result, wrong = dict(pages), []
    for page, tables in TABLES.items():
        text = pages.get(page, "")
        for name, make in tables.items():
            begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
            if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
                wrong.append(f"{page} needs one `{begin}` and, after it, one `{end}`")
                continue
            head, rest = text.split(begin)
            text = f"{head}{begin}\n{make(facts)}\n{end}{rest.split(end)[1]}"
        result[page] = text
    return result, wrong


def check_tables(pages, facts):
    wanted, wrong = with_tables(pages, facts)
    yield from wrong
    for page, text in wanted.items():
        if text != pages.get(page):
            diff = difflib.unified_diff(pages.get(page, "").splitlines(), text.splitlines(), page, "what the tool lists", lineterm="", n=0)
            yield "\n".join(list(diff)[:12]) + f"\n{page}: tests/docs.py --update rewrites its tables"


def scripts_named(code):
    paths = re.findall(r"(?:tests|samples|cmake)/[\w/.-]+\.(?:py|sh|cpp)\b", code)
    return [ROOT / path for path in paths if (ROOT / path).exists()]


def script_options(script):
    """The options that a script declares; one in Python may import those of its folder and of tests/lib."""
    if script.suffix == ".cpp":
        return set(re.findall(r'"(--[a-z][\w-]*)"', script.read_text(encoding="utf-8")))
    if script.suffix == ".sh":
        return set(re.findall(r"^\s*(?:--?[\w-]+ *\| *)*(--[a-z][\w-]*)\)", script.read_text(encoding="utf-8"), re.M))
    modules = (*script.parent.glob("*.py"), *(ROOT / "tests/lib").glob("*.py")) if script.parent != ROOT / "tests" else ()
    return set().union(*(python_options(p) for p in {script, *modules}))


@functools.cache
def python_options(path):
    """The options in calls of add_argument, and those made of names by f"--{name}": of a loop, or of a function's `*names`."""
    def strings(nodes):
        return {n.value for node in nodes for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)}

    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    adders = {node.name for node in nodes if isinstance(node, ast.FunctionDef) and node.args.vararg and "add_argument" in ast.dump(node)}
    found, names = {"--help"}, set()
    for node in nodes:
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "add_argument":
            found |= strings(node.args)
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in adders:
            names |= strings(node.args)
        elif isinstance(node, ast.For) and "add_argument" in ast.dump(node):
            names |= strings([node.iter])
    found |= {name if name.startswith("-") else f"--{name}" for name in names}
    return {text for text in found if re.fullmatch(r"--[a-z][\w-]*", text)}


QUOTED = re.compile(r"""(?<==)(["'])(.*?)\1""")  # options of the optimizer, as in --optimize="-O1 --tidy=1"


def own_words(words):
    """The words of a command of ptxopt without those of the program that it runs."""
    if words[1:2] in (["emulate"], ["jit"], ["reduce"]):
        program = next((i for i, word in enumerate(words) if i > 1 and (word == "--" or word.startswith(("./", "python")))), len(words))
        return words[:program]
    return words


def options_in(text):
    return set(re.findall(r"(?<![\w-])--[a-z][\w-]*", text))


def check_options(pages, facts):
    for page, text in pages.items():
        alone = facts.all_options().union(*(script_options(s) for s in set(scripts_named(text))), set(FOREIGN))
        if page.startswith("tests/") or page == "samples/README.md":  # their scripts are named by their folder
            alone = alone.union(*(script_options(s) for folder in ("tests", "samples") for s in (ROOT / folder).glob("*/**/*.py")))
        for code in pieces_of_code(GENERATED.sub("", text)):
            for command in re.split(r"&&|\|\||[|;]|\$\(", code.split(" # ")[0]):
                words = [w for w in QUOTED.sub("", command).replace("$ ", "").split() if not re.match(r"[A-Z_]+=", w)]
                program = os.path.basename(words[0]) if words else ""
                options = options_in(" ".join(own_words(words) if program == "ptxopt" else [command]))
                for option in sorted(options_in(" ".join(quoted for _, quoted in QUOTED.findall(command))) - alone):
                    yield f"{page}: there is no {option} in the quotation of `{code.strip()}`"
                if not options or program in FOREIGN_PROGRAMS:
                    continue
                if scripts := scripts_named(command):
                    known = set().union(*map(script_options, scripts))
                elif program == "ptxopt" and len(words) > 1 and words[1] in facts.commands:
                    known = facts.options[words[1]]
                elif program == "ptxopt":
                    known = facts.options[""]
                else:
                    known = alone
                for option in sorted(options - known if known is not None else ()):
                    yield f"{page}: there is no {option} in `{code.strip()}`"


def runs(script):
    return os.access(script, os.X_OK) and script.read_bytes().startswith(b"#!")


def check_paths(pages, facts):
    for page, text in pages.items():
        for code in pieces_of_code(GENERATED.sub("", text)):
            first, *arguments = code.split() or [""]
            if arguments and first.endswith((".py", ".sh")) and (ROOT / first).exists() and not runs(ROOT / first):
                yield f"{page}: the script of `{code}` is not executable"
            for path in re.findall(r"(?<![\w/.$-])((?:src|tests|docs|samples|cmake|grammar|include|schemas)/[\w./*-]*[\w*/])", code):
                if re.search(r"[A-Z]{3}", path.replace("README", "")) or "..." in path:
                    continue  # a placeholder
                if not any(ROOT.glob(path)):
                    yield f"{page}: there is no {path}"
            for name in re.findall(r"(?<![\w/.*-])(\w+\.(?:h|cpp|def|py))\b", code):
                if name == name.lower() and name not in facts.files and not page.startswith("tests/inputs/syntax/"):
                    yield f"{page}: there is no file {name}"


def check_links(pages, facts):
    for page, text in pages.items():
        prose = "\n".join(line for is_code, line in parts(text) if not is_code)
        for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", prose)):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, name = target.partition("#")
            file = (ROOT / page).parent / path if path else ROOT / page
            where = os.path.relpath(file, ROOT)
            if not file.exists():
                yield f"{page}: {target} leads nowhere"
            elif name and where in pages and name not in map(anchor, headings(pages[where])):
                yield f"{page}: {where} has no heading #{name}"


OPENING = re.compile(r"For [^.:]+: \S")


def check_openings(pages, facts):
    for page, text in pages.items():
        if page.startswith("docs/"):
            title, _, rest = text.partition("\n\n")
            if not re.fullmatch(r"# .+", title) or not OPENING.match(" ".join(rest.partition("\n\n")[0].split("\n"))):
                yield f'{page} does not begin with its title and a paragraph "For READERS: PURPOSE"'


def cells(row):
    return len(re.split(r"(?<!\\)\|", row.strip().strip("|")))


def check_markdown(pages, facts):
    for page, text in pages.items():
        if len(re.findall(r"^\s*```", text, re.M)) % 2:
            yield f"{page}: a block of code does not end"
        head = None  # the number of cells of the table's first row
        for number, (is_code, line) in enumerate(parts(text), 1):
            if is_code or not line.lstrip().startswith("|"):
                head = None
                continue
            row = line.strip()
            if not row.endswith("|") or cells(row) != (head or cells(row)):
                yield f"{page}: this row has not the {head} cells of its table: {row[:80]}"
            head = head or cells(row)


REVISION = r"(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,40}"


def git(*arguments, **options):
    """What git prints of this tree, or None where that is no checkout or git says no."""
    try:
        result = subprocess.run(["git", "-c", "safe.directory=*", "-C", str(ROOT), *arguments], capture_output=True, text=True, **options)
    except FileNotFoundError:
        return None
    return result.stdout.strip() if result.returncode == 0 else None


def has_history():
    top = git("rev-parse", "--show-toplevel")
    return bool(top) and Path(top).resolve() == ROOT and git("rev-parse", "--is-shallow-repository") == "false"


def check_hashes(pages, facts):
    if not has_history():
        return
    named = {}
    for page, text in pages.items():
        for is_code, line in parts(GENERATED.sub("", text)):
            for revision in () if is_code else re.findall(rf"(?<![\w#/.=-])(?:{REVISION}|(?<= at )[0-9]{{7,8}})(?![\w-])", re.sub(r"`[^`]*`", "", line)):
                named.setdefault(revision, page)
    for answer in git("cat-file", "--batch-check", input="\n".join(named)).splitlines():
        revision, kind = answer.split()[:2]
        if kind != "commit":
            yield f"{named[revision]}: {revision} is {kind} in the history, not a commit"


MEASURED = re.compile(r"[Mm]easured (?:at|on|by) ([0-9a-f]{7,40}|\d{4}-\d\d-\d\d)")


def check_measured(pages, facts):
    index = "docs/results/README.md"
    rows = re.findall(r"^\| \[[^]]*\]\(([\w./-]+?)(?:#([\w-]+))?\) \|.*\| ([^|]*) \|$", pages[index], re.M)
    indexed = {os.path.normpath(f"docs/results/{target}") for target, _, _ in rows}
    for page in pages:
        if page.startswith("docs/results/") and page not in indexed | {index}:
            yield f"{index} has no row for {page}"
    for target, _, wanted in rows:
        page = os.path.normpath(f"docs/results/{target}")
        stated = MEASURED.findall(re.sub(r"\s+", " ", pages[page]))
        if wanted not in [*stated[:1], "in each section"]:
            yield f"{index} says that {page} was measured at {wanted}, the page {' and '.join(stated[:1]) or 'nothing'}"


def check_versions(pages, facts):
    version = re.search(r"^project\(ptxopt VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"), re.M)[1]
    others = {"CHANGELOG.md": re.search(r"^## \[?(\d[\d.]*)", pages["CHANGELOG.md"], re.M),
              "CITATION.cff": re.search(r"^version: (\S+)", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.M)}
    for file, found in others.items():
        if not found or found[1] != version:
            yield f"{file} names {found[1] if found else 'no version'}, CMakeLists.txt {version}"
    for page, text in pages.items():
        for named in set(re.findall(r"\bptxopt[ _-](\d+\.\d+\.\d+)", text)) - {version}:
            yield f"{page} names ptxopt {named}, CMakeLists.txt {version}"
    if re.search(r'^version = "', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.M):
        yield "pyproject.toml has a version of its own"


def first_block(text):
    block = []
    for is_code, line in parts(text):
        if is_code:
            block.append(line)
        elif block:
            break
    return block


def check_readme(pages, facts):
    text = pages["README.md"]
    if text.count("\n") > MOST_LINES:
        yield f"README.md has {text.count(chr(10))} lines, more than {MOST_LINES}"
    if not any(FIRST_COMMAND in line.split() for line in first_block(text)):
        yield f"the first block of commands in README.md does not name {FIRST_COMMAND}"
    for command in facts.commands:
        if f"`ptxopt {command}" not in pages["docs/README.md"]:
            yield f"docs/README.md does not name ptxopt {command}"


def test_folders():
    """Those of tests/ and, where these are groups of tests, the folders in them."""
    for folder in sorted(p for p in (ROOT / "tests").iterdir() if p.is_dir() and not p.name.startswith("_")):
        yield f"tests/{folder.name}"
        if folder.name in GROUPS:
            yield from sorted(f"tests/{folder.name}/{p.name}" for p in folder.iterdir() if p.is_dir() and not p.name.startswith("_"))


def check_subjects(pages, facts):
    found = headings(pages["docs/passes.md"])
    for name, _, _ in facts.passes:
        if name not in found:
            yield f"docs/passes.md has no heading for {name}"
    for name, *_ in declared("src/optimize/analysis/manager/analyses.def", "PTXOPT_ANALYSIS"):
        if not re.search(rf"^\| [^|]* \|[^|]*`{name}`[^|]*\| [^|]* \| [^|]* ?\|$", pages["docs/architecture.md"], re.M):
            yield f"docs/architecture.md has no row of analyses with the id {name}"
    for name in facts.dumps:
        if f"| `{name.strip()}` |" not in pages["docs/dumps.md"]:
            yield f"docs/dumps.md has no row for {name.strip()}"
    for row in re.findall(r"^\| .* \|$", pages["docs/seeds.md"], re.M)[1:]:
        _, _, code, runs_by, test = (cell.strip() for cell in row.strip("|").split("|"))
        if "`src/" not in code or not runs_by or "`tests/" not in test:
            yield f"docs/seeds.md: no code, no test, or not when it runs: {row}"
    for folder in test_folders():
        if folder not in pages["tests/README.md"]:
            yield f"tests/README.md does not name {folder}"


def check_words(pages, facts):
    for page, text in pages.items():
        own = GENERATED.sub(lambda block: "\n" * block[0].count("\n"), text)  # lines keep their numbers
        for line, wrong in faults_of_page(own):
            yield f"{page}:{line}: {wrong}"


CHECKS = {"tables": check_tables, "options": check_options, "paths": check_paths, "links": check_links, "openings": check_openings,
          "markdown": check_markdown, "hashes": check_hashes, "measured": check_measured, "versions": check_versions, "README": check_readme, "subjects": check_subjects, "words": check_words}

# What `words` finds in a page, and what it must not find there.
PLANTED_WORDS = [
    "What each round computes.", "It runs in the\nfirst round.", "In each round the sum grows.", "The loop goes round.", "A sum in place of a product.", "A comma is no name.",
    "It takes the first, else the second.", "Whoever calls it.", "Two files, of which one is new.", "Of two files one is new.",
    "- Of two files one is new.", "It ends. Of two files one is new.", "Counted are instructions.", "It writes at most so many bytes.",
    "| what | at what price |\n|---|---|", "ptxas's answers are cached.", "A stand-in for the driver.", "It adds by halves.", "What stands behind it.",
    "What stands in front of it.", "Two names are told apart.", "The log tells which.", "The pointer moves on.", "The loop is left alone.", "Passes leave the loop alone.", "### The next round",
    " ".join(["word"] * 36) + ".", "A `b c` and [d e](guard.md) " + " ".join(["word"] * 32) + ".", "- See e.g. The " + " ".join(["word"] * 33) + "."]
INNOCENT_WORDS = [
    "It rounds to the nearest number, and rounds the sum once.", "A round trip.", "There is no name.", "It is no longer there.", "What it leaves rests on its input alone.",
    "Of course it is.", "The answer to the question.", "It prints \"no price\".", "`in place of`", "    in place of", "```\nin place of\n```",
    " ".join(["word"] * 35) + ".", "A `b c` and [d e](guard.md) " + " ".join(["word"] * 30) + ".", "| " + " ".join(["word"] * 36) + " |\n|---|",
    " ".join(["word"] * 20) + ". " + " ".join(["Word"] * 20) + ".", "It takes " + ", ".join(["`name` (a word or two)"] * 30) + " and `name`.",
    " ".join(["word"] * 20) + ". ptxas " + " ".join(["word"] * 20) + "."]

# A mistake for each check: a page, what is replaced, and by what.
PLANTS = [
    ("tables", "docs/knobs.md", "`--tidy`", "`--tidyy`"),
    ("tables", "docs/passes.md", "<!-- passes -->", ""),
    ("options", "docs/verify.md", "--trials N", "--trails N"),
    ("options", "docs/command-line.md", "`--stats`", "`--statistics`"),
    ("options", "CONTRIBUTING.md", "tests/run.sh --quick", "tests/run.sh --quickly"),
    ("paths", "docs/adding.md", "src/core/ir/opcodes.def", "src/core/ir/opcode.def"),
    ("paths", "docs/architecture.md", "`cfg.h`", "`cfgs.h`"),
    ("paths", "docs/guard.md", "`tests/cli/guard/run.py`", "`tests/cli/diff/support.py --all`"),
    ("options", "docs/emulate.md", "-O2 --skip-pass lsr", "-O2 --skip-passes lsr"),
    ("openings", "docs/guard.md", "For ", "This is for "),
    ("openings", "docs/results/loops.md", "For ", "| For | "),
    ("markdown", "docs/verify.md", "| ", "| | "),
    ("markdown", "docs/library.md", "```cpp\n", ""),
    *((("hashes", "docs/results/loops.md", "8d6e51f", "0badc0de"),) if has_history() else ()),
    ("measured", "docs/results/loops.md", "easured at 8d6e51f", "easured at 46557e2"),
    ("measured", "docs/results/README.md", "[loops.md](loops.md)", "[loops.md](tune.md)"),
    ("versions", "CHANGELOG.md", "## [0.1.0]", "## [0.2.0]"),
    ("versions", "docs/install.md", "ptxopt_0.1.0", "ptxopt_0.1.1"),
    ("links", "docs/README.md", "(guard.md)", "(guards.md)"),
    ("links", "README.md", "command-line.md#limits", "command-line.md#limit"),
    ("README", "README.md", "samples/run.sh ", "samples/runs.sh "),
    ("README", "docs/README.md", "`ptxopt tune`", "`ptxopt-tune`"),
    ("subjects", "docs/passes.md", "### divide", "### divides"),
    ("subjects", "docs/dumps.md", "| `scev` |", "| `scv` |"),
    ("subjects", "docs/architecture.md", "`PlainRegisters`, ", ""),
    ("subjects", "tests/README.md", "tests/codegen/spaces", "tests/"),
    ("subjects", "docs/seeds.md", "| `src/optimize/passes/dce/local_dce.cpp` |", "| |"),
    ("paths", "docs/seeds.md", "`src/optimize/passes/dce/local_dce.cpp`", "`src/optimize/passes/dce/locals_dce.cpp`"),
    ("paths", "docs/seeds.md", "`tests/unit/optimize/local_dce_test.cpp`", "`tests/unit/locals_dce_test.cpp`"),
    *(("words", "docs/passes.md", "## Dead code", f"{planted}\n\n## Dead code") for planted in PLANTED_WORDS),
]


def failures_of(pages, facts, checks=CHECKS):
    return [failure for name in checks for failure in CHECKS[name](pages, facts)]


def self_test(pages, facts):
    failures = []
    for check, page, old, new in PLANTS:
        if old not in pages[page]:
            failures.append(f"{page} has no `{old}` to plant a mistake at")
        elif not failures_of({**pages, page: pages[page].replace(old, new)}, facts, [check]):
            failures.append(f"the check of {check} does not find `{new}` in {page}")
    for pattern, advice in WORDS:
        if not any(pattern.search(planted) for planted in PLANTED_WORDS):
            failures.append(f"no planted word for the pattern {pattern.pattern} ({advice})")
    for innocent in INNOCENT_WORDS:
        failures += check_words({"docs/innocent.md": innocent}, facts)
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, help="the ptxopt to ask")
    parser.add_argument("--update", action="store_true", help="write the tables")
    parser.add_argument("--self-test", action="store_true", help="see that each check finds a mistake")
    args = parser.parse_args()
    pages, facts = read_pages(), Facts(args.tool)
    if args.update:
        for page, text in with_tables(pages, facts)[0].items():
            if text != pages.get(page):
                (ROOT / page).write_text(text, encoding="utf-8")
        pages = read_pages()
    failures = self_test(pages, facts) if args.self_test else failures_of(pages, facts)
    for failure in failures:
        print(failure)
    print(f"docs: {len(pages)} pages, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

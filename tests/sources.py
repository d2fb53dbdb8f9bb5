#!/usr/bin/env python3
"""Code asks what an opcode is, not how it is spelled; a target, not its number; and what it says goes through the logger.

  tests/sources.py [--self-test | --words]

An instruction is decoded once: its operation and its fields are in src/core/ir/opcode_fields.h. Only the code under READERS
reads the spelling of an opcode, or what a made register is named after (READS); ALLOWED has the other places that do, how often, and what for.

A target is asked what it can do (src/core/target/target.h): nothing else compares the numbers of architectures (COMPARES), but for
the ranges of tables.

Messages go through src/core/support/log.h, which alone writes to standard error (SAYS). SAYERS has the other places that name
it, how often, and what for. spdlog is included in one file.

Each component of src has its namespace, ptxopt::COMPONENT, and its files open no other: two components can then give one name
to two things. OUTER has the components whose words all code speaks; FOREIGN the files that define no names of ours. That no two types of a
namespace have one name is what tests/one_definition.py checks.

Comments and messages are in the words of pages (tests/lib/words.py), but for FOUND_WORDS that are left: a number that only falls.

A .cpp of more than MOST_LINES_WITHOUT_HEAD lines opens with a comment that says how its code works. Headers are included before a
namespace is opened: in a batch of sources an include that is out of place has no effect, so no build of batches finds it.

clang-format 14 changes no .cpp and no .h, also of tests; without it a line says that this was skipped. The rows of tables (.def)
are not its business.

--self-test plants each kind of reading, in memory, and fails if one is not found. --words lists the FOUND_WORDS.
"""
import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/lib"))
import words

FOUND_WORDS = 9  # in all comments and strings of src
READERS = {
    "src/core/text/": "from text to representation and back",
    "src/core/ir/": "the tables, and what decodes and makes opcodes",
    "src/execute/exec/binder": "the binding: an instruction of the interpreter gets its handler by the words of its opcode",
    "src/execute/exec/instructions": "the binding, by base opcode",
    "src/execute/exec/matrix/": "the binding: the words of matrix instructions, which the binder passes on",
    "src/execute/exec/opcode_support": "the binding: which rows have one",
}
ALLOWED = {
    "src/optimize/api/optimize.cpp": (1, "--list-opcodes prints the table"),
    "src/optimize/api/remarks.cpp": (1, "a message"),
    "src/execute/exec/block.cpp": (1, "a message"),
    "src/execute/exec/profile.cpp": (1, "the profile has a line for each opcode as it is spelled"),
    "src/execute/exec/trace.cpp": (1, "the trace shows instructions"),
    "src/optimize/passes/coalescing/check.cpp": (1, "a message"),
    "src/commands/check/instructions.cpp": (2, "messages"),
    "src/commands/check/needs.cpp": (2, "messages"),
    "src/commands/report/kernel_data.cpp": (1, "the report counts opcodes as they are spelled"),
    "src/commands/tool/commands/run_list.cpp": (2, "run --list-opcodes prints the table"),
    "src/measure/ptxas/bad_patterns.cpp": (1, "faults of ptxas are by forms that no field names, .s16x2 and .global_stride"),
    "src/execute/verify/results.cpp": (1, "an instruction is found again in the other module by a hash of its text"),
}

COMMENT = re.compile(r"//[^\n]*")
ROWS = (ROOT / "src/core/ir/opcodes.def").read_text(encoding="utf-8")
BASES = "|".join(sorted(set(re.findall(r'^PTX_OPCODE\w*\(\w+, "(\w+)', ROWS, re.M))))
READS = [re.compile(pattern) for pattern in (
    r"\brow\s*(?:->|\.)\s*(?:key|base)\b",  # the row's words
    r"\.spelling\b(?!\s*\()",  # OpcodeForm::spelling
    r"\bprintedOpcode\(",
    r"\bprintInstruction\(",
    r"\bstring_view opcode\b",
    rf'(?<!space\) )(?<!space )[=!]= "(?:{BASES})(?:\.[^"]*)?"',  # a declaration has a space .tex
    rf'\bstarts_with\("(?:{BASES})[."]',
    r"(?:\.|->)hint\b",  # what a made register is named after
)]
NUMBERS = "|".join(re.findall(r"^TARGET\w*\((\d+)", (ROOT / "src/core/target/targets.def").read_text(encoding="utf-8"), re.M))
COMPARED = r"(?:[<>]=?|[!=]=)"
COMPARES = [re.compile(pattern) for pattern in (
    rf"(?i:arch\w*|target\w*|number_?|\bsm)(?:\(\))?\s*{COMPARED}\s*(?:{NUMBERS})\b",
    rf"(?i:arch\w*|target\w*|number_?|\bsm)(?:\(\))?\s*{COMPARED}\s*k\w*(?:Target|Arch)\w*",
    rf"\btarget::numberOf\([^;]*\)\s*{COMPARED}",
)]
SAYS = [re.compile(pattern) for pattern in (
    r"\b(?:stderr|STDERR_FILENO)\b", r"\bstd::c(?:err|log)\b", r"\bperror\(", r"#include <spdlog/")]
SAYERS = {
    "src/core/support/log.cpp": (2, "the logger: the descriptor, and spdlog"),
    "src/core/support/descriptor.h": (1, "opens what was closed"),
    "src/core/support/process.cpp": (1, "a child's stream"),
    "src/commands/tool/commands/baseline.cpp": (2, "the look of a table"),
    "src/commands/tool/commands/in_place.cpp": (3, "the look of a table"),
    "src/commands/tool/commands/reduce.cpp": (1, "whether there is a line of progress"),
    "src/commands/tool/commands/tune.cpp": (2, "the look of a table"),
    "src/commands/tool/options/log_options.cpp": (1, "whether the sink has colours"),
    "src/commands/tool/run_tool.h": (1, "whether the sink has colours"),
    "src/commands/tool/terminal/function_progress.cpp": (2, "whether there is a line of progress, and how wide"),
    "src/commands/tool/terminal/progress.cpp": (3, "whether there is a line of progress, and how wide"),
    "src/commands/tool/terminal/terminal.cpp": (2, "draws the line of progress"),
    "src/commands/tool/commands/jit_table.cpp": (2, "the look of a table"),
    "src/execute/jit/log.cpp": (2, "the library to preload has no logger"),
    "src/commands/wrapper/child.cpp": (2, "a child's stream"),
    "src/commands/wrapper/drop_in.cpp": (4, "what ptxas says"),
    "src/commands/wrapper/safety_net.cpp": (1, "a crash handler"),
}
OUTER = {"core/support", "core/ir", "optimize/analysis", "optimize/passes", "optimize/api"}
FOREIGN = {
    "src/commands/tool/fmt_definitions.cpp": "functions of fmt",
    "src/commands/tool/no_tree_patterns.cpp": "functions of ANTLR's runtime",
    "src/commands/tool/main.cpp": "main()",
    "src/commands/tool/ptxas_main.cpp": "main()",
    "src/execute/capture/interpose": "functions of CUDA",
    "src/execute/interpose/entries.cpp": "functions of CUDA",
    "src/execute/interpose/memory.cpp": "functions of CUDA",
    "src/execute/jit/interpose": "functions of CUDA",
    "src/execute/emulate/driver/": "functions of CUDA",
    "src/execute/emulate/runtime/": "functions of CUDA",
}
MOST_LINES_WITHOUT_HEAD = 60
FORMATTER = "clang-format-14"  # of Debian 12; other versions break lines in other places
HEAD = re.compile(r"// (?!NOLINT|clang-).*\w")
LATE_HEADER = re.compile(r'^(?:inline )?namespace [\w: ]*\{.*^#include (["<][\w/.]+\.h(?:pp)?[">])', re.M | re.S)
OPENED = re.compile(r"^(?:inline )?namespace ([\w:]+)", re.M)
PLANTED = ['form.row->key == wanted', 'form.row->base()', 's.row->key', 'row.key', 'm.text(m.form(f[id]).spelling)',
           'names[opcodes[o].spelling]', 'm.printedOpcode(f[id]).starts_with(wanted)',
           'printInstruction(module, f, i)', 'bool isSum(std::string_view opcode)', 'text(id) == "add.s64"',
           'base == "ld"', 'x != "mov"', 'text(id).starts_with("mul.wide.")', 'f.registers[r.value].hint == NameHint::One', 'text.starts_with("wgmma")']
PLANTED_COMPARISONS = ['if (architecture >= 90)', 'target::numberOf(name).value_or(80) < 80', 'number_ >= kFirstTarget',
                       'sm == 75', 'context.target().number() > kLastArchitecture', 'number == 101 ? 11 : number / 10']
PLANTED_SAYINGS = ['std::fputs(text, stderr);', 'std::cerr << x;', 'perror("x")', '::write(STDERR_FILENO, a, b)',
                   '#include <spdlog/spdlog.h>']
PLANTED_NAMESPACES = [("src/measure/ptxas/a.h", "namespace ptxopt {\n"), ("src/measure/ptxas/a.h", "struct Alone;\n"),
                      ("src/measure/ptxas/a.h", "namespace ptxopt::guard {\n"), ("src/core/ir/a.h", "namespace std {\n"),
                      ("src/measure/ptxas/a.h", "namespace ptxopt::ptxas {\n}\nnamespace ptxopt {\n"),
                      ("src/measure/ptxas/a.h", "namespace ptxopt::ptxas2 {\n"), ("src/execute/capture/a.h", "int x;\n")]
INNOCENT_NAMESPACES = [("src/measure/ptxas/a.h", "namespace ptxopt::ptxas {\nnamespace values {\n"),
                       ("src/execute/exec/matrix/a.h", "namespace ptxopt::exec::matrix {\n"),
                       ("src/measure/ptxas/a.cpp", "namespace fs = std::filesystem;\nnamespace ptxopt::ptxas {\n"),
                       ("src/core/ir/a.h", "namespace ptxopt {\n"), ("src/core/ir/a.h", "namespace ptxopt::effect {\n"),
                       ("src/commands/tool/a.h", "namespace CLI {\nclass App;\n}\nnamespace ptxopt::tool {\n"),
                       ("src/execute/capture/interpose.cpp", "int x;\n")]
LONG_BODY = "int x;\n" * MOST_LINES_WITHOUT_HEAD
PLANTED_WORDS = ["// Of a loop the header.\n", "int x;  // what is no loop\n", 'say("so many loops");', "// It is\n// no loop.\n",
                 'say(R"(so many)");', "x = 1'000;  // in place of\n"]
INNOCENT_WORDS = ["int whoever;\n", "// `whoever` reads it\n", "// It is\n\n// No loop.\n", "say('\"'); whoever = 1;", "// \"is no loop\" is a message\n"]
PLANTED_HEADS = ['#include "a.h"\n' + LONG_BODY, "\n// Sums are sorted.\n" + LONG_BODY, "// NOLINTBEGIN\n" + LONG_BODY, "//\n" + LONG_BODY]
PLANTED_LATE = ['namespace a {\nX x[] = {\n#include "a/b.h"\n#include "a.def"\n};\n}\n', "namespace {\n}\n#include <a.hpp>\n"]
INNOCENT_LATE = ['#include "a.h"\nnamespace a {\n#include "a.def"\n}\n', '// namespace a {\n#include "a.h"\n']
INNOCENT_HEADS = ["// Sums are sorted.\n" + LONG_BODY, LONG_BODY]
INNOCENT = ['// row->key', 'module.text(form.space) == "tex"', 'space != "tex"', 'module.text(declaration.text)',
            'text.starts_with(".file")', 'name == "%tid.x"', 'form.op == Op::Mov', 'words.spelling()']


def readings(text):
    """The number of the line of each reading of a spelling."""
    text = COMMENT.sub("", text)
    return sorted(text.count("\n", 0, m.start()) + 1 for pattern in READS for m in pattern.finditer(text))


def comparisons(text):
    text = COMMENT.sub("", text)
    return sorted({text.count("\n", 0, m.start()) + 1 for pattern in COMPARES for m in pattern.finditer(text)})


def sayings(text):
    text = COMMENT.sub("", text)
    return sorted(text.count("\n", 0, m.start()) + 1 for pattern in SAYS for m in pattern.finditer(text))


def namespaces(name, text):
    """What is wrong with the namespaces that a file opens."""
    if any(name.startswith(prefix) for prefix in FOREIGN):
        return []
    component = "/".join(name.split("/")[1:3])
    own = "ptxopt" if component in OUTER else f"ptxopt::{component.split('/')[1]}"
    opened = [n for n in OPENED.findall(text) if n.split("::")[0] in ("ptxopt", "std")]
    wrong = [n for n in opened if n != own and not n.startswith(f"{own}::")]
    return [f"{name}: opens {n}, not {own}" for n in wrong] if opened else [f"{name}: does not open {own}"]


def head(name, text):
    """What is wrong with the beginning of a .cpp."""
    lines = text.count("\n")
    if lines <= MOST_LINES_WITHOUT_HEAD or HEAD.match(text):
        return []
    return [f"{name}: has {lines} lines, more than {MOST_LINES_WITHOUT_HEAD}, and does not open with a comment that says how its code works"]


def late_header(name, text):
    """A header that is included after a namespace was opened."""
    late = LATE_HEADER.search(text)
    return [f"{name}: includes {late[1]} after a namespace is opened"] if late else []


def unformatted(paths):
    """What clang-format would change: the first place in each file."""
    done = subprocess.run([FORMATTER, "--dry-run", f"--style=file:{ROOT}/.clang-format", *map(str, paths)], capture_output=True, text=True, cwd=ROOT)
    places = dict(re.findall(r"^(.+?):(\d+):\d+: (?:warning|error): code should be clang-formatted", done.stderr, re.M)[::-1])
    return [f"{name}:{line}: {FORMATTER} -i changes it" for name, line in sorted(places.items())]


def formatted_files():
    return [path.relative_to(ROOT) for folder in ("src", "include", "tests", "grammar", "samples") for path in sorted((ROOT / folder).rglob("*"))
            if path.suffix in (".cpp", ".h")]


def found_words(name, text):
    return [f"{name}:{line}: \"{word}\"; write: {advice}" for line, prose in words.prose_of_source(text) for word, advice in words.found(prose)]


def compare_words(found):
    """What is wrong with the number of words that pages do not use."""
    if len(found) == FOUND_WORDS:
        return []
    if len(found) < FOUND_WORDS:
        return [f"src: comments and strings have {len(found)} words that pages do not use, fewer than before: set FOUND_WORDS to {len(found)}"]
    return [f"src: comments and strings have {len(found)} words that pages do not use, {len(found) - FOUND_WORDS} more than FOUND_WORDS, "
            "which may not grow; --words lists them all"]


def compare(name, what, lines, allowed):
    if len(lines) == allowed:
        return []
    where = f"in lines {', '.join(map(str, lines))}" if lines else "nowhere"
    return [f"{name}: {what} {where}; allowed: {allowed}"]


def sources():
    """(name, text) of each file of src."""
    for path in sorted((ROOT / "src").rglob("*")):
        if path.suffix in (".cpp", ".h", ".def"):
            yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


def list_words():
    for name, text in sources():
        for line in found_words(name, text):
            print(line)


def check():
    wrong, found, files, unused = [], [], 0, set(READERS)
    for name, text in sources():
        if not name.endswith(".def"):
            wrong += namespaces(name, text)
        found += found_words(name, text)
        wrong += late_header(name, text)
        if name.endswith(".cpp"):
            wrong += head(name, text)
        wrong += compare(name, "names standard error", sayings(text), SAYERS.get(name, (0, ""))[0])
        if not name.startswith("src/core/target/"):
            wrong += compare(name, "compares the number of a target", comparisons(text), 0)
        if reader := [prefix for prefix in READERS if name.startswith(prefix)]:
            unused -= set(reader)
            continue
        files += 1
        wrong += compare(name, "reads the spelling of opcodes", readings(text), ALLOWED.get(name, (0, ""))[0])
    wrong += [f"{name}: there is no such file" for name in {**ALLOWED, **SAYERS} if not (ROOT / name).is_file()]
    wrong += compare_words(found)
    if shutil.which(FORMATTER):
        wrong += unformatted(formatted_files())
    else:
        print(f"sources: skipped: formatting (there is no {FORMATTER})")
    unused |= {prefix for prefix in FOREIGN if not list(ROOT.glob(f"{prefix}*"))}
    return files, wrong + [f"{prefix}: there are no such files" for prefix in sorted(unused)]


def formatting_missed():
    """Whether the formatter does not see what it should, or sees what is not there."""
    if not shutil.which(FORMATTER):
        return []
    with tempfile.TemporaryDirectory() as folder:
        right, wrong = Path(folder, "right.cpp"), Path(folder, "wrong.cpp")
        right.write_text("int f() { return 1; }\n", encoding="utf-8")
        wrong.write_text("int f() {return 1;}\n", encoding="utf-8")
        found = unformatted([right, wrong])
    return [] if found == [f"{wrong}:1: {FORMATTER} -i changes it"] else [f"formatting: {found}"]


def self_test():
    missed = formatting_missed()
    missed += [f"not found: {text}" for text in PLANTED if not readings(text)]
    missed += [f"not found: {text}" for text in PLANTED_SAYINGS if not sayings(text)]
    missed += [f"not found: {text}" for text in PLANTED_COMPARISONS if not comparisons(text)]
    missed += [f"not found: {text!r} in {name}" for name, text in PLANTED_NAMESPACES if not namespaces(name, text)]
    missed += [f"found wrongly: {text!r} in {name}" for name, text in INNOCENT_NAMESPACES if namespaces(name, text)]
    missed += [f"not found: no head in {text[:40]!r}" for text in PLANTED_HEADS if not head("src/a.cpp", text)]
    missed += [f"found wrongly: {text[:40]!r}" for text in INNOCENT_HEADS if head("src/a.cpp", text)]
    missed += [f"not found: a late header in {text!r}" for text in PLANTED_LATE if not late_header("src/a.cpp", text)]
    missed += [f"found wrongly: a late header in {text!r}" for text in INNOCENT_LATE if late_header("src/a.cpp", text)]
    missed += [f"not found: a word in {text!r}" for text in PLANTED_WORDS if not found_words("src/a.cpp", text)]
    missed += [f"found wrongly: a word in {text!r}" for text in INNOCENT_WORDS if found_words("src/a.cpp", text)]
    missed += [f"not found: {change:+} words" for change in (-1, 1) if not compare_words(["word"] * (FOUND_WORDS + change))]
    planted = 3 + len(PLANTED_LATE) + len(INNOCENT_LATE) + len(PLANTED_WORDS) + len(INNOCENT_WORDS) + len(PLANTED) + len(PLANTED_SAYINGS) + len(PLANTED_COMPARISONS) + len(PLANTED_NAMESPACES) + len(PLANTED_HEADS)
    return planted + len(INNOCENT) + len(INNOCENT_NAMESPACES) + len(INNOCENT_HEADS), missed + [f"found wrongly: {text}" for text in INNOCENT if readings(text) or comparisons(text)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", help="not needed; every test takes it")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--words", action="store_true")
    options = parser.parse_args()
    if options.words:
        list_words()
        return 0
    checked, wrong = self_test() if options.self_test else check()
    for line in wrong:
        print(line)
    print(f"sources: {checked} checked, {len(wrong)} wrong")
    return 1 if wrong or not checked else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""ptxopt check: formats, exit codes, folders, options.

  run.py --tool PTXOPT
"""
import argparse
import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
HEAD = ".version 7.0\n.target sm_75\n.address_size 64\n"
RIGHT = HEAD + ".visible .entry k()\n{\n\tret;\n}\n"
WRONG = HEAD + ".visible .entry k()\n{\n\t.reg .b32 %r<2>;\n\t.reg .b64 %d;\n\tmov.u32 %r0, 0;\n\tadd.u64 %d, %d, %r0;\n\tret;\n}\n"
WARNS = HEAD + ".visible .entry k()\n{\n\t.reg .b32 %r<2>;\n\tadd.u32 %r0, %r1, 1;\n\tret;\n}\n"
NO_PTX = HEAD + ".visible .entry k()\n{\n\tadd.u32 %r0 %r1;\n\tret;\n}\n"
OPTIX = HEAD + ".visible .entry k()\n{\n\t.reg .b32 %r<2>;\n\tcall (%r0), _optix_get_launch_index_x, ();\n\tret;\n}\n"


class Check(unittest.TestCase):
    tool = None

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.at = Path(self.folder.name)

    def check(self, *arguments, text=None):
        return subprocess.run([self.tool, "check", *map(str, arguments)], capture_output=True, text=True, input=text, timeout=60)

    def test_exit_codes(self):
        for text, code in ((RIGHT, 0), (WRONG, 1), (WARNS, 0), (NO_PTX, 3), ("\x7fELF", 3), ("", 3)):
            self.assertEqual(self.check("-", text=text).returncode, code, text)
        self.assertEqual(self.check("-", "--fail-on", "warning", text=WARNS).returncode, 1)
        self.assertEqual(self.check("-", "--skip", "operand-type,uninitialised", text=WRONG).returncode, 0)
        for arguments in ([], [self.at], ["nowhere.ptx"], ["-", "--skip", "nosuch"], ["-", "--format", "xml"]):
            run = self.check(*arguments, text=RIGHT)
            self.assertEqual(run.returncode, 2, arguments)
            self.assertTrue(run.stderr)

    def test_byte_order_mark(self):
        run = self.check("-", text="\ufeff" + RIGHT)
        self.assertEqual(run.returncode, 3)
        self.assertIn("<stdin>:1:1: error: a byte order mark, which ptxas refuses", run.stdout + run.stderr)
        self.assertEqual(self.check("-", text=RIGHT.replace("\n", "\r\n")).returncode, 0)

    def test_json_and_sarif_say_the_same(self):
        (self.at / "sub").mkdir()
        for name, text in (("a.ptx", RIGHT), ("sub/b.ptx", WRONG), ("sub/c.ptx", NO_PTX), ("sub/other.txt", NO_PTX), ("d.ptx", WARNS)):
            (self.at / name).write_text(text)
        run = self.check(self.at, "--format", "json")
        self.assertEqual(run.returncode, 3)
        found = json.loads(run.stdout)
        self.assertEqual([Path(f["file"]).name for f in found["files"]], ["a.ptx", "d.ptx", "b.ptx", "c.ptx"])
        self.assertEqual((found["errors"], found["warnings"]), (2, 2))
        try:
            import jsonschema
            jsonschema.validate(found, json.loads((ROOT / "schemas/check.schema.json").read_text()))
        except ImportError:
            print("check: no jsonschema, the schema was not compared")
        out = self.at / "out.sarif"
        self.assertEqual(self.check(self.at, "--format", "sarif", "-o", out).returncode, 3)
        sarif = json.loads(out.read_text())
        self.assertEqual(sarif["version"], "2.1.0")
        driver, results = sarif["runs"][0]["tool"]["driver"], sarif["runs"][0]["results"]
        flat = [(f["file"], x["line"], x["column"], x["check"], x["severity"]) for f in found["files"] for x in f["findings"]]
        self.assertEqual(flat, [(place["artifactLocation"]["uri"], place["region"]["startLine"], place["region"]["startColumn"],
                                 r["ruleId"], r["level"])
                                for r in results for place in [r["locations"][0]["physicalLocation"]]])
        self.assertTrue(all(driver["rules"][r["ruleIndex"]]["id"] == r["ruleId"] for r in results))
        text = self.check(self.at).stdout
        self.assertEqual(len(re.findall(r": (?:error|warning): .* \[[\w-]+\]$", text, re.M)), len(flat))
        listed = [line.split()[0] for line in self.check("--list-checks").stdout.splitlines()]
        self.assertEqual(listed, [rule["id"] for rule in driver["rules"]])

    def test_another_header(self):
        """is written where it is right for the text, byte for byte otherwise; else the line is named, and nothing written"""
        text = ("// a.version 1.0\n.version /* x */ 5.0 // .target\n.target\tsm_61, texmode_independent\n.address_size 64\n"
                ".visible .entry k()\n{\n\t.reg .b32 %r;\n\tactivemask.b32 %r;\n\tret;\n}\n")
        file, out = self.at / "a.ptx", self.at / "out.ptx"
        file.write_text(text)
        run = self.check(file, "--set-version", "6.2", "--set-target", "sm_70", "-o", out)
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", ""))
        self.assertEqual(out.read_text(), text.replace(" 5.0", " 6.2").replace("sm_61", "sm_70"))
        out.unlink()
        for options in (["--set-version", "6.1"], ["--set-version", "6.2", "--set-target", "sm_75"]):
            run = self.check(file, *options, "-o", out)
            self.assertEqual((run.returncode, run.stdout), (1, ""))
            self.assertRegex(run.stderr, r"a\.ptx:\d+:\d+: error: .* needs \.version 6\.[23]")
            self.assertFalse(out.exists())
        for options in (["--set-version", "6"], ["--set-target", "70"], ["--set-version", "6.2", "--format", "json"]):
            self.assertEqual(self.check(file, *options, "-o", out).returncode, 2, options)
        self.assertEqual(self.check(file, file, "--set-version", "6.2", "-o", out).returncode, 2)

    def test_an_output_is_no_input(self):
        file = self.at / "a.ptx"
        file.write_text(RIGHT)
        self.assertEqual(self.check(file, "-o", file).returncode, 2)
        self.assertEqual(file.read_text(), RIGHT)

    def test_functions_of_optix(self):
        self.assertEqual(self.check("-", text=OPTIX).returncode, 1)
        self.assertEqual(self.check("-", "--externals", "optix", text=OPTIX).returncode, 0)
        other = OPTIX.replace("_optix_get", "optix_get")
        self.assertEqual(self.check("-", "--externals", "optix", text=other).returncode, 1)

    def test_errors_are_bounded(self):
        """and found in time: statements, items, brackets without end"""
        for line, least in (("\tadd.u32 %r0 %r1;\n", 1000), ("\tadd.u32 %r0, %x, {{ ;\n", 100), ("} }\n", 1), (".reg .entry ;\n", 100)):
            run = self.check("-", "--format", "json", text=HEAD + ".visible .entry k()\n{\n" + line * 3000)
            self.assertEqual(run.returncode, 3, line)
            errors = json.loads(run.stdout)["errors"]
            self.assertTrue(least <= errors <= 1001, (line, errors))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    arguments, rest = parser.parse_known_args()
    Check.tool = str(Path(arguments.tool).resolve())
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()

"""ptxopt diff --html, and the histories that it shows."""
import json
import re
import shutil
import subprocess

from files import module, kernel
from support import Side, Skipped, Suite, check, function, page_data

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


class Page(Suite):
    def see(self, page, kernel):
        """The document as a browser makes it, with this kernel open."""
        program = next(filter(None, map(shutil.which, BROWSERS)), None)
        if not program:
            raise Skipped("there is no Chromium")
        run = subprocess.run([program, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=3000", "--enable-logging=stderr",
                              "--dump-dom", f"{page.as_uri()}#{kernel}"], capture_output=True, text=True, timeout=120)
        errors = [line for line in run.stderr.splitlines() if "CONSOLE" in line]
        check(run.returncode == 0 and not errors, errors)
        return run.stdout

    def test_history(self):
        """A line for each version, which diff reads as its last, and the page shows by kernel."""
        history, page = self.folder / "history.jsonl", self.folder / "page.html"
        for registers in (32, 40, 24):
            side = Side().unit("a.ptx", function("k", registers=registers), function("same"))
            self.write("one.json", side)
            text = json.dumps({**side.document, "label": f"with {registers}"})
            with open(history, "a", encoding="utf-8") as file:
                file.write(text + "\n")
        now = self.write("now.json", Side().unit("a.ptx", function("k", registers=30), function("same"), function("new")))
        self.run("diff", history, now, "--html", page, "--history", self.write("old.json", Side().unit("a.ptx", function("k", registers=50))), history)
        data = page_data(page.read_text())
        check(data["history"] == [str(self.folder / "old.json"), "with 32", "with 40", "with 24", "now"], data["history"])
        rows = {row["name"]: row for row in data["rows"]}
        column = [f["name"] for f in data["figures"]].index("registers")
        check([h and h[column] for h in rows["k"]["history"]] == [50, 32, 40, 24, 30], rows["k"])
        check(rows["k"]["figures"][column] == [24, 30] and rows["same"]["history"][0] is None and rows["new"]["history"][:4] == [None] * 4, rows)
        for wrong in ("{}\n", "{\n", json.dumps(side.document) + "\nno\n"):
            self.run("diff", history, now, "--html", page, "--history", self.write("wrong.json", wrong), status=2)
        self.run("diff", history, now, "--history", history, status=2)  # nothing that shows it

    def test_append(self):
        self.ptxas()
        source, history = self.write("k.ptx", module(kernel("k"))), self.folder / "h.jsonl"
        for label in ("first", "second"):
            self.run("baseline", source, "-o", history, "--append", "--label", label)
        lines = [json.loads(line) for line in history.read_text().splitlines()]
        check([line["label"] for line in lines] == ["first", "second"] and lines[0]["units"] == lines[1]["units"], lines)
        check(self.diff(history, source).change("k") == "same", "the last version")
        plain = self.folder / "plain.json"
        self.run("baseline", source, "-o", plain)
        before = plain.read_bytes()
        run = self.run("baseline", source, "-o", plain, "--append", status=2)
        check("not a history" in run.stderr and plain.read_bytes() == before, "a baseline is not a history, and is kept")
        self.run("baseline", source, "-o", self.write("notes.txt", "mine"), "--append", status=2)
        check((self.folder / "notes.txt").read_text() == "mine", "a file of another kind is kept")
        self.run("baseline", source, "-o", "-", "--append", status=2)
        self.run("baseline", source, "-o", plain, "--label", "x", status=2)

    def test_browser(self):
        """Rows, machine code side by side, and text that would be markup."""
        self.ptxas()
        name = "k_script"
        before = self.write("before/<b>.ptx", module(kernel(name), kernel("same")))
        after = self.write("after/<b>.ptx", before.read_text().replace("ret;", "st.global.u32 [%rd1+32], 1234567; ret;", 1))
        page = self.folder / "page.html"
        self.run("diff", before.parent, after.parent, "--format", "html", "-o", page, "--show-code")
        check("<b>" not in page.read_text(), "text became markup")
        dom = self.see(page, name)
        check(dom.count('<tr class="row-of"') == 1 and 'aria-expanded="true"' in dom and "&lt;b&gt;.ptx" in dom, "rows that changed")
        code = re.search(r'<div class="code">(.*?)</td>', dom, re.S)
        check(code and code[1].count("<pre") == 2 and 'class="changed"' in code[1], "machine code of both sides")
        check('aria-expanded="true"' in self.see(page, "same"), "a kernel that is filtered is shown when it is named")

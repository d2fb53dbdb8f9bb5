#!/usr/bin/env python3
"""`ptxopt report`: what it writes, and what a browser makes of it.

  tests/cli/report/run.py --tool PATH [--browser PROGRAM] [--keep FOLDER]

Without a browser: the page is one file that loads nothing, text from the module never becomes markup, the numbers agree
with each other, with `--dump` and with `ptxopt time`, ptxas is asked once and its messages are read, and nothing is written
when something is wrong. With Chromium, when there is one: the page runs without errors, shows the values at a point that is
clicked in the chart or in the listing or that the address names, has the modelled time beside the code, computes the occupancy that `--dump=occupancy` says, and draws a kernel of 10,000 instructions
with few elements. --keep leaves the pages in a folder.
"""
import argparse
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lib"))
import modelled_time  # noqa: E402
from toolkit import find_ptxas  # noqa: E402

os.environ.setdefault("PTXOPT_GUARD", "off")  # the passes are tested, not the guard

FAILURES = []
CHECKS = 0
HOSTILE = "</script><script>window.broken=1</script><img src=x onerror=alert(1)>&lt;\"'<!--"
ARCHITECTURES = ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"]
BROWSERS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]

KERNELS = f"""// {HOSTILE}
.version 8.0
.target sm_80
.address_size 64
.file 1 "kernels.cu"
.file 2 "gone.cu"
.visible .entry small(.param .u64 small_p)
.maxntid 128, 1, 1
{{
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [small_p]; // {HOSTILE}
	st.global.u64 [%rd1], %rd1;
	ret;
}}
.visible .entry nest(.param .u64 nest_p, .param .u32 nest_n)
{{
	.reg .pred %p<3>;
	.reg .b16 %rs<3>;
	.reg .b32 %r<9>;
	.reg .b64 %rd<4>;
	.reg .f64 %fd<4>;
	.shared .align 8 .b8 table[1000];
	.loc 1 2 3
	ld.param.u64 %rd1, [nest_p];
	ld.param.u32 %r1, [nest_n];
	mov.u32 %r2, 0;
	mov.u32 %r7, table;
	.loc 1 3 1
OUTER:
	mov.u32 %r3, 0;
INNER:
	.loc 2 7 1
	ld.global.f64 %fd1, [%rd1];
	add.f64 %fd2, %fd1, %fd1;
	st.global.f64 [%rd1], %fd2;
	add.u32 %r3, %r3, 1;
	setp.lt.u32 %p1, %r3, %r1;
	@%p1 bra INNER;
	.loc 1 99 1
	add.u32 %r2, %r2, 1;
	setp.lt.u32 %p2, %r2, %r1;
	@%p2 bra OUTER;
	mov.b32 {{%rs1, %rs2}}, %r2;
	mov.b32 %r4, {{%rs2, %rs1}};
	st.shared.u32 [%r7], %r4;
	ret;
}}
"""
SOURCE = f"line one\n  line two {HOSTILE}\nline three\n"


def check(condition, message):
    global CHECKS
    CHECKS += 1
    if not condition:
        FAILURES.append(message)


def run(*words, **more):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=300, **more)


class Page(html.parser.HTMLParser):
    """The elements of a page, and the text of its scripts."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.scripts, self.inside = [], [], None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")
            self.inside = "script"

    def handle_endtag(self, tag):
        if tag == "script":
            self.inside = None

    def handle_data(self, data):
        if self.inside == "script":
            self.scripts[-1] += data


def read_page(path):
    """(page, data); checks that it is one file that loads nothing."""
    text = path.read_text(encoding="utf-8")
    page = Page(text)
    check(len(page.scripts) == 2, f"{path.name}: {len(page.scripts)} script elements instead of 2")
    loading = [(tag, a) for tag, attrs in page.elements for a in attrs if a in ("src", "href", "srcset", "action") or a.startswith("on")]
    check(not loading, f"{path.name}: something loads or runs: {loading}")
    check(not any(tag in ("img", "link", "iframe", "object", "embed") for tag, _ in page.elements), f"{path.name}: an element that loads")
    program = page.scripts[-1]
    for word in ("fetch(", "XMLHttpRequest", "import(", "innerHTML", "insertAdjacentHTML", "document.write", "eval(", "WebSocket"):
        check(word not in program, f"{path.name}: its program has {word}")
    check(not re.search(r"url\(|@import", text.split("</style>")[0]), f"{path.name}: its style loads something")
    return page, json.loads(page.scripts[0])


def units_alive(kernel, point):
    """(data, predicate, uniform) summed over the registers that are live at a point."""
    sums = [0, 0, 0]
    for _, _, halves, file, segments in kernel["registers"]:
        if any(first <= point < end for first, end in zip(segments[::2], segments[1::2])):
            sums[file] += halves
    return [(s + 1) // 2 for s in sums]


def check_kernel(kernel, lines):
    name = kernel["name"]
    count = len(kernel["line"])
    for column in ("data", "pred", "uniform", "source"):
        check(len(kernel[column]) == count, f"{name}: the column {column} has not {count} rows")
    wrong = [p for p in range(0, count, max(1, count // 500))
             if units_alive(kernel, p) != [kernel["data"][p], kernel["pred"][p], kernel["uniform"][p]]]
    check(not wrong, f"{name}: the live registers do not make the units at the points {wrong[:5]}")
    totals = [d + u for d, u in zip(kernel["data"], kernel["uniform"])]
    check(kernel["maximum"] == max(totals), f"{name}: the maximum is not that of the points")
    check(totals[kernel["worst"]] == kernel["maximum"], f"{name}: the worst point is none")
    text = kernel["text"].split("\n")
    check(text == lines[kernel["first"] - 1:][:len(text)], f"{name}: its text is not that of the file")
    starts = set(kernel["isStart"])
    check(all(lines[kernel["line"][p] - 1].strip() for p in range(count) if p not in starts), f"{name}: an instruction on an empty line")
    ends = [b[1] for b in kernel["blocks"]]
    check([b[0] for b in kernel["blocks"]] == [0] + ends[:-1] and ends[-1] == count, f"{name}: blocks do not cover the points")
    check(sum(n for _, n in kernel["opcodes"]) == count - len(starts), f"{name}: opcode counts do not sum up")


def test_page(tool, folder):
    """The page of KERNELS without ptxas."""
    ptx, out = folder / "kernels.ptx", folder / "kernels.html"
    ptx.write_text(KERNELS)
    (folder / "kernels.cu").write_text(SOURCE)
    result = run(tool, "report", ptx, "-o", out, "--no-ptxas")
    check(result.returncode == 0 and not result.stderr and not result.stdout, f"report: {result.returncode} {result.stderr}")
    _, data = read_page(out)
    lines = KERNELS.split("\n")
    check([k["name"] for k in data["kernels"]] == ["nest", "small"], "the worst kernel does not come first")
    for kernel in data["kernels"]:
        check_kernel(kernel, lines)
    nest, small = data["kernels"]
    check([l[2] for l in nest["loops"]] == [1, 2], f"the loops are {nest['loops']}")
    check(nest["ptxas"] is None and data["ptxas"] == "", "counts of a ptxas that was not asked")
    check(small["threads"] == 128 and small["threadsGiven"] and not nest["threadsGiven"], "the launch bounds are wrong")
    check(nest["shared"] == 1000, f"{nest['shared']} bytes of shared memory instead of 1000")
    places = [source[:2] for source in data["sources"]]
    check(places == [[1, 2], [1, 3], [2, 7], [1, 99]], f"the source lines are {places}")
    check([s[2] if len(s) > 2 else None for s in data["sources"]] == ["  line two " + HOSTILE, "line three", None, None], "the source text is wrong")
    dump = run(tool, ptx, "--dump=pressure").stdout
    check(re.search(r"nest: register pressure", dump) is not None, "there is no dump of the pressure")
    most = max(d for d in nest["data"])
    check(re.search(rf"nest: register pressure.*\n\s*data: at most {most} ", dump) is not None, f"--dump=pressure does not say that nest has {most} units")
    bare = folder / "bare.html"
    run(tool, "report", ptx, "-o", bare, "--no-ptxas", "--no-source")
    check("line three" not in bare.read_text(), "--no-source: the source is there")
    stream = run(tool, "report", ptx, "-o", "-", "--no-ptxas")
    check(stream.stdout == out.read_text(), "-o - writes something else")
    return out, data


def test_ptxas(tool, folder):
    """ptxas's messages, from a script in its place."""
    ptx, out = folder / "kernels.ptx", folder / "ptxas.html"
    real = find_ptxas()
    fake = folder / "fake ptxas"
    if real is not None:
        # The real one, but for its version and what it says of spills.
        fake.write_text(f"""#!/bin/sh
[ "$1" = --version ] && {{ echo 'Cuda compilation tools, release 99.1, V99.1.2'; exit 0; }}
echo asked >> "$0.log"
[ "$1 $2 $3" = "-lineinfo -v -arch=sm_80" ] || exit 3
'{real}' "$@" 2>&1 | sed '/nest/,$s/0 bytes spill stores, 0 bytes spill loads/24 bytes spill stores, 28 bytes spill loads/' >&2
""")
        fake.chmod(0o755)
        Path(f"{fake}.log").unlink(missing_ok=True)
        result = run(tool, "report", ptx, "-o", out, "--ptxas", fake)
        check(result.returncode == 0 and not result.stderr, f"with a ptxas: {result.returncode} {result.stderr}")
        _, data = read_page(out)
        nest = data["kernels"][0]["ptxas"]
        check((nest["spillStores"], nest["spillLoads"]) == (24, 28), f"ptxas's spills are read as {nest}")
        check(data["ptxas"] == "V99.1.2", f"the version of ptxas is read as {data['ptxas']}")
        check(Path(f"{fake}.log").read_text() == "asked\n", "ptxas was not asked once")
    silent = folder / "silent ptxas"
    silent.write_text("#!/bin/sh\nexit 0\n")
    silent.chmod(0o755)
    result = run(tool, "report", ptx, "-o", out, "--ptxas", folder / "none")
    check(result.returncode == 2 and "there is no such file" in result.stderr, f"a ptxas that is not there: {result.returncode} {result.stderr}")
    for program, words in (("/bin/false", "exit status 1"), (silent, "no cubin")):
        result = run(tool, "report", ptx, "-o", out, "--ptxas", program)
        check(result.returncode == 0 and words in result.stderr, f"--ptxas {program}: {result.returncode} {result.stderr}")
        _, data = read_page(out)
        check(any(words in note for note in data["notes"]) and data["kernels"][0]["ptxas"] is None, f"--ptxas {program}: the page does not say so")
        check(not any("time" in kernel for kernel in data["kernels"]), f"--ptxas {program}: there is a modelled time")
    if real is None:
        print("report: no ptxas: its real counts are not compared")
        return
    run(tool, "report", ptx, "-o", out, "--ptxas", real)
    _, data = read_page(out)
    said = run(real, "-v", "-arch=sm_80", ptx, "-o", "/dev/null").stderr
    for kernel in data["kernels"]:
        match = re.search(rf"entry function '{kernel['name']}'.*?Used (\d+) registers", said, re.S)
        check(kernel["ptxas"]["registers"] == int(match[1]), f"{kernel['name']}: {kernel['ptxas']}, ptxas says {match[1]}")
    result = run(tool, "time", ptx, "--ptxas", real, "--code", "--format", "json")
    check(result.returncode == 0, f"ptxopt time: {result.stderr}")
    times = {f["name"]: f for f in json.loads(result.stdout)["functions"]}
    for kernel in data["kernels"]:
        for holds, message in modelled_time.agreement(kernel["time"], times[kernel["name"]]):
            check(holds, f"{kernel['name']}: {message}")


def test_errors(tool, folder):
    bad, out = folder / "bad.ptx", folder / "bad.html"
    ptx = folder / "kernels.ptx"
    bad.write_text(".version 8.0\n.target sm_80\n.visible .entry k( {\n")
    out.write_text("before")
    for words, code in (((bad, "-o", out), 3), ((folder / "none.ptx", "-o", out), 2), ((ptx,), 2), ((ptx, "-o", ptx), 2),
                        ((ptx, "-o", out, "--arch", "sm_1"), 2), ((ptx, "-o", folder / "no" / "x.html"), 2), ((ptx, "-o", out, "--ptxas", "x", "--no-ptxas"), 2)):
        result = run(tool, "report", *words)
        check(result.returncode == code and result.stderr, f"report {words}: exit {result.returncode} instead of {code}: {result.stderr}")
    check(out.read_text() == "before", "a failure changed the output file")
    check(ptx.read_text() == KERNELS, "a failure changed the input file")
    empty = folder / "empty.ptx"
    for name, text in (("empty", ""), ("hollow", ".entry _Z6hollowi() { }\n")):
        empty.write_text(".version 8.0\n.target sm_80\n.address_size 64\n" + text)
        result = run(tool, "report", empty, "-o", folder / f"{name}.html", "--no-ptxas")
        check(result.returncode == 0, f"{name}: {result.stderr}")
        _, data = read_page(folder / f"{name}.html")
        check([k["demangled"] for k in data["kernels"]] == ["hollow(int)"] * bool(text), f"{name}: the kernels are {data['kernels']}")
    strange = folder / "strange.ptx"  # CRLF, a mark at the start, bytes that are not UTF-8
    strange.write_bytes(b"\xef\xbb\xbf" + KERNELS.replace("//", "// \xe9").replace("\n", "\r\n").encode("latin-1"))
    result = run(tool, "report", strange, "-o", folder / "strange.html", "--no-ptxas")
    check(result.returncode == 0, f"bytes that are not UTF-8: {result.stderr}")
    _, data = read_page(folder / "strange.html")
    check(len(data["kernels"]) == 2 and "\r" not in data["kernels"][0]["text"].split("\n")[-1], "CRLF: the text is wrong")


def large(instructions):
    body = "".join(f"\tadd.u32 %r{i % 61 + 2}, %r{(i * 7) % 61 + 2}, %r{(i * 5) % 61 + 2};\n" + (f"L{i}:\n" if i % 50 == 0 else "") for i in range(instructions))
    return (".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry large(.param .u64 p)\n{\n\t.reg .b32 %r<64>;\n\t.reg .b64 %rd<2>;\n"
            f"\tld.param.u64 %rd1, [p];\n{body}\tst.global.u32 [%rd1], %r2;\n\tret;\n}}\n")


# ---- the browser ----

class Browser:
    def __init__(self, program):
        self.program = program

    def see(self, page, address="", script=""):
        """The document after the page and `script` have run."""
        path = page
        if script:
            path = page.with_name(page.stem + ".script.html")
            path.write_text(page.read_text() + f"<pre id='result'></pre><script>{script}</script>")
        with tempfile.TemporaryDirectory() as profile:
            result = run(self.program, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", "--window-size=1400,1500",
                         "--virtual-time-budget=5000", "--enable-logging=stderr", "--dump-dom", f"{path.as_uri()}#{address}")
        errors = [line for line in result.stderr.splitlines() if "CONSOLE" in line]
        check(result.returncode == 0 and not errors, f"{page.name}: the browser says {errors or result.stderr[-500:]}")
        return result.stdout


def text_of(dom, identifier):
    """The text inside the element of this id."""
    match = re.search(rf'<(\w+)[^>]* id="{identifier}"[^>]*>(.*?)</\1>', dom, re.S)
    match = match or re.search(rf"<(\w+) id=['\"]{identifier}['\"]>(.*?)</\1>", dom, re.S)
    return html.unescape(re.sub(r"<[^>]*>", " ", match[2])).strip() if match else ""


def line_of(text):
    return next(n for n, line in enumerate(KERNELS.split("\n"), 1) if line.strip() == text)


def alive_names(dom):
    body = re.search(r'id="alive".*?<tbody>(.*?)</tbody>', dom, re.S)
    return sorted(re.findall(r"<tr[^>]*><td[^>]*>([^<]*)</td>", body[1])) if body else []


def test_points(browser, page):
    line = line_of("add.f64 %fd2, %fd1, %fd1;")
    dom = browser.see(page, f"kernel=nest&line={line}")
    # Behind the addition: the address, the count, both counters, the table's address, and the sum.
    check(alive_names(dom) == ["%fd2", "%r1", "%r2", "%r3", "%r7", "%rd1"], f"live at line {line}: {alive_names(dom)}")
    check(text_of(dom, "point").startswith(f"After line {line}: 8 live units"), f"the point is {text_of(dom, 'point')}")
    check('class="row at"' in dom and f'data-line="{line}"' in dom, "the line is not marked")
    check(dom.count('<svg class="chart"') == 1 and "<polyline" in dom, "there is no chart")
    check('class="step"' in dom, "the chart has no step")
    dom = browser.see(page, f"kernel=nest&line={line_of('ld.param.u32 %r1, [nest_n];')}")
    check(text_of(dom, "source") == ("  line two " + HOSTILE).strip(), f"the source line is {text_of(dom, 'source')}")
    line = line_of("mov.b32 {%rs1, %rs2}, %r2;")  # first in a block without a label
    dom = browser.see(page, f"kernel=nest&line={line}")
    check(text_of(dom, "point").startswith(f"After line {line}:"), f"the point is {text_of(dom, 'point')}")
    dom = browser.see(page, "kernel=small")
    check(text_of(dom, "name") == "small" and "&lt;/script&gt;&lt;script&gt;window.broken=1" in dom, "the comment is not shown as text")
    check("<img" not in dom, "text of the module became an element")


def test_time(browser, page, without):
    """What the page shows of the modelled time; `without`: a page that has none."""
    _, data = read_page(page)
    time = data["kernels"][0]["time"]
    chosen, _, _, _, _, cause = next(row for row in time["lines"] if row[4] >= 1 and row[5])
    dom = browser.see(page, f"kernel=nest&line={chosen}")
    for holds, message in modelled_time.shown(time, dom, text_of(dom, "time")):
        check(holds, message)
    check(f"(L2) for line {cause}" in text_of(dom, "made"), f"at line {chosen}: {text_of(dom, 'made')}")
    dom = browser.see(without, "kernel=nest")
    check('<section id="timed" hidden' in dom and 'class="made"' not in dom and 'id="made"' not in dom, "a page without a modelled time shows one")


def test_clicks(browser, page, data):
    """A click on each tenth of the chart and on a row; the sum of the units shown is the height of the chart."""
    script = """
const seen = [];
const box = document.getElementById('chart').getBoundingClientRect();
const note = () => seen.push([document.getElementById('point').textContent, document.querySelectorAll('#alive tbody tr').length]);
for (let i = 0; i < 10; ++i) {
  document.getElementById('chart').dispatchEvent(new MouseEvent('click', {bubbles: true, clientX: box.left + chart.left + (i + .5) * chart.width / 10, clientY: box.top + 50}));
  note();
  seen[seen.length - 1].push(at, kernel.total[at]);
}
document.querySelector('.row[data-line="LINE"]').click();
note();
document.getElementById('listing').dispatchEvent(new KeyboardEvent('keydown', {key: 'm'}));
note();
seen.push(location.hash, typeof window.broken);
document.getElementById('result').textContent = JSON.stringify(seen);
"""
    line = line_of("add.u32 %r2, %r2, 1;")
    dom = browser.see(page, "kernel=nest", script.replace("LINE", str(line)))
    seen = json.loads(text_of(dom, "result") or "null")
    check(seen is not None, "clicking did not work")
    if seen is None:
        return
    nest = data["kernels"][0]
    points = [s[2] for s in seen[:10]]
    check(points == sorted(points) and len(set(points)) == 10, f"clicks along the chart give the points {points}")
    for text, rows, point, total in seen[:10]:
        check(f": {total} live unit" in text and total == nest["data"][point] + nest["uniform"][point], f"at point {point}: {text}")
        alive = sum(1 for r in nest["registers"] if any(a <= point < b for a, b in zip(r[4][::2], r[4][1::2])))
        check(rows == alive, f"at point {point}: {rows} values instead of {alive}")
    check(seen[10][0].startswith(f"After line {line}:"), f"a click on a line: {seen[10]}")
    check(f": {nest['maximum']} live units" in seen[11][0], f"the key m: {seen[11]}")
    check("kernel=nest" in seen[12] and seen[13] == "undefined", f"the address is {seen[12]}")


def busy():
    """Kernels with many values alive, blocks of odd sizes, and shared memory."""
    text = ".version 8.0\n.target sm_80\n.address_size 64\n"
    for live in (10, 40, 70, 110, 180):
        for threads in (32, 96, 160, 352, 672, 1024):
            loads = "".join(f"\tld.global.u32 %r{i}, [%rd1+{4 * i}];\n" for i in range(live))
            stores = "".join(f"\tst.global.u32 [%rd1+{4 * i}], %r{live - 1 - i};\n" for i in range(live))
            text += (f".visible .entry k{live}_{threads}(.param .u64 p)\n.maxntid {threads}, 1, 1\n{{\n\t.reg .b32 %r<{live}>;\n\t.reg .b64 %rd<2>;\n"
                     f"\t.shared .b8 s[{live * threads // 8}];\n\tld.param.u64 %rd1, [p];\n\tst.shared.u32 [s], 0;\n{loads}\tbar.sync 0;\n{stores}\tret;\n}}\n")
    return text


def test_occupancy(tool, browser, page, folder):
    """The page's own computation against --dump=occupancy."""
    cases = []
    ptx = folder / "busy.ptx"
    ptx.write_text(busy())
    for architecture in ARCHITECTURES:
        dump = run(tool, ptx, "--dump=occupancy", "--arch", architecture).stdout
        registers = shared = barriers = None
        for line in dump.splitlines():
            if match := re.search(r": (\d+) registers a thread, (\d+) bytes of shared memory, (\d+) barrier", line):
                registers, shared, barriers = map(int, match.groups())
            elif match := re.search(r"(\d+) threads a block.*?: (\d+) blocks?, (\d+) of (\d+) warps", line):
                threads, blocks, warps, most = map(int, match.groups())
                cliff = re.search(r"fewer from (\d+) registers", line)
                cases.append([architecture, {"registers": registers, "threads": threads, "shared": shared, "barriers": barriers},
                              [blocks, warps, most, int(cliff[1]) if cliff else 0]])
    check(len(cases) == 30 * len(ARCHITECTURES), f"--dump=occupancy: {len(cases)} rows are understood")
    script = """
document.getElementById('result').textContent = JSON.stringify(CASES.map(([name, need]) => {
  const a = report.architectures.find(x => x.name === name), o = occupancy(a, need);
  const cliff = occupancySteps(a, need).find(s => s.least > need.registers && s.blocks < o.blocks);
  return [o.blocks, o.warps, o.mostWarps, cliff ? cliff.least : 0];
}));
""".replace("CASES", json.dumps(cases))
    dom = browser.see(page, "", script)
    got = json.loads(text_of(dom, "result") or "[]")
    check(len(got) == len(cases), "the occupancy was not computed")
    for (architecture, need, wanted), mine in zip(cases, got):
        check(mine == wanted, f"occupancy on {architecture} of {need}: the page says {mine}, the tool {wanted}")
    dom = browser.see(page, "kernel=small&threads=1024&registers=65&architecture=sm_80")
    check("cannot run" in text_of(dom, "occupancy"), f"1024 threads of 65 registers: {text_of(dom, 'occupancy')}")


def test_large(tool, browser, folder):
    ptx, out = folder / "large.ptx", folder / "large.html"
    ptx.write_text(large(10000))
    result = run(tool, "report", ptx, "-o", out, "--no-ptxas")
    check(result.returncode == 0, f"a large kernel: {result.stderr}")
    check(out.stat().st_size < 4 << 20, f"the page of 10,000 instructions takes {out.stat().st_size} bytes")
    _, data = read_page(out)
    check_kernel(data["kernels"][0], ptx.read_text().split("\n"))
    if browser is None:
        return
    dom = browser.see(out, "kernel=large&line=9000")
    rows = re.findall(r'<div class="row(?: at)?" data-line="(\d+)"', dom)
    check(0 < len(rows) < 200 and "9000" in rows, f"the listing has {len(rows)} rows, {rows[:1]} to {rows[-1:]}")
    points = re.search(r'<polyline points="([^"]*)"', dom)
    check(points is not None and len(points[1].split()) < 6000, "the chart has more points than pixels")
    check("9000" in text_of(dom, "point"), f"the point is {text_of(dom, 'point')}")
    check("show all" in text_of(dom, "blocks"), "the table of 200 blocks is not cut")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--browser", help="Chromium; by default the one of PATH, if any")
    parser.add_argument("--keep", type=Path, help="leave the pages here")
    args = parser.parse_args()
    tool = os.path.abspath(args.tool)
    program = args.browser or next(filter(None, map(shutil.which, BROWSERS)), None)
    with tempfile.TemporaryDirectory() as temporary:
        folder = (args.keep or Path(temporary)).resolve()
        folder.mkdir(exist_ok=True)
        page, data = test_page(tool, folder)
        test_ptxas(tool, folder)
        test_errors(tool, folder)
        browser = Browser(program) if program else None
        test_large(tool, browser, folder)
        if browser is None:
            print("report: no Chromium: the page is not run")
        else:
            test_points(browser, page)
            test_clicks(browser, page, data)
            test_occupancy(tool, browser, page, folder)
            browser.see(folder / "empty.html")
            browser.see(folder / "hollow.html")
            browser.see(folder / "strange.html", "kernel=nest")
            if find_ptxas() is not None:
                test_time(browser, folder / "ptxas.html", page)
    for failure in FAILURES:
        print(failure)
    print(f"report: {CHECKS} checks, {len(FAILURES)} failed")
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(main())

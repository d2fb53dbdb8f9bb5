"""Checks of the modelled time in the report, each as (whether it holds, what is wrong if not)."""
import re


def near(a, b):
    """The page has one digit after the point, `ptxopt time` two."""
    return abs(a - b) < .056


def scenarios(of):
    return [of["l1"], of["l2"], of["dram"]]


def line_in(place):
    return place["line"] if place else 0


def agreement(time, wanted):
    """The data of a kernel's time against what `ptxopt time --code --format json` says of the kernel."""
    yield (time["warps"], time["threads"]) == (wanted["warps"], wanted["threads"]), f"the time is for {time['warps']} warps of {time['threads']}"
    yield all(near(cycles, w) for (cycles, _), w in zip(time["whole"], scenarios(wanted["cycles"]))), f"the whole is {time['whole']}"
    yield len(time["regions"]) == len(wanted["regions"]), f"the regions are {time['regions']}"
    for row, region in zip(time["regions"], wanted["regions"]):
        yield from region_agreement(row, region)
    loops = [n for n, row in enumerate(time["regions"]) if row[1]]
    hottest = max(loops, key=lambda n: time["regions"][n][4] * time["regions"][n][6][1][0], default=-1)
    yield time["hottest"] == hottest, f"the hottest loop is {time['hottest']}"
    yield from line_agreement(time["lines"], wanted["regions"], hottest)


def region_agreement(row, region):
    title, depth, first, last, iterations, instructions, cells, known = row
    lines = sorted(filter(None, (line_in(i["ptx"]) for i in region["code"])))
    yield (first, last) == (lines[0], lines[-1]), f"{title} has the lines {first} to {last}"
    yield depth == (region["loop"]["depth"] if region["loop"] else 0) and ("loop at" in title) == (depth > 0), f"{title} is {depth} deep"
    yield near(iterations, region["iterations"]) and near(instructions, region["instructions"]), f"{title}: {iterations} iterations, {instructions} instructions"
    yield known == (region["iterations-from"] or ""), f"{title}: the iterations are {known}"
    for (cycles, limit), s in zip(cells, scenarios(region["scenarios"])):
        yield near(cycles, s["cycles"]) and limit == s["bottleneck"], f"{title}: {cycles} cycles, {limit}"


def line_agreement(rows, regions, hottest):
    line_at = {i["at"]: line_in(i["ptx"]) for region in regions for i in region["code"]}
    lines = {}  # by line: (region, cycles to wait with data in L2, the line that this is for)
    for n, region in enumerate(regions):
        for i in region["code"]:
            wait = i["waits"].get("l2", {"cycles": 0, "for": None})
            lines.setdefault(line_at[i["at"]], []).append((n, wait["cycles"], line_at.get(wait["for"], 0)))
    lines.pop(0, None)
    yield [row[0] for row in rows] == sorted(lines), f"lines with machine code are {[row[0] for row in rows]}"
    if [row[0] for row in rows] != sorted(lines):
        return
    for line, instructions, issue, is_hot, wait, waits_for in rows:
        own = lines[line]
        yield instructions == len(own) and issue > 0, f"line {line}: {instructions} instructions, {issue} cycles to issue"
        yield is_hot == any(n == hottest for n, _, _ in own), f"line {line}: hot is {is_hot}"
        longest = max(cycles for _, cycles, _ in own)
        yield near(wait, longest), f"line {line}: waits {wait} cycles"
        causes = {cause for _, cycles, cause in own if near(longest, cycles)} if wait else {0}
        yield waits_for in causes, f"line {line}: waits for {waits_for}"


def shown(time, dom, table):
    """The document against the data; `table`: the text of the table of regions."""
    yield '<section id="timed">' in dom, "the modelled time is hidden"
    for title, _, _, _, _, _, cells, _ in time["regions"]:
        yield title in table and all(f"{cycles:.1f}" in table and limit in table for cycles, limit in cells), f"{title} is not in the table: {table}"
    yield dom.count('<tr class="go hot">') == 1, "the hottest loop is not marked in the table"
    rows = {int(line): (classes.split(), made, wait) for classes, line, made, wait in re.findall(
        r'<div class="(row[^"]*)" data-line="(\d+)".*?<span class="made"[^>]*>(.*?)</span><span class="wait"[^>]*>(.*?)</span>', dom)}
    for line, instructions, _, is_hot, wait, waits_for in time["lines"]:
        classes, made, waits = rows.pop(line)
        yield made == str(instructions) and ("hot" in classes) == bool(is_hot), f"line {line}: {made} machine instructions, {classes}"
        yield bool(waits) == (wait >= .5) and (not waits or not waits_for or waits.endswith(f" for {waits_for}")), f"line {line}: waits {waits}"
    rest = [row for row in rows.values() if row[1] or row[2] or "hot" in row[0]]
    yield rows and not rest, f"lines without machine code: {rest}"

"""Which registers of a generated kernel may be read before they are written: a check of the generator.

Forward data flow over the text: a register is written where every path wrote it. A guarded definition counts only
together with the next one on the opposite guard. Understands the PTX that generate_kernel writes, no more.
"""
import re

REGISTER = re.compile(r"%[a-z]+[0-9]*[a-z]*[0-9]*(?:\.[xyzw]\b)?")
SPECIAL = {"%tid.x", "%tid.y", "%tid.z", "%ntid.x", "%ntid.y", "%ntid.z", "%ctaid.x", "%ctaid.y", "%ctaid.z",
           "%nctaid.x", "%nctaid.y", "%nctaid.z", "%laneid"}
LANES = "%gap"  # registers that one lane writes; the others send what they have to nobody
NO_RESULT = ("st.", "red.", "bra", "brx", "bar.sync", "bar.warp", "barrier", "ret", "exit", "call")


def rename(lines):
    """The lines with each register's name made unique by the braces that declare it."""
    scopes, serial, result = [], 0, []
    for line in lines:
        text = line.strip()
        if text == "{":
            scopes.append({})
            continue
        if text == "}":
            scopes.pop()
            continue
        if text.startswith(".reg"):
            for name, count in re.findall(r"(%[a-z]+[0-9]*[a-z]*[0-9]*)(<\d+>)?", text):
                serial += 1
                names = [f"{name}{i}" for i in range(int(count[1:-1]))] if count else [name]
                scopes[-1].update((n, f"{n}_{serial}") for n in names)
            continue

        def unique(match):
            if match[0] in SPECIAL:
                return match[0]
            register = match[0].partition(".")[0]  # a vector counts as one
            for scope in reversed(scopes):
                if register in scope:
                    return scope[register]
            raise ValueError(f"undeclared {match[0]}: {text}")
        result.append(REGISTER.sub(unique, text))
    return result


def split(text):
    """(guard, opcode, results, sources) of an instruction; a guard is ("%p1", True where negated)."""
    guard = None
    if match := re.match(r"@(!?)(%\S+)\s+", text):
        guard, text = (match[2], bool(match[1])), text[match.end():]
    opcode, _, rest = text.rstrip(";").partition(" ")
    operands = [o.strip() for o in re.findall(r"\{[^}]*\}|\[[^]]*\]|[^,{}\[\]]+", rest) if o.strip()]
    registers = [re.findall(r"%[\w.]+", o) for o in operands]
    if opcode.startswith("call") and (call := re.fullmatch(r"\((%[^)]*)\), (.*)", rest)):
        return guard, opcode, re.findall(r"%[\w.]+", call[1]), re.findall(r"%[\w.]+", call[2])
    if opcode.startswith(NO_RESULT):
        return guard, opcode, [], sum(registers, [])
    return guard, opcode, registers[0], sum(registers[1:], [])


def undefined_reads(function):
    """Messages for the reads in one function's lines, braces included, that some path reaches without a write."""
    lines = rename(function)
    matches = (re.match(r"(\$\w+): \.branchtargets (.*);", t) for t in lines)
    tables = {m[1]: re.findall(r"\$\w+", m[2]) for m in matches if m}
    labels = {m[1]: i for i, m in enumerate(re.match(r"(\$\w+):$", t) for t in lines) if m}
    code = []
    for text in lines:
        if text.endswith(":") or text.startswith((".", "$")) or not text:
            code.append((None, "", [], []))
        else:
            code.append(split(text))
    state = {0: frozenset()}
    work = [0]
    messages = {}
    while work:
        at = work.pop()
        if at >= len(code):
            continue
        guard, opcode, results, sources = code[at]
        known = state[at]
        reads = sources + ([guard[0]] if guard else [])
        missing = [r for r in reads if r.startswith("%") and r not in SPECIAL and r not in known and not r.startswith(LANES)]
        messages.pop(at, None)
        if missing:
            messages[at] = f"{' '.join(missing)}: {lines[at]}"
        after = known
        if guard is None:
            after = known | set(results)
        elif results and at > 0:
            before = code[at - 1]
            if before[0] == (guard[0], not guard[1]) and before[2] == results and guard[0] not in results:
                after = known | set(results)
        following = []
        if opcode.startswith("brx"):
            table = re.search(r"(\$\w+);", lines[at])[1]
            following = [labels[t] for t in tables[table]]
        elif opcode.startswith("bra"):
            following = [labels[re.search(r"(\$\w+);", lines[at])[1]]]
        if guard or not re.match(r"bra|brx|ret|exit", opcode):
            following.append(at + 1)
        for target in following:
            joined = after if target not in state else state[target] & after
            if target not in state or joined != state[target]:
                state[target] = joined
                work.append(target)
    return list(messages.values())


def functions(text):
    """The lines of each function body, its outer braces included; not of those that have registers as parameters."""
    lines, body, depth, header = text.splitlines(), [], 0, ""
    for line in lines:
        mark = line.strip()
        if depth == 0 and mark.startswith(".func"):
            header = line
        elif depth == 0 and ".entry" in mark:
            header = ""
        depth += mark == "{"
        if depth:
            body.append(line)
        depth -= mark == "}"
        if body and depth == 0:
            if "(.reg " not in header:
                yield body
            body = []

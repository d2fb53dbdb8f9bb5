"""One-instruction mutations of PTX, as `ptxopt --reprint` prints it: one instruction a line, one fixed spacing.

  enumerate_mutants(text) -> [Mutant]

A mutant is the text with one line changed or removed. Operators are grouped in classes:

  operation     another operation: add for sub, shl for shr, mul.hi for mul.lo, atom.max for atom.add
  comparison    another relation of setp, set or slct: le for lt, ne for eq
  immediate     an integer constant one more, one less, doubled, zero; a float constant of other sign, bit or exponent
  operands      two source operands exchanged where their order counts; two elements of a vector exchanged
  register      a source register replaced by another of the same class that is in use around it
  dropped       a result that is not computed: a move of a source takes the instruction's place
  store         a store or reduction removed
  branch        a branch removed
  guard         a guard negated, or removed
  width         another signedness or width: ld.s8 for ld.u8, setp.lt.s32 for setp.lt.u32, cvt.s32 for cvt.u32
  offset        the offset of an address one element more or less
  modifier      .ftz or .sat removed, or added where it may stand
  rounding      another rounding
  lanes         another mode or constant of shfl, another vote
  space         an access to another space
  barrier       a barrier or fence removed: nothing need be different, for threads run in some order

The text outside of the line stays. Which of them ptxas accepts is not known here.
"""
import functools
import re
from dataclasses import dataclass

CLASSES = ["operation", "comparison", "immediate", "operands", "register", "dropped", "store", "branch", "guard", "width",
           "offset", "modifier", "rounding", "lanes", "space", "barrier"]

LINE = re.compile(r"^(\s+)(?:@(!?)([%$\w]+)\s+)?([a-z][\w.:]*)(?:\s+(.*))?;$")
WORD = re.compile(r"[%$A-Za-z_][\w$%]*(?:\.[a-z]\w*)*")
INTEGER = re.compile(r"^-?(?:0[xX][0-9a-fA-F]+|\d+)U?$")
FLOAT = re.compile(r"^-?0[fFdD][0-9a-fA-F]+$")


@dataclass(frozen=True)
class Mutant:
    kind: str  # one of CLASSES
    line: int  # from 1
    kernel: str  # the entry that it is in, or empty: in a function
    old: str
    new: str  # empty: removed
    guard: bool = False  # it matters whether or not the guard is true


@dataclass
class Line:
    indent: str
    guard: str  # "@%p " and its like, or empty
    opcode: str
    operands: list

    def text(self, opcode=None, operands=None, guard=None):
        operands = self.operands if operands is None else operands
        words = (opcode or self.opcode) + (" " + ", ".join(operands) if operands else "")
        return f"{self.indent}{self.guard if guard is None else guard}{words};"

    @property
    def parts(self):
        return self.opcode.split(".")


def split_operands(text):
    """Operands at the outer level of brackets."""
    out, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if c == "," and depth == 0:
            out.append(text[start:i].strip())
            start = i + 1
    last = text[start:].strip()
    return out + [last] if last else out


def read_line(text):
    match = LINE.match(text)
    if not match or match[4].endswith(":"):
        return None
    guard = f"@{match[2]}{match[3]} " if match[3] else ""
    return Line(match[1], guard, match[4], split_operands(match[5] or ""))


# ---------------------------------------------------------------- registers

def declared_registers(lines):
    """A function from a register's name to its class, such as b32, for one function's lines. Its attribute declared is
    one to the type as declared, such as f32."""
    ranges, names, types = {}, {}, {}
    for line in lines:
        match = re.match(r"\s+\.reg\s+((?:\.\w+\s+)+)(.*);", line)
        if not match:
            continue
        kind = "v" + match[1] if ".v2" in match[1] or ".v4" in match[1] else re.sub(r"^[usf]", "b", match[1].split()[-1][1:])
        for name in split_operands(match[2]):
            ranged = re.match(r"([%$\w]+)<(\d+)>", name)
            types[ranged[1] if ranged else name] = match[1].split()[-1][1:]
            if ranged:
                ranges[ranged[1]] = kind
            else:
                names[name] = kind

    @functools.cache  # it is asked for each pair of registers
    def class_of(name):
        if name in names:
            return names[name]
        return ranges.get(re.sub(r"\d+$", "", name))
    class_of.declared = lambda name: types.get(name) or types.get(re.sub(r"\d+$", "", name))
    return class_of


def registers_of(operand, class_of):
    return [word for word in WORD.findall(operand) if class_of(word)]


# ---------------------------------------------------------------- operators

SWAPS = {"add": ["sub"], "sub": ["add"], "and": ["or"], "or": ["and", "xor"], "xor": ["and"], "min": ["max"], "max": ["min"],
         "shl": ["shr"], "shr": ["shl"], "div": ["mul"], "rem": ["div"], "not": ["neg"], "neg": ["abs"], "abs": ["neg"],
         "popc": ["clz"], "clz": ["popc"], "brev": ["not"], "sin": ["cos"], "cos": ["sin"], "ex2": ["lg2"], "lg2": ["ex2"],
         "addc": ["subc"], "subc": ["addc"], "rsqrt": ["sqrt"], "sqrt": ["rcp"], "rcp": ["sqrt"], "cnot": ["not"],
         "dp4a": ["dp2a"], "mad24": ["mul24"]}
FLOATING = {"f16", "f16x2", "bf16", "bf16x2", "f32", "f64", "f32x2"}
RELATIONS = {"eq": ["ne"], "ne": ["eq"], "lt": ["le", "ge"], "le": ["lt", "gt"], "gt": ["ge", "le"], "ge": ["gt", "lt"],
             "lo": ["ls"], "ls": ["lo"], "hi": ["hs"], "hs": ["hi"], "equ": ["neu"], "neu": ["equ"], "ltu": ["leu", "geu"],
             "leu": ["ltu"], "gtu": ["geu"], "geu": ["gtu"], "num": ["nan"], "nan": ["num"]}
ATOMIC = {"add": ["max", "exch"], "max": ["min"], "min": ["max"], "and": ["or"], "or": ["and", "xor"], "xor": ["or"],
          "inc": ["dec"], "dec": ["inc"], "exch": ["add"]}
ROUNDINGS = {"rn": ["rz", "rp"], "rz": ["rn", "rm"], "rm": ["rp"], "rp": ["rm"],
             "rni": ["rzi", "rpi"], "rzi": ["rni", "rmi"], "rmi": ["rpi"], "rpi": ["rmi"]}
ORDERED = {"sub", "shl", "shr", "div", "rem", "selp", "setp", "shf", "prmt", "mad", "fma", "bfe", "subc", "sad", "atom", "dp4a",
           "lop3", "copysign", "set", "slct", "bfi"}
SIGNED = {"setp", "shr", "mul", "mad", "min", "max", "div", "rem", "cvt", "ld", "ldu", "bfe", "sad", "dp4a", "set", "atom", "red",
          "abs"}
LANES = {"bfly": ["down", "up"], "up": ["down", "bfly"], "down": ["up", "bfly"], "idx": ["bfly"], "any": ["all"], "all": ["any"],
         "uni": ["any"]}
NO_IMMEDIATES = {"bar", "barrier", "call", "ld", "st", "bra", "brx", "pmevent", "cp", "nanosleep", "setmaxnreg", "griddepcontrol", "shfl",
                 "vote", "match", "redux", "activemask", "elect"}
SIZE = {"b8": 1, "u8": 1, "s8": 1, "b16": 2, "u16": 2, "s16": 2, "f16": 2, "bf16": 2, "b32": 4, "u32": 4, "s32": 4, "f32": 4,
        "f16x2": 4, "bf16x2": 4, "b64": 8, "u64": 8, "s64": 8, "f64": 8, "b128": 16}


def operation(line):
    parts = line.parts
    base, kind = parts[0], parts[-1]
    if base in ("atom", "red"):
        for at, part in enumerate(parts):
            for other in ATOMIC.get(part, []):
                if base == "atom" or other != "exch":
                    yield line.text(".".join(parts[:at] + [other] + parts[at + 1:]))
        return
    if base in ("setp", "set") or (base in ("min", "max") and "xorsign" in parts):
        return
    for other in SWAPS.get(base, []):
        rest = parts[1:]
        if other == "shr" and kind.startswith("b"):
            rest = ["u" + kind[1:]]
        elif other == "shl":
            rest = ["b" + kind[1:]]
        elif base == "not":
            rest = ["s" + kind[1:]] if kind.startswith("b") else None
        elif base == "rsqrt" and kind == "f64":
            continue
        elif other == "div" and base == "rem" or other == "mul" and base == "div":
            rest = (["lo"] if other == "mul" and kind not in FLOATING else []) + [x for x in rest if x not in ("full", "approx")]
        elif other in ("neg", "abs") and kind in ("u32", "u64"):
            continue
        if rest is not None:
            yield line.text(".".join([other] + rest))
    if base in ("mul", "mad", "mul24", "mad24"):
        for a, b in (("lo", "hi"), ("hi", "lo")):
            if a in parts:
                yield line.text(line.opcode.replace("." + a, "." + b))
    if base == "mul" and kind in FLOATING:
        yield line.text(line.opcode.replace("mul", "add"))
    if base in ("add", "sub") and kind in FLOATING:
        yield line.text(line.opcode.replace(base, "mul"))
    if base == "shf":
        yield line.text(line.opcode.replace(".l.", ".r.") if ".l." in line.opcode else line.opcode.replace(".r.", ".l."))
        yield line.text(line.opcode.replace("wrap", "clamp") if "wrap" in line.opcode else line.opcode.replace("clamp", "wrap"))
    if base == "fma" and len(line.operands) == 4:
        yield line.text("mul." + ".".join(parts[1:]), line.operands[:3])
    if base == "mad" and "lo" in parts and len(line.operands) == 4:
        yield line.text("mul." + ".".join(parts[1:]), line.operands[:3])
    if base == "redux":
        for at, part in enumerate(parts):
            for other in {"add": ["max"], "min": ["max"], "max": ["min"], "and": ["or"], "or": ["xor"], "xor": ["or"]}.get(part, []):
                yield line.text(".".join(parts[:at] + [other] + parts[at + 1:]))


def comparison(line):
    parts = line.parts
    if parts[0] not in ("setp", "set"):
        return
    for other in RELATIONS.get(parts[1], []):
        yield line.text(".".join([parts[0], other] + parts[2:]))
    if len(parts) > 3 and parts[2] in ("and", "or", "xor"):
        yield line.text(".".join(parts[:2] + [{"and": "or", "or": "and", "xor": "or"}[parts[2]]] + parts[3:]))


def immediates(operand):
    if INTEGER.match(operand):
        value = int(operand.rstrip("U"), 0)
        return [str(other) for other in dict.fromkeys([value + 1, value - 1, value * 2, 0]) if other != value]
    if FLOAT.match(operand):
        prefix, digits = re.match(r"(-?0[fFdD])(.*)", operand).groups()
        bits, width = int(digits, 16), len(digits)
        top, exponent = 1 << (4 * width - 1), 1 << (23 if width == 8 else 52)
        return [f"{prefix}{other:0{width}X}" for other in dict.fromkeys([bits ^ top, bits ^ 1, bits ^ exponent])]
    return []


def immediate(line):
    if line.parts[0] in NO_IMMEDIATES:
        return
    for at, operand in enumerate(line.operands):
        for other in immediates(operand):
            yield line.text(None, line.operands[:at] + [other] + line.operands[at + 1:])


def exchanged(items, i, j):
    items = list(items)
    items[i], items[j] = items[j], items[i]
    return items


def operands(line):
    base = line.parts[0]
    if base in ORDERED:
        sources = [i for i in range(1, len(line.operands)) if "[" not in line.operands[i]]
        for i, j in zip(sources, sources[1:]):
            if base in ("mad", "fma", "dp4a") and (i, j) == (1, 2):
                continue  # a product's factors
            if line.operands[i] != line.operands[j]:
                yield line.text(None, exchanged(line.operands, i, j))
    for at, operand in enumerate(line.operands):
        if operand.startswith("{") and base not in ("bar", "call") and not base.startswith("tex"):
            elements = split_operands(operand[1:-1])
            if len(elements) > 1 and elements[0] != elements[1]:
                yield line.text(None, line.operands[:at] + ["{" + ", ".join(exchanged(elements, 0, 1)) + "}"] + line.operands[at + 1:])


def width(line, class_of):
    parts = line.parts
    base = parts[0]
    if base not in SIGNED or base in ("atom", "red") and not {"min", "max"} & set(parts):
        return
    # What does not look at the sign.
    blind = "lo" in parts and base in ("mul", "mad") or base in ("setp", "set") and parts[1] in ("eq", "ne")
    for at in range(1, len(parts)):
        kind = parts[at]
        if re.fullmatch(r"[us](8|16|32|64)", kind):
            same = blind or base in ("ld", "ldu") and class_of(line.operands[0].strip("{").split(",")[0]) == "b" + kind[1:]
            if not same:
                yield line.text(".".join(parts[:at] + [("s" if kind[0] == "u" else "u") + kind[1:]] + parts[at + 1:]))
            narrower = {"8": None, "16": "8", "32": "16", "64": "32"}[kind[1:]]
            if narrower and base in ("ld", "cvt") and at == len(parts) - 1 and not any(p in ("v2", "v4") for p in parts) and \
                    "param" not in parts:
                yield line.text(".".join(parts[:at] + [kind[0] + narrower]))


def offset(line, sizes):
    size = SIZE.get(line.parts[-1])
    if size is None or line.parts[0] == "call":
        return
    vector = next((int(part[1:]) for part in line.parts if re.fullmatch(r"v[248]", part)), 1)
    for at, operand in enumerate(line.operands):
        match = re.fullmatch(r"\[([^\[\]+]+?)(?:\+(-?\d+))?\]", operand)
        if not match:
            continue
        for step in (size * vector, -size * vector):
            value = int(match[2] or 0) + step
            place = f"[{match[1]}+{value}]" if value else f"[{match[1]}]"
            if "param" in line.parts and not 0 <= value < sizes.get(match[1], 1 << 30):
                continue  # no such byte
            yield line.text(None, line.operands[:at] + [place] + line.operands[at + 1:])


def modifier(line):
    parts = line.parts
    for name in ("ftz", "sat", "relu", "NaN"):
        if name in parts:
            yield line.text(".".join(part for part in parts if part != name))
    if parts[-1] == "f32" and parts[0] in ("add", "sub", "mul", "fma", "min", "max", "abs", "neg") and "ftz" not in parts:
        yield line.text(".".join(parts[:-1] + ["ftz", "f32"]))
    if parts[-1] == "f32" and parts[0] in ("add", "sub", "mul", "fma") and "sat" not in parts:
        yield line.text(".".join(parts[:-1] + ["sat", "f32"]))


def rounding(line):
    parts = line.parts
    for at in range(1, len(parts)):
        for other in ROUNDINGS.get(parts[at], []):
            yield line.text(".".join(parts[:at] + [other] + parts[at + 1:]))
    if parts[0] in ("add", "sub", "mul") and parts[-1] in ("f32", "f64") and not any(part in ROUNDINGS for part in parts):
        yield line.text(".".join([parts[0], "rz"] + parts[1:]))


def lanes(line):
    parts = line.parts
    if parts[0] not in ("shfl", "vote", "match"):
        return
    for at in range(1, len(parts)):
        for other in LANES.get(parts[at], []):
            if parts[0] != "match":
                yield line.text(".".join(parts[:at] + [other] + parts[at + 1:]))
    if parts[0] == "shfl" and len(line.operands) > 3:
        for at in (2, 3):
            for other in immediates(line.operands[at]):
                if at == 2 or int(other, 0) <= 31 + (31 << 8):
                    yield line.text(None, line.operands[:at] + [other] + line.operands[at + 1:])


def space(line):
    for old, new in ((".global", ".shared"), (".shared", ".local"), (".shared", ".global"), (".local", ".shared"),
                     (".const", ".global")):
        if line.parts[0] in ("ld", "st", "atom", "red") and old in line.opcode and ".nc" not in line.opcode:
            yield line.text(line.opcode.replace(old, new))
    if line.parts[0] == "cvta":
        yield line.text(line.opcode.replace(".global", ".local"))


def guard(line):
    if line.guard:
        yield line.text(guard="@" + line.guard[2:] if line.guard[1] == "!" else "@!" + line.guard[1:])
        if line.parts[0] != "bra":
            yield line.text(guard="")


def removed(line):
    base = line.parts[0]
    if base in ("st", "red"):
        yield "store", ""
    elif base in ("bar", "barrier", "membar", "fence") and "red" not in line.parts:
        yield "barrier", ""
    elif base == "bra" and line.guard:
        yield "branch", ""


def definition(line, class_of):
    """The register that the first operand is, if the instruction writes it."""
    if line.parts[0] in ("st", "red", "bra", "bar", "barrier", "ret", "exit", "call", "membar", "fence", "brx", "trap", "cp",
                         "prefetch", "mbarrier", "wgmma", "nanosleep", "stmatrix", "wmma", "mma", "ldmatrix") or not line.operands:
        return None
    first = line.operands[0]
    return first if class_of(first) else None


def dropped(line, class_of):
    target = definition(line, class_of)
    if not target:
        return
    kind = class_of(target)
    move = "mov.pred" if kind == "pred" else f"mov.{kind}"
    if kind not in ("pred", "b16", "b32", "b64"):
        return
    same = [name for operand in line.operands[1:] for name in registers_of(operand, class_of) if class_of(name) == kind and name != target]
    if same and line.parts[0] not in ("mov", "cvta"):
        yield line.text(move, [target, same[0]])
    elif line.parts[0] != "cvta" and line.operands[1:] != ["0"]:
        # A constant that is seldom right: many a variable has the address 0. The bits of 12345 are next to 0 in a float.
        number = {"f32": "mov.f32 {}, 0f4640E400", "f64": "mov.f64 {}, 0d40C81C8000000000"}
        constant = "setp.ne.u32 {}, 0, 0" if kind == "pred" else number.get(class_of.declared(target), move + " {}, 12345")
        constant = constant.format(target)
        yield f"{line.indent}{line.guard}{constant};"


def replaced_registers(line, number, class_of, ranges):
    """Each source register by another of its class that is in use before and after this line."""
    target = definition(line, class_of)
    for at, operand in enumerate(line.operands):
        if at == 0 and (target or "|" in operand) or line.parts[0] == "call" or operand.startswith("(") or (at == 0 and operand.startswith("{") and line.parts[0] != "st"):
            continue
        for name in registers_of(operand, class_of):
            kind = class_of(name)
            others = [other for other, (first, last) in ranges.items()
                      if first < number <= last and other != name and class_of(other) == kind]
            # The one that came last, and one of the others.
            for other in dict.fromkeys(others[-1:] + others[number * 7 % len(others):][:1] if others else []):
                new = re.sub(r"(?<![\w%$])" + re.escape(name) + r"(?![\w$%])", lambda _: other, operand)
                yield line.text(None, line.operands[:at] + [new] + line.operands[at + 1:])


def in_use(lines, first_number, class_of):
    """register -> (line of its first, line of its last mention), without its declaration."""
    ranges = {}
    for number, text in enumerate(lines, first_number):
        if re.match(r"\s+\.reg", text):
            continue
        for name in WORD.findall(text):
            if class_of(name):
                ranges[name] = (ranges.get(name, (number,))[0], number)
    return ranges


SIMPLE = {"operation": operation, "comparison": comparison, "immediate": immediate, "operands": operands,
          "modifier": modifier, "rounding": rounding, "lanes": lanes, "space": space}


def parameter_sizes(lines):
    """name -> bytes, of what is declared in .param."""
    sizes = {}
    for line in lines:
        for kind, name, count in re.findall(r"\.param\s+(?:\.align\s+\d+\s+)?\.(\w+)\s+(?:\.ptr\s[^,;)]*?)?([\w$%]+)(?:\[(\d+)\])?", line):
            if kind in SIZE:
                sizes[name] = max(sizes.get(name, 0), SIZE[kind] * int(count or 1))
    return sizes


def functions(lines):
    """(name of the entry or empty, first line, last line) of each body, lines from 1."""
    header, start = "", None
    for number, text in enumerate(lines, 1):
        match = re.search(r"\.(entry|func)\b", text) if not text.startswith(("\t", " ")) else None
        if match:
            entry = re.search(r"\.entry\s+([\w$]+)", text)
            header = entry[1] if entry else ""
        if text == "{":
            start = number
        elif text == "}" and start:
            yield header, start, number
            start = None


def enumerate_mutants(text):
    lines = text.split("\n")
    mutants, sizes = {}, parameter_sizes(lines)
    for kernel, first, last in functions(lines):
        body = lines[first - 1:last]
        class_of = declared_registers(body)
        ranges = in_use(body, first, class_of)
        for number, old in enumerate(body, first):
            line = read_line(old)
            if line is None:
                continue
            found = [(kind, new) for kind, operator in SIMPLE.items() for new in operator(line)]
            found += [("offset", new) for new in offset(line, sizes)]
            found += [("guard", new) for new in guard(line)]
            found += [("width", new) for new in width(line, class_of)]
            found += removed(line)
            found += [("dropped", new) for new in dropped(line, class_of)]
            found += [("register", new) for new in replaced_registers(line, number, class_of, ranges)]
            for kind, new in found:
                if new != old and (number, new) not in mutants:
                    mutants[number, new] = Mutant(kind, number, kernel, old, new, kind == "guard")
    return list(mutants.values())


def apply(text, mutant):
    lines = text.split("\n")
    lines[mutant.line - 1] = mutant.new
    return "\n".join(lines)

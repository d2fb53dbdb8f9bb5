"""The words that pages, messages and comments do not use, and sentences that are too long.

  WORDS            (compiled pattern, what to write) pairs, for text without code and quotations
  found(text)      each use of a word of WORDS in prose: (what stands there, what to write)
  long_sentences   the sentences of more than MOST_WORDS words
  prose_of_page    a page in Markdown as paragraphs of prose: no code blocks, and code spans as one word
  prose_of_source  a file in C++ as its comments and strings, without code spans

tests/docs.py holds the pages to both, tests/sources.py the comments and messages of the sources to WORDS.
"""
import re

MOST_WORDS = 35
CODE = "``"  # what a code span is in prose: one word, which no pattern finds

# "Rounds to nearest", "a round trip" and "rounds the sum once" are words of arithmetic, not of loops.
ROUNDING = (r"(?:-|\(|\s+(?:to|towards?|up|down|off|away|half|trips?|like|as|once|twice|exactly|differently|correctly|at|both|"
            r"its|the|a|an|each|every|it|them)\b)")
START = r"(?:^|(?<=[.:;?!]\s)|(?<=[.:;?!][)\"]\s))"  # of a sentence, or of what follows a colon
PARTICIPLES = (r"(?:Looked at|Aimed at|Measured|Counted|Timed|Judged|Compared|Tried|Kept|Left|Reported|Printed|Listed|Written|Shown|"
               r"Named|Meant|Added|Removed|Changed|Found|Seen|Known|Taken|Read|Asked|Checked|Allowed|Declined|Refused|Excluded|Included|"
               r"Built|Done|Given|Held|Made|Tested|Covered|Compiled|Executed|Optimized|Recorded)")
COMPARATIVES = ("(?:more|less|fewer|better|worse|longer|shorter|slower|faster|larger|smaller|bigger|higher|lower|greater|older|newer|"
                "later|earlier|cheaper|wider|narrower|different|other)")

WORDS = [(re.compile(pattern, flags), advice) for pattern, flags, advice in (
    (rf"\brounds?\b(?!{ROUNDING})", re.I, "iteration(s)"),
    (rf"\b(?:in|of|per|within|after|before|between|during) (?:a|an|the|one|each|every|this|that|all|no|its)(?: \w+)? rounds?\b(?! ?(?:-|trip))",
     re.I, "iteration(s)"),
    (r"\b(?:go|goes|went|gone|going|come|comes|turn|turns|turned) round\b", re.I, "iterate, repeat, rotate"),
    (r"\bin (?:the |its |their )?place of\b", re.I, "instead of"),
    (rf"(?<!\bthere )\b(?:is|are|was|were) no (?!{COMPARATIVES}\b)", re.I, "is not a, has no"),
    (r",\s+else\b", re.I, "otherwise"),
    (r"\bwhoever\b", re.I, "anyone who, a caller that"),
    (r"\bof which\b", re.I, "a sentence of its own"),
    (rf"{START}Of (?!course\b)", re.M, "the subject first"),
    (rf"{START}(?:Not )?{PARTICIPLES} (?:is|are|was|were)\b", re.M, "the subject first"),
    (r"\bso many\b", re.I, "that many, or the number"),
    (r"\bpric(?:e|es|ed|ing)\b", re.I, "cost(s)"),
    (r"\b(?:an|the|its|their|this|that|these|those|each|every|both|all|no|same|other|right|wrong|cached|kept|stored|ptxas's|interpreter's|of|"
     r"two|three|which|'s) answers?\b(?! to\b)", re.I, "result(s), output"),
    (r"\bstand-ins?\b", re.I, "stub in tests, an emulated one in sources"),
    (r"\bby halves\b", re.I, "in 32-bit halves"),
    (r"\b(?:behind|in front of)\b", re.I, "after, before"),
    (r"\b(?:told|tells) apart\b|\btell\w* (?:\w+ )?apart\b", re.I, "distinguish"),
    (r"\b(?:told|tells)\b(?! apart)", re.I, "reports, says, shows"),
    (r"\bmov(?:e|es|ed|ing) on\b", re.I, "advance"),
    (r"\b(?:left|leav(?:e|es|ing)(?: \w+){0,2}) alone\b", re.I, "not optimized, not changed"),
)]

ABBREVIATIONS = r"(?:e\.g|i\.e|etc|cf|vs|approx|resp|incl|fig|pp|et al)\."
# After a full stop, closing marks and a space, what begins a sentence: a capital, a digit, code, an opening mark, or a program's name.
BREAK = re.compile(r"(?<=[.!?])([)\"'*_]*)\s+(?=[A-Z0-9`(\"'*\[]|(?:ptxas|ptxopt|nvcc|nvdisasm|cuobjdump|cicc|clang|gcc|mold|llvm-mca|sm_\d+)\b)")
# A list of names in code, each with its meaning in brackets or without one.
NAME = rf"{CODE}(?: \([^()]*\))?"
NAMES = re.compile(rf"{NAME}(?:(?:, and |, or |, | and | or | to |/){NAME})+")


def found(text):
    """Each use of a word of WORDS in a paragraph of prose: what stands there, and what to write instead."""
    return [(match[0].strip(), advice) for pattern, advice in WORDS for match in pattern.finditer(text)]


def sentences(paragraph):
    """The sentences of a paragraph of prose. A full stop of an abbreviation ends none; one inside a number or a name has no space."""
    result, start = [], 0
    for match in BREAK.finditer(paragraph):
        if re.search(rf"(?:^|[\s(]){ABBREVIATIONS}$", paragraph[:match.start()]):
            continue
        result.append(paragraph[start:match.start(0)] + match[1])
        start = match.end()
    return [s.strip() for s in [*result, paragraph[start:]] if s.strip()]


def words(sentence):
    """The words of a sentence. A list of names in code counts as one word."""
    return [w for w in NAMES.sub(CODE, sentence).split() if re.search(rf"\w|{CODE}", w)]


def long_sentences(paragraph):
    return [s for s in sentences(paragraph) if len(words(s)) > MOST_WORDS]


def plain(markdown):
    """A piece of a page as prose: code spans as one word, links as their text, and no marks of emphasis or quotations."""
    text = re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", CODE, markdown)
    text = re.sub(r"<!--.*?-->", "", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)\s]*\)", r"\1", text)
    text = re.sub(r"<(https?:[^>\s]*)>|\bhttps?:\S+", CODE, text)
    text = re.sub(r"\*\*|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)", "", text)
    return re.sub(r"\s+", " ", text).strip()


def without_quotations(text):
    """Text without what it quotes: messages stand as they are printed."""
    return re.sub(r'"[^"]*"', CODE, text)


def prose_of_page(text):
    """(line number, kind, prose) of each paragraph, heading, list item and cell of a table of a page in Markdown."""
    fenced, in_code, after_blank = None, False, True
    kind, start, lines = None, 0, []

    def flush():
        nonlocal kind, lines
        if lines and (prose := plain(" ".join(lines))):
            yield start, kind, prose
        kind, lines = None, []

    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        mark = re.match(r"\s*(```+|~~~+)", line)
        if fenced or mark:
            yield from flush()
            if mark:
                fenced = None if fenced and bare == fenced else fenced or mark[1]
            after_blank = False
            continue
        indented = line.startswith("    ") and (after_blank or in_code) and not re.match(r"\s+([-*]|\d+\.)\s", line)
        in_code = indented or (in_code and not bare)
        after_blank = not bare or bare.startswith("<!--")
        if indented or not bare or re.fullmatch(r"<!--.*-->", bare):
            yield from flush()
        elif re.match(r"#+\s", line):
            yield from flush()
            yield number, "heading", plain(re.sub(r"^#+\s+", "", line))
        elif bare.startswith("|"):
            yield from flush()
            for cell in re.split(r"(?<!\\)\|", re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", CODE, bare))[1:-1]:
                if prose := plain(cell):
                    yield number, "cell", prose
        else:
            item = re.match(r"\s*(?:[-*]|\d+\.)\s+(.*)", line)
            if item:
                yield from flush()
            if not lines:
                kind, start = "item" if item else "paragraph", number
            lines.append(re.sub(r"^>\s?", "", item[1] if item else bare))
    yield from flush()


# What may hold a comment's slashes or a string's quotation mark is matched as well: raw strings, and characters, but not the marks
# between the digits of a number.
TOKEN = re.compile(r"""R"(?P<mark>\w*)\((?P<raw>.*?)\)(?P=mark)"|"(?P<string>(?:\\.|[^"\\\n])*)"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'"""
                   r"""|//(?P<comment>[^\n]*)""", re.S)


def prose_of_source(text):
    """(line number, prose) of each comment and each string of a file in C++. Lines of comments that follow one another are one."""
    start, end, lines = 0, 0, []
    for match in TOKEN.finditer(text):
        number = text.count("\n", 0, match.start()) + 1
        if match["comment"] is None:
            yield number, re.sub(r"`[^`]*`", CODE, match["raw"] or match["string"] or "")
            continue
        is_whole = not text[text.rfind("\n", 0, match.start()) + 1:match.start()].strip()
        if not (lines and is_whole and match["comment"].strip() and number == end + 1):
            yield start, without_quotations(re.sub(r"`[^`]*`", CODE, " ".join(lines)))
            start, lines = number, []
        lines.append(match["comment"].strip())
        end = number
    yield start, without_quotations(re.sub(r"`[^`]*`", CODE, " ".join(lines)))


def faults_of_page(text):
    """(line number, what is wrong) of a page in Markdown."""
    for number, kind, prose in prose_of_page(text):
        for word, advice in found(without_quotations(prose)):
            yield number, f'"{word}" (write: {advice}) in: {excerpt(prose, word)}'
        if kind in ("paragraph", "item"):
            for sentence in long_sentences(prose):
                yield number, f"{len(words(sentence))} words in one sentence, more than {MOST_WORDS}: {sentence[:70]}..."


def excerpt(prose, word):
    at = max(prose.find(word), 0)
    return prose[max(at - 40, 0):at + 60]

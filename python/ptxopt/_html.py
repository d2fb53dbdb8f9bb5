"""How results look in a notebook: tables, and the page of `ptxopt report` in a frame. No style but the notebook's own."""
from __future__ import annotations

import html
from typing import Any, Iterable, List, Sequence

SHOWN = (("registers", "registers"), ("instructions", "machine instructions"), ("spills", "spilled bytes"), ("warps", "warps"),
         ("cycles", "modelled cycles"))


def table(head: Sequence[str], rows: Iterable[Sequence[Any]], caption: str = "") -> str:
    def cells(tag: str, values: Sequence[Any]) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(str(v))}</{tag}>" for v in values) + "</tr>"
    top = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    return f"<table>{top}<thead>{cells('th', head)}</thead><tbody>{''.join(cells('td', row) for row in rows)}</tbody></table>"


def figures(measures: Any) -> List[Any]:
    """Of a function's figures in JSON, those that SHOWN names; None for what ptxas did not tell."""
    if not measures:
        return [None] * len(SHOWN)
    stores, loads = measures.get("spill-stores"), measures.get("spill-loads")
    spills = None if stores is None and loads is None else (stores or 0) + (loads or 0)
    cycles = measures.get("cycles")
    whole = cycles["whole"] if cycles else None
    mean = None if not whole else (whole[0] * whole[1] * whole[2]) ** (1 / 3)
    return [measures["registers"], measures["instructions"], spills, measures["warps"], None if mean is None else round(mean, 1)]


def step(before: Any, after: Any) -> str:
    if before is None and after is None:
        return ""
    return str(after) if before == after else f"{before} \u2192 {after}"


def steps(before: Any, after: Any) -> List[str]:
    return [step(b, a) for b, a in zip(figures(before), figures(after))]


def result(found: Any) -> str:
    guard = found.guard
    kept = {k.name: k for k in guard.kept}
    if guard.before:
        rows = [(name, *steps(before, guard.after.get(name)), kept[name].reason if name in kept else "")
                for name, before in guard.before.items()]
        return table(("function", *(title for _, title in SHOWN), "kept for"), rows, repr(found).strip("<>"))
    return f"<p>{html.escape(repr(found).strip('<>'))}</p>"


def frame(page: str, height: int) -> str:
    return (f'<iframe srcdoc="{html.escape(page, quote=True)}" style="width: 100%; height: {height}px; border: 0" '
            'title="ptxopt report"></iframe>')

"""The results as lines and as the tables of docs/results/toolchains.md."""
import re

from code_figures import mean_ratio
from inputs import suffix
from toolchains import order_of


def line(toolchain, arch, result):
    text = (f"{toolchain.build:9} {arch:8} files {result.files}, taken {result.taken}, ours {result.ours}, "
            f"identical {result.identical}")
    if result.kernels:
        means = ", ".join(f"{producer} inner and whole {gain(result, producer)}" for producer in result.inner)
        text += (f"; kernels {result.kernels}, {means}, "
                 f"worse {len(result.worse)}, with the guard {len(result.worse_guarded)}")
    return text


def accepted(result):
    """62/64, and what is not as it must be."""
    text = f"{result.taken}/{result.files}" if result.files else ""
    if result.ours != result.taken:
        text += f", ours {result.ours}"
    if result.identical != result.taken:
        text += f", identical {result.identical}"
    return text


def gain(result, producer):
    if producer not in result.inner:
        return ""
    return f"{mean_ratio(result.inner[producer]):.3f}, {mean_ratio(result.whole[producer]):.3f}"


def worse(result):
    return f"{len(result.worse)}, {len(result.worse_guarded)}" if result.kernels else ""


def markdown(rows):
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])


def matrix(toolchains, archs, results, cell):
    """A row for each ptxas; those that follow each other and have the same cells share one."""
    rows = []
    for one in toolchains:
        cells = [cell(results[one.build, arch]) if (one.build, arch) in results else "" for arch in archs]
        if rows and rows[-1][1] == cells:
            rows[-1][0].append(release(one))
        elif any(cells):
            rows.append(([release(one)], cells))
    head = ["ptxas", *(arch.removeprefix("sm_") for arch in archs)]
    return markdown([head, *([names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}", *cells] for names, cells in rows)])


def release(toolchain):
    """13.0 of 13.0.88."""
    return toolchain.build.rpartition(".")[0]


def programs(toolchains):
    return markdown([["ptxas", *(release(one) for one in toolchains)],
                     ["build", *(one.build for one in toolchains)],
                     ["newest PTX", *(one.ptx() for one in toolchains)]])


def tables(toolchains, results):
    """name -> text"""
    archs = sorted({arch for _, arch in results}, key=order_of)
    toolchains = [one for one in toolchains if any(build == one.build for build, _ in results)]
    plain = [arch for arch in archs if not suffix(arch)]
    own = [arch for arch in archs if suffix(arch) and any(r.files for (_, a), r in results.items() if a == arch)]
    failures = [f"- {build}, {arch}: {problem}" for (build, arch), result in results.items() for problem in
                result.problems + [f"{name} is worse with the guard" for name in result.worse_guarded]]
    return {
        "programs": programs(toolchains),
        "accepted": matrix(toolchains, plain, results, accepted),
        "accepted-specific": matrix(toolchains, own, results, accepted),
        "gain-clang": matrix(toolchains, plain, results, lambda result: gain(result, "clang")),
        "gain-nvcc": matrix(toolchains, plain, results, lambda result: gain(result, "nvcc")),
        "worse": matrix(toolchains, plain, results, worse),
        "failures": "\n".join(failures) or "None.",
    }


def update(path, toolchains, results):
    text = path.read_text(encoding="utf-8")
    for name, table in tables(toolchains, results).items():
        mark = rf"(<!-- toolchains-{name} -->\n).*?(<!-- /toolchains-{name} -->)"
        text, count = re.subn(mark, lambda match: f"{match[1]}{table}\n{match[2]}", text, flags=re.S)
        if count != 1:
            raise SystemExit(f"toolchains: {path.name} has no place for {name}")
    path.write_text(text, encoding="utf-8")

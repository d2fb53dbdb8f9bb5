"""Writes .cu files that call every overload of cuda::ptx, read from the headers of the installed toolkit.

  wrappers.py --headers <toolkit>/include/cccl/cuda/__ptx/instructions/generated --out FOLDER

One kernel an overload and choice of its tags, behind the overload's own architecture guard; one file a family of
instructions (the first word of the header's name), so that nothing of the headers has to be stored here.
"""
import argparse
import itertools
import os
import re
import sys
from dataclasses import dataclass

# A type for each size that a template may be asked for.
SIZED = {"_B8": "signed char", "_B16": "short", "_B32": "int", "_B64": "long long", "_B128": "longlong2"}
OVERLOAD = re.compile(r"^template <([^;{]*?)>\s*^_CCCL_DEVICE static inline\s+([^(;{]+?)\s*\b(\w+)\(([^{;]*?)\)\s*^{(.*?)^}", re.M | re.S)
GUARD = re.compile(r"^#\s*if _CCCL_CUDA_COMPILER\(NVHPC\)\s*\|\|(.*?)$", re.M)


@dataclass
class Overload:
    name: str
    returns: str
    templates: list  # one text a template parameter
    parameters: list  # one text a parameter
    guard: str  # preprocessor condition, or nothing
    body: str


def split_commas(text):
    """Split at the commas outside of brackets."""
    parts, depth = [""], 0
    for char in text:
        depth += (char in "<([") - (char in ">)]")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return [" ".join(part.split()) for part in parts if part.strip()]


def read_overloads(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S).replace("\\\n", " ").replace("_CUDA_VSTD::", "cuda::std::")
    for match in OVERLOAD.finditer(text):
        templates, returns, name, parameters, body = match.groups()
        guard = GUARD.search(body)
        yield Overload(name, returns, split_commas(templates), split_commas(parameters), " ".join(guard[1].split()) if guard else "", body)


def allowed_tags(overload, template):
    """The tags that a `dot_xxx _Name` parameter may be: its static_assert lists them, else every value the body tests."""
    variable = "_" + template.split()[-1].lower()
    named = re.findall(rf"\b{variable} == (\w+)", overload.body)
    return list(dict.fromkeys(named))


def choices(overload):
    """Every way to fill the template parameters: dicts from parameter name to a type, a tag or a number."""
    axes = []
    for template in overload.templates:
        name = template.split("=")[0].split()[-1]
        if template.startswith("typename"):
            if name in SIZED:
                axes.append([(name, SIZED[name])])
            elif name == "_Type":
                sizes = sorted(set(re.findall(r"sizeof\(_Type\) == (\d+)", overload.body)), key=int)
                axes.append([(name, SIZED[f"_B{8 * int(size)}"]) for size in sizes] or [(name, "int")])
        elif template.startswith("int "):
            size_of_map = "fence_proxy_tensormap" in overload.name or "fenceproxy" in overload.name
            axes.append([(name, "128" if size_of_map else "0")])  # a constant that the instruction takes
        elif template.startswith("dot_"):
            axes.append([(name, tag) for tag in allowed_tags(overload, template)])
    return [dict(combination) for combination in itertools.product(*axes)]


def substitute(text, choice):
    for name, value in choice.items():
        text = re.sub(rf"\b{name}\b", value, text)
    return text


def argument(parameter, choice, at):
    """An expression for one parameter: a tag object, or something loaded from the kernel's buffer at a fixed place."""
    kind = re.sub(r"(\s|(?<=[*&]))__\w+$", "", parameter).strip()
    for name, value in choice.items():
        if re.fullmatch(rf"\w+_t<{name}>", kind):
            return f"n32_t<{value}>{{}}" if kind.startswith("n32_t") else value
    if array := re.fullmatch(r"(.*?)\s*\(&(?:__\w+)?\)\s*\[(\d+)\]", parameter):
        return f"*reinterpret_cast<{substitute(array[1], choice)}(*)[{array[2]}]>(buffer + {at})"
    kind = substitute(kind, choice)
    if re.fullmatch(r"\w+_t", kind):
        return f"{kind}{{}}"
    if kind.endswith("*"):
        return f"reinterpret_cast<{kind}>(pointers[{at // 4096}])"
    return f"*reinterpret_cast<{kind.rstrip('&').strip()}*>(buffer + {at})"


def kernel(overload, number, choice):
    arguments = ", ".join(argument(parameter, choice, 4096 * i) for i, parameter in enumerate(overload.parameters))
    deduced = " ".join(overload.parameters)
    explicit = [kind for name, kind in choice.items() if name in SIZED and not re.search(rf"\b{name}\b", deduced)]
    call = f"{overload.name}{'<' + ', '.join(explicit) + '>' if explicit else ''}({arguments})"
    if overload.returns != "void":
        call = f"auto result = {call}; keep(buffer, result)"
    text = f'extern "C" __global__ void {overload.name}_{number}(char *buffer, char **pointers) {{ {call}; }}\n'
    return f"#if {overload.guard}\n{text}#endif\n" if overload.guard else text


def family(header):
    return header.split("_")[0].removesuffix(".h")


def write_family(headers, folder, name):
    """-> how many kernels the file holds"""
    number, lines = 0, ["#include <cuda/ptx>\nusing namespace cuda::ptx;\n",
                        "template <class T> __device__ void keep(char *to, const T &value) { *reinterpret_cast<T *>(to) = value; }\n"]
    for header in headers:
        for overload in read_overloads(header):
            for choice in choices(overload):
                lines.append(kernel(overload, number, choice))
                number += 1
    with open(os.path.join(folder, f"ptx_{name}.cu"), "w", encoding="utf-8") as file:
        file.writelines(lines)
    return number


def generate(headers, folder):
    """Write the files; -> their paths. Families of a few short headers share the file ptx_other.cu."""
    groups = {}
    for header in sorted(os.listdir(headers)):
        path = os.path.join(headers, header)
        groups.setdefault(family(header), []).append(path)
    small = [name for name, paths in groups.items() if sum(map(os.path.getsize, paths)) < 40_000]
    groups["other"] = sum((groups.pop(name) for name in small), [])
    os.makedirs(folder, exist_ok=True)
    return {os.path.join(folder, f"ptx_{name}.cu"): write_family(paths, folder, name) for name, paths in sorted(groups.items())}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--headers", required=True)
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    for path, count in generate(args.headers, args.out).items():
        print(f"{path}: {count} kernels")
    return 0


if __name__ == "__main__":
    sys.exit(main())

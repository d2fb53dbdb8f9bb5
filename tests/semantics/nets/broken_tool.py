"""Builds the tool with a patch, beside a build that is there: the patched files are compiled, and the tool is linked with
them. An object that the tool names is replaced; one of a library goes before the libraries, from which the linker takes all others.
"""
import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


class NetError(Exception):
    """A patch cannot be put in, or what it is put into cannot be built."""


def run(command, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, errors="replace", **options)
    if done.returncode != 0:
        raise NetError(f"{shlex.join(map(str, command))}\n{(done.stderr + done.stdout).strip()[-2000:]}")
    return done.stdout


def touched(patch):
    files = re.findall(r"^\+\+\+ b/(\S+)", patch.read_text(), re.M)
    if not files:
        raise NetError(f"{patch.name} changes no file")
    if headers := [f for f in files if not f.endswith(".cpp")]:
        raise NetError(f"{patch.name} changes {headers[0]}: only .cpp files can be built alone")
    return files


def patched_sources(patch, folder):
    """The files that the patch changes, changed, below the folder."""
    files = touched(patch)
    for name in files:
        if not (ROOT / name).exists():
            raise NetError(f"{patch.name} no longer applies: there is no {name}")
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, folder / name)
    done = subprocess.run(["patch", "-p1", "--fuzz=2", "--no-backup-if-mismatch", "-i", str(patch)], cwd=folder,
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise NetError(f"{patch.name} no longer applies; make it anew from what mends the bug:\n{done.stdout}{done.stderr}")
    return files


def unit_of(build, name):
    """(folder, command, file) that compiles a source: the source itself, or the batch of sources that has it."""
    source = f'"{ROOT / name}"'
    for entry in json.loads((build / "compile_commands.json").read_text()):
        file = Path(entry["file"])
        if "CMakeFiles/ptxopt" not in entry["command"]:
            continue
        if file == ROOT / name or (file.parent.name == "Unity" and source in file.read_text()):
            return Path(entry["directory"]), tuple(shlex.split(entry["command"])), file
    raise NetError(f"{name} is not in {build / 'compile_commands.json'}")


def compile_objects(build, names, folder):
    """Maps objects of the build to those of the changed sources; of a batch all sources, as the linker would else find the
    others' twice."""
    units = {}
    for name in names:
        units.setdefault(unit_of(build, name), []).append(name)
    return {words[words.index("-o") + 1]: compile_object(directory, words, file, changed, folder)
            for (directory, words, file), changed in units.items()}


def compile_object(directory, words, file, changed, folder):
    command, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word in ("-MF", "-MT", "-o", "-c"):
            skip = True
        elif word != "-MD" and not word.startswith("-W"):
            command.append(word)
    source = folder / changed[0]
    if file != ROOT / changed[0]:
        text = file.read_text()
        for name in changed:
            text = text.replace(f'"{ROOT / name}"', f'"{folder / name}"')
        source = folder / file.name
        source.write_text(text)
    target = folder / (changed[0].replace("/", "_") + ".o")
    # Files beside it are found where it was.
    beside = [f"-iquote{(ROOT / name).parent}" for name in changed]
    run([*command, *beside, "-o", target, "-c", source], cwd=directory)
    return target


def link(build, objects, tool):
    if not (build / "build.ninja").exists():
        raise NetError(f"{build} is not a build of Ninja")
    # The output's last command links the tool: `: && c++ ... -o ptxopt libs && :`.
    line = run(["ninja", "-C", build, "-t", "commands", "ptxopt_tool"]).strip().splitlines()[-1]
    words = shlex.split(line.removeprefix(": && ").removesuffix(" && :"))
    at = words.index("-o")
    linked = [objects.get(word, word) for word in words[:at]]
    linked += [changed for name, changed in objects.items() if name not in words]
    run([*linked, "-o", tool, *words[at + 2:]], cwd=build)


def broken_tool(build, patch, folder):
    """The path of the tool with the patch. `folder` is kept, so that a compiler cache knows the files again."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    objects = compile_objects(build, patched_sources(patch, folder), folder)
    tool = folder / "ptxopt"
    link(build, objects, tool)
    if not os.access(tool, os.X_OK):
        raise NetError(f"{tool} was not linked")
    return tool

"""Builds the tool with a patch, beside a build that is there: the patched files are compiled, and the tool is linked with
them before the libraries, from which the linker then takes all other objects.
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


def compile_command(build, name):
    entries = json.loads((build / "compile_commands.json").read_text())
    for entry in entries:
        if Path(entry["file"]) == ROOT / name and "CMakeFiles/ptxopt" in entry["command"]:
            return Path(entry["directory"]), shlex.split(entry["command"])
    raise NetError(f"{name} is not in {build / 'compile_commands.json'}")


def compile_object(build, name, folder):
    directory, words = compile_command(build, name)
    target = folder / (name.replace("/", "_") + ".o")
    command, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word in ("-MF", "-MT", "-o", "-c"):
            skip = True
        elif word != "-MD" and not word.startswith("-W"):
            command.append(word)
    # Files beside it are found where it was.
    source = folder / name
    run([*command, f"-iquote{(ROOT / name).parent}", "-o", target, "-c", source], cwd=directory)
    return target


def link(build, objects, tool):
    if not (build / "build.ninja").exists():
        raise NetError(f"{build} is not a build of Ninja")
    # The output's last command links the tool: `: && c++ ... -o ptxopt libs && :`.
    line = run(["ninja", "-C", build, "-t", "commands", "ptxopt_tool"]).strip().splitlines()[-1]
    words = shlex.split(line.removeprefix(": && ").removesuffix(" && :"))
    at = words.index("-o")
    run([*words[:at], *objects, "-o", tool, *words[at + 2:]], cwd=build)


def broken_tool(build, patch, folder):
    """The path of the tool with the patch. `folder` is kept, so that a compiler cache knows the files again."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    objects = [compile_object(build, name, folder) for name in patched_sources(patch, folder)]
    tool = folder / "ptxopt"
    link(build, objects, tool)
    if not os.access(tool, os.X_OK):
        raise NetError(f"{tool} was not linked")
    return tool

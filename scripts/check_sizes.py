#!/usr/bin/env python3
"""Fails on a file above 600 lines, a function above 80 lines, and one of more than six parameters.

check_sizes.py [ROOT]: the tree to look at, this one by default. Functions are found by universal-ctags."""
import pathlib
import subprocess
import sys

MOST_LINES = 600
MOST_FUNCTION_LINES = 80
MOST_PARAMETERS = 6

top = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
top = top if top.is_dir() else top.parent.parent


def n_parameters(signature):
    """Of "(int a, std::map<int, int> b) const": 2."""
    depth = 0
    count = 0
    is_empty = True
    for c in signature:
        depth += (c in "([{<") - (c in ")]}>")
        if depth == 0:
            break
        count += depth == 1 and c == ","
        is_empty = is_empty and c in "( "
    return 0 if is_empty or signature.startswith("(void)") else count + 1


def functions(files):
    """File, line, name, lines and parameters of each function."""
    command = ["ctags", "--options=NONE", "--languages=C++", "--langmap=C++:.h.cpp.cu.cuh.inl", "--kinds-C++=f",
               "--fields=neS", "--excmd=number", "--sort=no", "-f", "-", "-L", "-"]
    tags = subprocess.run(command, input="\n".join(map(str, files)), capture_output=True, text=True, check=True)
    for row in tags.stdout.splitlines():
        name, file, _, *rest = row.split("\t")
        fields = dict(field.split(":", 1) for field in rest if ":" in field)
        if "end" in fields:
            begin, end = int(fields["line"]), int(fields["end"])
            yield pathlib.Path(file), begin, name, end - begin + 1, n_parameters(fields.get("signature", "()"))


suffixes = {".h", ".cpp", ".cu", ".cuh", ".inl", ".py", ".mjs", ".js", ".sh", ".cmake"}
files = [file for folder in ("include", "src", "tests", "fuzz", "bench", "scripts", "cmake")
         for file in sorted((top / folder).rglob("*"))
         if file.suffix in suffixes and "node_modules" not in file.parts]
bad = []
for file in files:
    n_lines = len(file.read_text().splitlines())
    if n_lines > MOST_LINES:
        bad.append(f"{file.relative_to(top)}: {n_lines} lines, the limit is {MOST_LINES}; split it")
n_functions = 0
for file, line, name, n_lines, n in functions([f for f in files if f.suffix in {".h", ".cpp", ".cu", ".cuh", ".inl"}]):
    n_functions += 1
    where = f"{file.relative_to(top)}:{line}: {name}()"
    if n_lines > MOST_FUNCTION_LINES:
        bad.append(f"{where} has {n_lines} lines, the limit is {MOST_FUNCTION_LINES}")
    if n > MOST_PARAMETERS:
        bad.append(f"{where} has {n} parameters, the limit is {MOST_PARAMETERS}; make them a struct")
print("\n".join(bad) or f"sizes: {len(files)} files, {n_functions} functions, all within the limits")
sys.exit(bool(bad))

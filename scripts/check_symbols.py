#!/usr/bin/env python3
"""Fails on a function of an instruction-set unit that another unit could be linked to.

check_symbols.py BUILD...: build folders with a compile_commands.json. Each object of src/kernels/cpu/isa_<set>.cpp may define
functions with a global or weak symbol only in its own namespace ft::cpu_<set>: a shared inline function, compiled here with
wide instructions, could otherwise be the copy that the linker keeps for everybody, and crash an older machine."""
import json
import pathlib
import re
import subprocess
import sys

FUNCTIONS = set("TWi")  # of nm: global, weak, indirect; t is local, and data have other letters


def units(build):
    """Instruction set and object of each unit."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        found = re.search(r"/kernels/cpu/isa_(\w+)\.cpp$", entry["file"])
        if found:
            output = entry.get("output") or re.search(r" -o (\S+)", entry["command"])[1]
            yield found[1], pathlib.Path(entry["directory"]) / output


def shared_functions(name, unit):
    """Functions of the object that lie outside ft::cpu_<name>."""
    rows = subprocess.run(["nm", "--defined-only", "--demangle", str(unit)], capture_output=True, text=True, check=True)
    for row in rows.stdout.splitlines():
        _, kind, symbol = row.split(" ", 2)
        # A template's symbol begins with its result type; its own name follows before the first parenthesis.
        own = re.match(rf"([\w:&*<> ]+ )?ft::cpu_{name}::", symbol)
        if kind in FUNCTIONS and not own:
            yield f"{kind} {symbol}"


bad = []
n_units = 0
for folder in sys.argv[1:]:
    found = list(units(pathlib.Path(folder)))
    if not found:
        bad.append(f"{folder}: no unit src/kernels/cpu/isa_*.cpp in its compile_commands.json")
    for name, unit in found:
        n_units += 1
        bad += [f"{unit}: {symbol}" for symbol in shared_functions(name, unit)]
if not sys.argv[1:]:
    bad.append("check_symbols.py: name the build folders to check")
print("\n".join(bad) or f"symbols: {n_units} units, no function that another unit could share")
sys.exit(bool(bad))

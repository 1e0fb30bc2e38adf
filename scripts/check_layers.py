#!/usr/bin/env python3
"""Fails on an include that src/LAYERS forbids, on a CUDA header outside a cuda/ folder, and on any #if about CUDA.

check_layers.py [ROOT]: the tree to look at, this one by default."""
import pathlib
import re
import sys

top = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
top = top if top.is_dir() else top.parent.parent
root = top / "src"
rows = [r.split() for r in (root / "LAYERS").read_text().splitlines() if r and r[0] != "#"]
level = {r[0]: int(r[1]) for r in rows}
closed = {r[0]: set(r[2].split(",")) for r in rows if len(r) > 2}
bad = []
gate = sorted((top / "include").rglob("*.h"))
for file in gate + sorted(p for p in root.rglob("*") if p.suffix in {".h", ".cpp", ".cu", ".cuh", ".inl"}):
    name = file.relative_to(top)
    parts = name.parts[1:]
    own = parts[0]
    if own not in level and own != "ft":
        bad.append(f"{name}: folder {own} has no row in src/LAYERS")
        continue
    for n, line in enumerate(file.read_text().splitlines(), 1):
        if re.match(r"\s*#\s*(el)?if(n?def)?\b.*CUDA", line):
            bad.append(f"{name}:{n}: no #if about CUDA; link the other file instead")
        found = re.match(r'\s*#\s*include\s*(["<])([^">]+)[">]', line)
        if not found:
            continue
        header = found[2]
        head = header.split("/")[0]
        if found[1] == '"' and head not in level and head != "ft":
            bad.append(f'{name}:{n}: write "FOLDER/{header}" from src/ or include/ on')
            continue
        if own == "ft" and head in level:
            bad.append(f"{name}:{n}: the gate may include only ft/ and system headers")
            continue
        if re.match(r"cuda|cublas|cooperative_groups", header) and "cuda" not in parts:
            bad.append(f"{name}:{n}: only a cuda/ folder may include {header}")
        if header.startswith("nlohmann/") and file.suffix != ".cpp":
            bad.append(f"{name}:{n}: JSON is included in .cpp files only")
        if head == own or (head not in level and head != "ft"):
            continue
        if own in closed and head not in closed[own]:
            bad.append(f"{name}:{n}: {own} may include only {', '.join(sorted(closed[own]))}")
        elif own not in closed and head != "ft" and level[head] >= level[own]:
            bad.append(f"{name}:{n}: {own} (level {level[own]}) may not include {head} (level {level[head]})")
print("\n".join(bad) or f"layers: {len(level)} folders, no forbidden include")
sys.exit(bool(bad))

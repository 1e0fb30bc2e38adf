#!/usr/bin/env python3
"""Fails on an architecture's name in src/ outside models/, on unfinished work, and on paths of somebody's machine.

check_words.py [ROOT]: the tree to look at, this one by default. Names are those of src/models/registry.cpp."""
import pathlib
import re
import subprocess
import sys

top = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
top = top if top.is_dir() else top.parent.parent

listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=top,
                        capture_output=True, text=True, check=True)
texts = {}
for name in sorted(filter(None, listed.stdout.split("\0"))):
    try:
        texts[name] = (top / name).read_text()
    except (UnicodeDecodeError, FileNotFoundError):  # binary, or deleted and not yet committed
        continue

registry = texts["src/models/registry.cpp"]
architectures = re.findall(r'\{"(\w+)", "(\w+)", build_\w+\}', registry)
names = re.compile(r"\b(" + "|".join(word for row in architectures for word in row) + r")\b")
# Spelled so that this file does not find itself.
rules = [(re.compile(r"(?<![\w.])/(?:work|root|tm[p])(?:/|\b)"), "a path of one machine"),
         (re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X)\b"), "unfinished work: finish it, or write an issue")]
exempt = re.compile(r"models/.*\.json$|tests/oracle/package-lock\.json$|fixtures/.*\.json$|fuzz/corpus/")

bad = []
if not architectures:
    bad.append("src/models/registry.cpp: no row looks like {\"type\", \"Class\", build_type}; was it rewritten?")
for name, text in texts.items():
    if exempt.match(name):
        continue
    is_neutral = name.startswith("src/") and not name.startswith("src/models/")
    for n, line in enumerate(text.splitlines(), 1):
        for pattern, what in rules + ([(names, "an architecture is named in src/models only")] if is_neutral else []):
            found = pattern.search(line)
            if found:
                bad.append(f"{name}:{n}: '{found[0]}': {what}")
print("\n".join(bad) or f"words: {len(texts)} files, {len(architectures)} architectures, none named outside src/models")
sys.exit(bool(bad))

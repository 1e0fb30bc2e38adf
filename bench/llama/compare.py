#!/usr/bin/env python3
"""Compares ft with llama.cpp on the CPU: the same sizes, random weights, threads, CPUs, prompt and steps.

compare_llama.sh [SHAPE...]: folders of bench/shapes; --check asks whether both say the same of the demo model instead.
docs/BENCHMARKS.md says what is compared, bench/llama/README.md under which conditions."""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

import blocks
import gguf
import shapes
import write_gguf

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
SHAPES = TOP / "bench/shapes"
WORK = TOP / "build/llama"
FIGURES = ("prefill_tokens_per_s", "tokens_per_s")


def cpus_of_cores(n):
    """n CPUs of those that this process may use, one of each core as long as there are cores."""
    first_of_core = {}
    for cpu in sorted(os.sched_getaffinity(0)):
        siblings = pathlib.Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        first_of_core.setdefault(siblings.read_text() if siblings.exists() else cpu, []).append(cpu)
    in_turn = sorted((i, cpu) for cpus in first_of_core.values() for i, cpu in enumerate(cpus))
    if n > len(in_turn):
        sys.exit(f"compare_llama.sh: {n} threads, but this process may use {len(in_turn)} CPUs; give fewer --threads")
    return {cpu for _, cpu in in_turn[:n]}


def json_of(command, cpus=None, folder=TOP):
    """What a program prints. It and all its threads keep to the CPUs."""
    pin = (lambda: os.sched_setaffinity(0, cpus)) if cpus else None
    done = subprocess.run([str(word) for word in command], cwd=folder, stdout=subprocess.PIPE, text=True, preexec_fn=pin, check=False)
    if done.returncode:
        sys.exit(f"compare_llama.sh: {pathlib.Path(command[0]).name} failed, see above: {' '.join(map(str, command[1:]))}")
    return json.loads(done.stdout)


class Shape:
    """A model's sizes, and the GGUF of them."""

    def __init__(self, name, options):
        self.folder = SHAPES / name
        if not (self.folder / "config.json").exists():
            sys.exit(f"compare_llama.sh: bench/shapes has no {name}, but {', '.join(all_shapes())}")
        self.name = name
        self.config = json.loads((self.folder / "config.json").read_text())
        self.formats = shapes.Formats(options.dense, options.experts or shapes.experts_format(self.config))
        self.tensors = shapes.tensors(self.config, self.formats)
        self.gguf = WORK / "gguf" / f"{name}-{self.formats.dense}-{self.formats.experts}-{options.seed}.gguf"
        self.seed = options.seed

    def write(self):
        """Unless it is there already; a file of another size is of another version of this program."""
        metadata = shapes.metadata(self.config)
        n_bytes = len(gguf.head(metadata, self.tensors)) + sum(gguf.n_bytes(t) + gguf.padding(gguf.n_bytes(t)) for t in self.tensors)
        if self.gguf.exists() and self.gguf.stat().st_size == n_bytes:
            return
        print(f"writing {n_bytes / 1e9:.1f} GB: {self.gguf.relative_to(TOP)}", file=sys.stderr)
        self.gguf.parent.mkdir(parents=True, exist_ok=True)
        gguf.write(self.gguf, metadata, self.tensors, write_gguf.RandomWeights(self.seed).pieces)


def measure_ft(shape, options, cpus):
    """The second repetition: the first is to warm up."""
    report = json_of([options.ft, "bench", "decode", "--quiet", "--json", "--model", shape.folder, "--load-format", "dummy",
                      "--device", "host", "--strategies", "cpu", "--prompt", options.prompt, "--tokens", options.tokens,
                      "--dense-dtype", "q8" if options.dense == "q8" else "file",
                      "--repeat", 2, "--threads", options.threads, "--prefill-rows", options.prefill_rows], cpus)
    formats = {format["name"] for format in report["model"]["formats"]}
    return {**report["runs"][0], **report["runs"][0]["repetitions"][-1], "experts": report["model"]["experts_format"],
            "dense": "q8" if "q8" in formats else "bf16"}


def measure_llama(request, cpus):
    return json_of(["node", "measure.mjs", json.dumps(request)], cpus, WORK)


def compare(shape, options, cpus):
    request = {"model": str(shape.gguf), "threads": options.threads, "prompt": options.prompt, "tokens": options.tokens,
               "vocabulary": shape.config["vocab_size"], "seed": options.seed, "flash_attention": options.flash_attention == "on"}
    runs = {"ft": [], "llama": []}
    for i in range(options.repeat):
        runs["ft"].append(measure_ft(shape, options, cpus))
        runs["llama"].append(measure_llama(request, cpus))
        shown = ["{prefill_tokens_per_s:.1f} and {tokens_per_s:.1f}".format(**runs[program][i]) for program in ("ft", "llama")]
        print(f"{shape.name}, {i + 1} of {options.repeat}: prefill and decode {shown[0]} tokens/s, llama.cpp {shown[1]}, "
              f"load {os.getloadavg()[0]:.1f}", file=sys.stderr)
    kv_bytes = runs["ft"][0]["step_kv_bytes"]
    result = {"shape": shape.name, "load": os.getloadavg()[0]}
    result["ft"] = {"dense": runs["ft"][0]["dense"], "experts": runs["ft"][0]["experts"], "step_bytes": runs["ft"][0]["step_bytes"],
                    "share_of_bound": statistics.median(run["share_of_bound"] for run in runs["ft"])}
    result["llama"] = {"dense": shape.formats.dense, "experts": shape.formats.experts, "system": runs["llama"][0]["system"],
                       "step_bytes": write_gguf.step_bytes(shape.config, shape.tensors) + kv_bytes}
    for program, its_runs in runs.items():
        for figure in FIGURES:
            values = [run[figure] for run in its_runs]
            result[program][figure] = {"median": statistics.median(values), "min": min(values), "max": max(values)}
    result["ratios"] = {figure: result["ft"][figure]["median"] / result["llama"][figure]["median"] for figure in FIGURES}
    return result


def table(results):
    rows = [("shape", "", "dense", "experts", "MB/token", "prefill tokens/s", "ratio", "decode tokens/s", "ratio")]
    for result in results:
        for program in ("ft", "llama"):
            of = result[program]
            figures = []
            for figure in FIGURES:
                figures.append("{median:.1f} ({min:.1f} to {max:.1f})".format(**of[figure]))
                figures.append(f"{result['ratios'][figure]:.2f}" if program == "ft" else "")
            rows.append((result["shape"] if program == "ft" else f"  load {result['load']:.1f}", program, of["dense"], of["experts"],
                         f"{of['step_bytes'] / 1e6:.0f}", *figures))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) if i < 4 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))).rstrip())


def check(options, cpus):
    """The demo model's weights as float32 in a GGUF: llama.cpp must continue each prompt as the reference implementation does."""
    model = WORK / "gguf/demo.gguf"
    model.parent.mkdir(parents=True, exist_ok=True)
    folder = TOP / "models/demo"
    config = json.loads((folder / "config.json").read_text())
    tensors = shapes.tensors(config, shapes.Formats("f32", "f32"))
    weights = write_gguf.GivenWeights(folder / "model.safetensors", shapes.n_experts(config))
    gguf.write(model, shapes.metadata(config), tensors, weights.pieces)
    references = json.loads((folder / "reference.json").read_text())
    n_equal = 0
    for reference in references:
        ids = reference["greedy_ids"]
        answer = measure_llama({"model": str(model), "threads": options.threads, "ids": reference["prompt_ids"],
                                "tokens": len(ids) - 1, "flash_attention": options.flash_attention == "on"}, cpus)
        n_equal += answer["ids"] == ids
        if answer["ids"] != ids:
            print(f"{reference['prompt']!r}: {answer['ids']} instead of {ids}")
    print(f"demo model: {n_equal} of {len(references)} greedy answers equal to the reference's")
    sys.exit(n_equal != len(references))


def all_shapes():
    return sorted(path.parent.name for path in SHAPES.glob("*/config.json"))


def positive(text):
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def natural(text):
    return positive(text) if int(text) else 0


def parse():
    parser = argparse.ArgumentParser(prog="compare_llama.sh", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shapes", nargs="*", metavar="SHAPE", help=f"{', '.join(all_shapes())} (default: those with mini)")
    parser.add_argument("--prompt", type=positive, default=512, help="tokens of the prompt (512)")
    parser.add_argument("--tokens", type=positive, default=64, help="decode steps behind it (64)")
    parser.add_argument("--repeat", type=positive, default=3, help="measurements of each, in turn (3)")
    parser.add_argument("--threads", type=positive, help="of each (one for each core that may be used)")
    parser.add_argument("--dense", choices=("bf16", "q8"), default="bf16", help="dense weights of both (bf16)")
    parser.add_argument("--experts", choices=sorted(set(blocks.FORMATS) - {"f32"}), help="llama.cpp's (as config.json declares)")
    parser.add_argument("--flash-attention", choices=("on", "off"), default="on", help="llama.cpp's (on)")
    parser.add_argument("--prefill-rows", type=positive, default=256, help="ft's prompt tokens of a step (256); llama.cpp has 512")
    parser.add_argument("--seed", type=natural, default=0)
    parser.add_argument("--json", action="store_true", help="one object, for programs")
    parser.add_argument("--check", action="store_true", help="compare greedy answers of the demo model, and nothing else")
    parser.add_argument("--ft", type=pathlib.Path, default=TOP / "build/release/ft", help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    options = parse()
    options.threads = options.threads or json_of([options.ft, "inspect", "--json"])["machine"]["n_cores_allowed"]
    cpus = cpus_of_cores(options.threads)
    if options.check:
        check(options, cpus)
    results = []
    for name in options.shapes or [name for name in all_shapes() if "mini" in name]:
        shape = Shape(name, options)
        shape.write()
        results.append(compare(shape, options, cpus))
    if options.json:
        conditions = {name: getattr(options, name) for name in ("prompt", "tokens", "repeat", "threads", "flash_attention", "seed")}
        print(json.dumps({**conditions, "cpus": sorted(cpus), "results": results}, indent=1))
    else:
        table(results)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Writes a GGUF with the sizes of a model's config.json: with random weights, or with those of the folder's model.safetensors.

write_gguf.py FOLDER OUT.gguf [--dense bf16|q8] [--experts FORMAT] [--seed N] [--weights]"""
import argparse
import json
import pathlib

import numpy as np

import blocks
import checkpoint
import gguf
import shapes


class RandomWeights:
    """Deviations as those of `ft --load-format dummy`: 1/sqrt(width), so that activations keep their size."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.pools = {}

    def pieces(self, tensor):
        if tensor.fill == "ones":
            return [np.ones(tensor.shape, "<f4").tobytes()]
        if tensor.fill.startswith("scale "):
            d_in = int(tensor.fill.split()[1])
            return [np.full(tensor.shape, d_in ** -0.5 / blocks.RMS_OF_NVFP4, "<f4").tobytes()]
        is_matrix = tensor.name.endswith(".weight") and len(tensor.shape) > 1
        deviation = 0.02 if not is_matrix else 1.0 if tensor.name == shapes.TABLE else tensor.shape[-1] ** -0.5
        return self.pool(tensor.format, deviation).pieces(gguf.n_blocks(tensor))

    def pool(self, name, deviation):
        if (name, deviation) not in self.pools:
            self.pools[name, deviation] = blocks.Pool(self.rng, blocks.FORMATS[name], deviation)
        return self.pools[name, deviation]


class GivenWeights:
    def __init__(self, path, n_experts):
        self.file = checkpoint.File(path)
        self.n_experts = n_experts

    def pieces(self, tensor):
        pack = blocks.FORMATS[tensor.format].pack
        if pack is None:
            raise ValueError(f"{tensor.name}: given weights can be written as f32 and bf16, not as {tensor.format}")
        if "{}" not in tensor.source:
            return [pack(self.file.values(tensor.source)).tobytes()]
        return (pack(self.file.values(tensor.source.format(i))).tobytes() for i in range(self.n_experts))


def step_bytes(config, tensors):
    """Weights that a token reads: all but the embedding's table, and of the experts those that are active."""
    share = config["num_experts_per_tok"] / shapes.n_experts(config)
    is_tied = not any(tensor.name == "output.weight" for tensor in tensors)
    return round(sum(gguf.n_bytes(tensor) * (share if shapes.EXPERTS in tensor.name else 1)
                     for tensor in tensors if is_tied or tensor.name != shapes.TABLE))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--dense", default="bf16", choices=("bf16", "q8", "f32"))
    parser.add_argument("--experts", choices=sorted(blocks.FORMATS), help="what config.json declares by default")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--weights", action="store_true", help="those of model.safetensors instead of random ones")
    options = parser.parse_args()
    config = json.loads((options.folder / "config.json").read_text())
    formats = shapes.Formats(options.dense, options.experts or shapes.experts_format(config))
    tensors = shapes.tensors(config, formats)
    if options.weights:
        weights = GivenWeights(options.folder / "model.safetensors", shapes.n_experts(config))
    else:
        weights = RandomWeights(options.seed)
    gguf.write(options.out, shapes.metadata(config), tensors, weights.pieces)


if __name__ == "__main__":
    main()

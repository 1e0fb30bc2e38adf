"""How GGUF packs weights into blocks: random ones, and those of given values."""
import dataclasses
import typing

import numpy as np

RMS_OF_E2M1 = 2.926  # of the sixteen values, equally often
RMS_OF_INT8 = 73.6   # of -127 to 127, equally often


@dataclasses.dataclass(frozen=True)
class Format:
    """A type of GGUF's tensors; random(rng, n_blocks, deviation) makes blocks, pack(values) packs some."""
    type_id: int
    n_values: int  # in a block
    n_bytes: int   # of a block
    random: typing.Callable
    pack: typing.Callable = None


def pack_f32(values):
    return values.astype("<f4")


def pack_bf16(values):
    """The nearest, to even where two are as near."""
    bits = values.astype("<f4").view("<u4").astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2")


def random_f32(rng, n_blocks, deviation):
    return pack_f32(rng.standard_normal(n_blocks) * deviation)


def random_bf16(rng, n_blocks, deviation):
    return pack_bf16(rng.standard_normal(n_blocks) * deviation)


def random_q8_0(rng, n_blocks, deviation):
    """A scale in f16, then 32 numbers of int8."""
    blocks = np.empty(n_blocks, np.dtype([("scale", "<f2"), ("codes", "i1", 32)]))
    blocks["scale"] = deviation / RMS_OF_INT8
    blocks["codes"] = rng.integers(-127, 128, (n_blocks, 32))
    return blocks


def random_mxfp4(rng, n_blocks, deviation):
    """A scale in e8m0, then 32 codes of e2m1."""
    blocks = np.empty(n_blocks, np.dtype([("scale", "u1"), ("codes", "u1", 16)]))
    exponent = round(np.log2(deviation / RMS_OF_E2M1))
    blocks["scale"] = 127 + exponent + rng.integers(-1, 2, n_blocks)
    blocks["codes"] = rng.integers(0, 256, (n_blocks, 16))
    return blocks


def random_nvfp4(rng, n_blocks, _):
    """Four scales in e4m3 between 1 and 8, then 64 codes of e2m1. The deviation is the business of the tensor's own scale."""
    blocks = np.empty(n_blocks, np.dtype([("scales", "u1", 4), ("codes", "u1", 32)]))
    blocks["scales"] = rng.integers(0x38, 0x50, (n_blocks, 4))
    blocks["codes"] = rng.integers(0, 256, (n_blocks, 32))
    return blocks


RMS_OF_NVFP4 = RMS_OF_E2M1 * 3.878  # with scales as above

FORMATS = {
    "f32": Format(0, 1, 4, random_f32, pack_f32),
    "q8": Format(8, 32, 34, random_q8_0),
    "bf16": Format(30, 1, 2, random_bf16, pack_bf16),
    "mxfp4": Format(39, 32, 17, random_mxfp4),
    "nvfp4": Format(40, 64, 36, random_nvfp4),
}


class Pool:
    """Random blocks of one format and deviation, enough to be read from anywhere: tensors take theirs from a random place on."""
    N_BYTES = 1 << 25

    def __init__(self, rng, form, deviation):
        self.rng = rng
        self.block_bytes = form.n_bytes
        self.n_blocks = self.N_BYTES // form.n_bytes
        self.bytes = form.random(rng, self.n_blocks, deviation).tobytes()

    def pieces(self, n_blocks):
        """As bytes, n_blocks in all."""
        at = int(self.rng.integers(self.n_blocks))
        while n_blocks > 0:
            n = min(n_blocks, self.n_blocks - at)
            yield memoryview(self.bytes)[at * self.block_bytes:(at + n) * self.block_bytes]
            n_blocks -= n
            at = 0

"""Reads safetensors as float32, also weights in NVFP4 as ModelOpt stores them."""
import json
import struct

import numpy as np

E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], np.float32)
E2M1 = np.concatenate([E2M1, -E2M1])


def e4m3_values():
    """Of the 128 codes without a sign; the last one is NaN."""
    codes = np.arange(128)
    exponent, mantissa = codes >> 3, codes & 7
    values = np.where(exponent == 0, mantissa / 8 * 2.0 ** -6, (1 + mantissa / 8) * 2.0 ** (exponent - 7.0))
    values[127] = np.nan
    return values.astype(np.float32)


class File:
    def __init__(self, path):
        data = path.read_bytes()
        n, = struct.unpack_from("<Q", data)
        self.entries = json.loads(data[8:8 + n])
        self.data = memoryview(data)[8 + n:]

    def raw(self, name):
        entry = self.entries[name]
        begin, end = entry["data_offsets"]
        dtype = {"F32": "<f4", "BF16": "<u2", "U8": "u1", "F8_E4M3": "u1"}[entry["dtype"]]
        return np.frombuffer(self.data[begin:end], dtype).reshape(entry["shape"])

    def values(self, name):
        codes = self.raw(name)
        if codes.dtype == "u1":
            return self.nvfp4(name, codes)
        if codes.dtype == "<u2":
            return (codes.astype("<u4") << 16).view("<f4")
        return codes

    def nvfp4(self, name, codes):
        """Two codes in a byte, the lower half first; a scale for 16 values, and a factor for all."""
        values = E2M1[np.stack([codes & 15, codes >> 4], -1)].reshape(codes.shape[0], -1, 16)
        scales = e4m3_values()[self.raw(name + "_scale")]
        return (values * scales[..., None] * self.raw(name + "_scale_2")).reshape(codes.shape[0], -1)

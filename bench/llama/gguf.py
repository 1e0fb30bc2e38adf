"""Writes GGUF, version 3: a header, metadata, a table of tensors, and their data."""
import struct

from blocks import FORMATS

ALIGNMENT = 32
# Types of metadata, by the Python type that stands for them here: number and struct's letter.
KINDS = {int: (4, "<I"), float: (6, "<f"), bool: (7, "<?")}
STRING = 8
ARRAY = 9


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def element(value):
    """The type's number and the bytes."""
    if isinstance(value, str):
        return STRING, text(value)
    number, letter = KINDS[type(value)]
    return number, struct.pack(letter, value)


def entry(key, value):
    """Of metadata. A list may not be empty: its type is that of the first."""
    if isinstance(value, list):
        elements = [element(item) for item in value]
        number = ARRAY
        data = struct.pack("<IQ", elements[0][0], len(elements)) + b"".join(piece for _, piece in elements)
    else:
        number, data = element(value)
    return text(key) + struct.pack("<I", number) + data


def padding(n_bytes):
    return -n_bytes % ALIGNMENT


def n_blocks(tensor):
    form = FORMATS[tensor.format]
    n_values = 1
    for n in tensor.shape:
        n_values *= n
    if tensor.shape[-1] % form.n_values:
        raise ValueError(f"{tensor.name}: rows of {tensor.shape[-1]} values are no whole blocks of {form.n_values} ({tensor.format})")
    return n_values // form.n_values


def n_bytes(tensor):
    return n_blocks(tensor) * FORMATS[tensor.format].n_bytes


def head(metadata, tensors):
    """All that stands before the data."""
    parts = [b"GGUF", struct.pack("<IQQ", 3, len(tensors), len(metadata))]
    parts += [entry(key, value) for key, value in metadata.items()]
    offset = 0
    for tensor in tensors:
        parts.append(text(tensor.name) + struct.pack("<I", len(tensor.shape)))
        parts.append(struct.pack(f"<{len(tensor.shape)}Q", *reversed(tensor.shape)))  # GGUF names the innermost first
        parts.append(struct.pack("<IQ", FORMATS[tensor.format].type_id, offset))
        offset += n_bytes(tensor) + padding(n_bytes(tensor))
    data = b"".join(parts)
    return data + bytes(padding(len(data)))


def write(path, metadata, tensors, pieces):
    """pieces(tensor) yields its data. The file appears under its name when it is complete."""
    part = path.with_name(path.name + ".part")
    with open(part, "wb") as file:
        file.write(head(metadata, tensors))
        for tensor in tensors:
            n_written = sum(file.write(piece) for piece in pieces(tensor))
            if n_written != n_bytes(tensor):
                raise ValueError(f"{tensor.name}: {n_written} bytes instead of {n_bytes(tensor)}")
            file.write(bytes(padding(n_written)))
    part.rename(path)

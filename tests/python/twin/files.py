"""Files of cwm: checkpoints, and datasets exported with their labels."""

import glob
import json
import os

import numpy
import torch


def tensors(path):
    """All tensors of a safetensors file by name."""
    kinds = {"F32": "<f4", "I64": "<i8", "U8": "u1"}
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        start, data = file.tell(), numpy.memmap(path, "u1", "r")
    header.pop("__metadata__", None)
    found = {}
    for name, of in header.items():
        begin, end = (start + offset for offset in of["data_offsets"])
        values = numpy.frombuffer(data[begin:end].tobytes(), kinds[of["dtype"]])
        found[name] = torch.from_numpy(values.reshape(of["shape"]).copy())
    return found


def checkpoint(folder):
    """Family, size and tensors of a checkpoint."""
    with open(os.path.join(folder, "model.json"), encoding="utf-8") as file:
        architecture = json.load(file)["architecture"]
    return architecture["family"], architecture["size"], tensors(os.path.join(folder, "model.safetensors"))


def games(folder):
    """Tokens and labels [steps, 75] of each game of an exported dataset, in its order."""
    import pyarrow as pa

    for path in sorted(glob.glob(os.path.join(folder, "labelled-*.arrow"))):
        reader = pa.ipc.open_file(pa.memory_map(path))
        for batch in map(reader.get_batch, range(reader.num_record_batches)):
            starts = batch["labels"].offsets.to_numpy()
            labels = batch["labels"].values.values.to_numpy().reshape(-1, 75)
            for row, tokens in enumerate(batch["tokens"]):
                of_game = labels[starts[row] : starts[row + 1]]
                yield torch.tensor(tokens.as_py()), torch.from_numpy(of_game.astype("i8"))

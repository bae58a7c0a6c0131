"""A PyTorch model as a stage of a pipeline: a GRU that trains on one dataset and predicts others.

`cwm run pipeline.yaml` runs it (pipeline.yaml, next to this file). It reads datasets and writes predictions; it depends on
cwm only through these two formats, which docs/formats.md describes. As a `command` it gets its inputs and outputs in
environment variables. To run it alone:

    in_train=dataset in_held_out=other out_held_out=predictions.parquet steps=200 python gru.py

Each `in_NAME` except `in_train` is a dataset to predict. Its predictions are written to `out_NAME`.
"""

import os
import pathlib

import numpy
import pyarrow as pa
import pyarrow.parquet
import torch
from torch import nn
from torch.nn import functional

from positions import GROUPS, LABELS, labels

WIDTH, BATCH, PAD = 64, 16, 20481


class Gru(nn.Module):
    """Tokens int64 [games, time] to logits [games, time, 1878]."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(PAD + 1, WIDTH)
        self.gru = nn.GRU(WIDTH, WIDTH, batch_first=True)
        self.head = nn.Linear(WIDTH, 1878)

    def forward(self, tokens):
        return self.head(self.gru(self.embedding(tokens))[0])


def games(folder):
    """Id and tokens of every game of a dataset, in its order; mapped, not read."""
    for file in sorted(pathlib.Path(folder).glob("dataset-*.arrow")):
        reader = pa.ipc.open_file(pa.memory_map(str(file)))
        for batch in map(reader.get_batch, range(reader.num_record_batches)):
            starts, tokens = batch["tokens"].offsets.to_numpy(), batch["tokens"].values.to_numpy()
            for row, name in enumerate(batch["id"].to_pylist()):
                yield name, tokens[starts[row] : starts[row + 1]]


def losses(logits, wanted):
    """Cross-entropy of each label: logits [rows, 1878] and labels [rows, 75] to [rows, 75]."""
    parts = []
    for first, count, classes, start in GROUPS:
        of = logits[:, start : start + count * classes].reshape(-1, classes)
        targets = wanted[:, first : first + count].reshape(-1).long()
        parts.append(functional.cross_entropy(of, targets, reduction="none").reshape(-1, count))
    return torch.cat(parts, dim=1)


def train(model, examples, steps):
    """Runs some steps of AdamW on batches of consecutive games."""
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for step in range(steps):
        chosen = [examples[(step * BATCH + i) % len(examples)] for i in range(BATCH)]
        tokens = nn.utils.rnn.pad_sequence([tokens for tokens, _ in chosen], batch_first=True, padding_value=PAD)
        logits = model(tokens)[tokens != PAD]
        loss = losses(logits, torch.cat([wanted for _, wanted in chosen])).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if (step + 1) % 50 == 0 or step + 1 == steps:
            print(f"step {step + 1}: loss {loss.item():.4f}")


@torch.no_grad()
def predict(model, folder, path):
    """Writes the model's predictions for every position of a dataset, one row group a game."""
    model.eval()
    schema = pa.schema(
        [("id", pa.utf8()), ("t", pa.uint32()), ("labels", pa.list_(pa.uint8(), LABELS)), ("loss", pa.float64())]
    )
    with pa.parquet.ParquetWriter(path, schema) as writer:
        for name, tokens in games(folder):
            logits = model(torch.tensor(tokens, dtype=torch.int64)[None])[0]
            predicted = [
                logits[:, start : start + count * classes].reshape(-1, count, classes).argmax(2)
                for _, count, classes, start in GROUPS
            ]
            predicted = torch.cat(predicted, dim=1).to(torch.uint8).numpy()
            loss = losses(logits.double(), torch.tensor(labels(tokens))).mean(1).numpy()
            rows = [
                pa.array([name] * len(tokens)),
                pa.array(numpy.arange(len(tokens), dtype=numpy.uint32)),
                pa.FixedSizeListArray.from_arrays(pa.array(predicted.ravel()), LABELS),
                pa.array(loss),
            ]
            writer.write_batch(pa.record_batch(rows, schema=schema))


def main():
    torch.manual_seed(int(os.environ.get("seed", "0")))
    # One order of sums: the same weights on all machines of a kind, for any number of cores.
    torch.set_num_threads(1)
    examples = [
        (torch.tensor(tokens, dtype=torch.int64), torch.tensor(labels(tokens)))
        for _, tokens in games(os.environ["in_train"])
    ]
    if not examples:
        raise SystemExit(f"{os.environ['in_train']} holds no games")
    model = Gru()
    print(f"{len(examples)} games, {sum(weights.numel() for weights in model.parameters())} parameters")
    train(model, examples, int(os.environ["steps"]))
    for variable, folder in sorted(os.environ.items()):
        if variable.startswith("in_") and variable != "in_train":
            predict(model, folder, os.environ["out_" + variable[3:]])


if __name__ == "__main__":
    main()

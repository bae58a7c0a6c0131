"""Runs the example of docs/formats.md's section on predictions, word for word, on true labels that examples/pytorch replays.

    python predictions.py docs/formats.md examples/pytorch [golden/games.parquet]

The current folder holds a dataset as `dataset/`; `predictions.parquet` is written beside it. With golden games, their labels
are compared with what the example replays.
"""

import pathlib
import sys

import numpy
import pyarrow as pa
import pyarrow.parquet

from formats import columns, example, section


def check(formats, pytorch, golden=None):
    sys.path.insert(0, pytorch)
    from positions import LABELS, labels as replayed

    if golden:
        games = pa.parquet.read_table(golden, columns=["id", "tokens", "labels"]).to_pylist()
        for game in games:
            assert replayed(game["tokens"]).tobytes() == game["labels"], game["id"]
        print(f"{len(games)} games replayed as golden ones")

    ids, t, truth = [], [], []
    for file in sorted(pathlib.Path("dataset").glob("dataset-*.arrow")):
        for game in pa.ipc.open_file(file).read_all().to_pylist():
            ids += [game["id"]] * len(game["tokens"])
            t += range(len(game["tokens"]))
            truth.append(replayed(game["tokens"]))
    names = {"ids": ids, "t": numpy.array(t), "labels": numpy.concatenate(truth)}
    text = section(formats, "predictions")
    exec(example(text), names)
    written = pa.parquet.read_schema("predictions.parquet")
    told = dict(columns(text))
    assert set(written.names) == set(told) - {"loss"}, written
    assert written.field("labels").type == pa.list_(pa.uint8(), LABELS)
    print(f"{len(ids)} positions predicted")


if __name__ == "__main__":
    check(*sys.argv[1:])

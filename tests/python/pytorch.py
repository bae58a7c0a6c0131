"""Compares what examples/pytorch reads with golden data.

    python pytorch.py examples/pytorch golden/games.parquet FOLDER

FOLDER is what `cwm export STAGE.OUTPUT FOLDER --labels` wrote.
"""

import glob
import pickle
import sys

import pyarrow as pa
import pyarrow.parquet
import torch
from torch.utils.data import DataLoader


def ids(folder):
    """The id of every game, in order."""
    for file in sorted(glob.glob(f"{folder}/labelled-*.arrow")):
        yield from pa.ipc.open_file(file).read_all()["id"].to_pylist()


def check(example, golden, folder):
    sys.path.insert(0, example)
    from labelled_games import PAD, LabelledGames, pad

    games = LabelledGames(folder)
    place = {name: place for place, name in enumerate(ids(folder))}
    assert len(games) == len(place)
    expected = pa.parquet.read_table(golden, columns=["id", "tokens", "labels"]).to_pylist()
    for row in expected:
        tokens, labels = games[place[row["id"]]]
        assert tokens.dtype == torch.int64 and tokens.tolist() == row["tokens"], row["id"]
        assert labels.dtype == torch.uint8 and labels.shape == (len(tokens), 75), labels.shape
        assert labels.numpy().tobytes() == row["labels"], row["id"]

    # In batches, also with workers, games are the same in the same order.
    order = [place[row["id"]] for row in expected]
    for workers in (0, 2):
        loader = DataLoader(games, batch_size=32, sampler=order, collate_fn=pad, num_workers=workers)
        seen = 0
        for tokens, labels, mask in loader:
            assert tokens.shape == mask.shape == labels.shape[:2] and labels.shape[2] == 75
            for row in range(len(tokens)):
                real, (alone, its_labels) = mask[row], games[order[seen]]
                assert torch.equal(tokens[row][real], alone) and torch.equal(labels[row][real], its_labels)
                assert real[: len(alone)].all() and bool((tokens[row][~real] == PAD).all())
                seen += 1
        assert seen == len(order)
    again = pickle.loads(pickle.dumps(games))
    assert torch.equal(again[order[0]][1], games[order[0]][1])
    for outside in (-1, len(games)):
        try:
            games[outside]
            raise AssertionError(outside)
        except IndexError:
            pass
    print(f"{len(games)} games, {len(expected)} equal to golden ones")


if __name__ == "__main__":
    check(*sys.argv[1:])

"""Trains with PyTorch as cwm's `train` does without dropout, from cwm's files, and prints the curve as JSON.

    python curve.py '{"checkpoint": "start", "train": "games", "validation": "held-out", "steps": 100, "lr": 0.003, ...}'

`checkpoint` holds the initial weights; `train` and `validation` are folders that `cwm export STAGE.OUTPUT FOLDER --labels`
wrote. `validation_games` and `exact` (all of it in fp64) are this program's; all else are parameters of cwm's `train`.
"""

import json
import sys

import torch

from twin import families, files, training


def curve(checkpoint, train, validation=None, validation_games=None, exact=False, **hyper):
    family, size, weights = files.checkpoint(checkpoint)
    model = families.build(family, size)
    model.load_state_dict(weights)
    if exact:
        model.double()
    games = list(files.games(train))
    held_out = list(files.games(validation))[:validation_games] if validation else []
    rows, measured = training.run(model, games, training.Hyper(**hyper), held_out)
    return {"torch": torch.__version__, "family": family, "size": size, "train": rows, "validation": measured}


if __name__ == "__main__":
    print(json.dumps(curve(**json.loads(sys.argv[1]))))

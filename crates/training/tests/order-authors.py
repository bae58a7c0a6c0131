"""Writes order-authors.json: the order of training as the authors' program has it, from CPython's own generator.

The rules are simulated here in plain Python. Where PyTorch is installed, each case is also drawn through its DataLoader,
with real worker processes, and must come out the same. Run: python order-authors.py > order-authors.json
"""

import json
import random
import sys

try:
    import torch.utils.data as data
except ImportError:
    data = None


def is_validation(ordinal):
    return ordinal % 7 == 3 or 30 <= ordinal < 41


def shards_of(games, shard_games):
    """Ordinals of the training games by shard; a shard counts its validation games too."""
    last = max(ordinal for ordinal in range(games) if not is_validation(ordinal))
    shards = [[] for _ in range(last // shard_games + 1)]
    for ordinal in range(last + 1):
        if not is_validation(ordinal):
            shards[ordinal // shard_games].append(ordinal)
    return shards


def simulated(shards, seed, epoch, batch_size, workers):
    order = list(range(len(shards)))
    random.Random(seed + 1009 * epoch).shuffle(order)
    waiting = []
    for worker in range(max(1, workers)):
        mine = [ordinal for at, shard in enumerate(order) if at % max(1, workers) == worker for ordinal in shards[shard]]
        waiting.append([mine[at : at + batch_size] for at in range(0, len(mine), batch_size)])
    batches = []
    while any(waiting):
        for batches_of_one in waiting:
            if batches_of_one:
                batches.append(batches_of_one.pop(0))
    return batches


if data is not None:

    class Corpus(data.IterableDataset):
        def __init__(self, shards, seed):
            self.shards, self.seed = shards, seed

        def __iter__(self):
            worker = data.get_worker_info()
            first, step = (worker.id, worker.num_workers) if worker else (0, 1)
            order = list(self.shards)
            random.Random(self.seed).shuffle(order)
            for shard in order[first::step]:
                yield from shard


def drawn(shards, seed, epoch, batch_size, workers):
    corpus = Corpus(shards, seed + 1009 * epoch)
    return list(data.DataLoader(corpus, batch_size=batch_size, num_workers=workers, collate_fn=list))


def main():
    cases = []
    for seed in (0, 7, 2**63 + 5):
        for games, shard_games, batch_size in ((97, 10, 4), (60, 25, 3), (45, 100, 8)):
            for workers in (0, 1, 2, 3):
                shards = shards_of(games, shard_games)
                epochs = [simulated(shards, seed, epoch, batch_size, workers) for epoch in range(2)]
                if data is not None:
                    for epoch, batches in enumerate(epochs):
                        assert batches == drawn(shards, seed, epoch, batch_size, workers), (seed, games, workers, epoch)
                case = {"seed": seed, "games": games, "shard_games": shard_games, "batch_size": batch_size}
                cases.append(case | {"workers": workers, "epochs": epochs})
    print("[\n" + ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases) + "\n]")
    print("checked against PyTorch" if data is not None else "PyTorch is not here: simulated only", file=sys.stderr)


if __name__ == "__main__":
    main()

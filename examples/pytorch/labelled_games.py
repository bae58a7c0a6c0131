"""Games with the labels of every position, for PyTorch.

`cwm export STAGE.OUTPUT FOLDER --labels` writes the files, and docs/formats.md describes them. They are mapped into memory and
never read as a whole, so a folder may be larger than the machine's memory.

    games = LabelledGames("labelled")
    for tokens, labels, mask in DataLoader(games, batch_size=64, shuffle=True, collate_fn=pad, num_workers=4): ...

`python labelled_games.py --benchmark FOLDER` reads a folder once and prints the positions per second.
"""

import bisect
import itertools
import pathlib
import sys
import time

import pyarrow as pa
import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

PAD = 20481


class LabelledGames(Dataset):
    """Item i is game i of the dataset: tokens int64 [time], START first, and labels uint8 [time, 75]."""

    def __init__(self, folder):
        self.folder = folder
        self.batches = []
        files = sorted(pathlib.Path(folder).glob("labelled-*.arrow"))
        if not files:
            raise FileNotFoundError(f"{folder} holds no labelled-*.arrow; `cwm export STAGE {folder} --labels` writes them")
        for file in files:
            reader = pa.ipc.open_file(pa.memory_map(str(file)))
            for batch in map(reader.get_batch, range(reader.num_record_batches)):
                tokens, labels = batch["tokens"], batch["labels"]
                starts = tokens.offsets.to_numpy()
                self.batches.append((starts, tokens.values.to_numpy(), labels.values.values.to_numpy().reshape(-1, 75)))
        self.ends = list(itertools.accumulate(len(starts) - 1 for starts, _, _ in self.batches))

    def __len__(self):
        return self.ends[-1] if self.ends else 0

    def __getitem__(self, game):
        if not 0 <= game < len(self):
            raise IndexError(game)
        batch = bisect.bisect_right(self.ends, game)
        starts, tokens, labels = self.batches[batch]
        row = game - self.ends[batch] + len(starts) - 1
        here = slice(starts[row], starts[row + 1])
        return torch.tensor(tokens[here], dtype=torch.int64), torch.tensor(labels[here])

    def __reduce__(self):  # a new worker process maps the files itself
        return LabelledGames, (self.folder,)


def pad(games):
    """A batch: tokens int64 [games, time], labels uint8 [games, time, 75], mask bool [games, time], true at positions."""
    tokens = pad_sequence([tokens for tokens, _ in games], batch_first=True, padding_value=PAD)
    labels = pad_sequence([labels for _, labels in games], batch_first=True)
    return tokens, labels, tokens != PAD


def rate(folder):
    """Positions a second, in shuffled batches of 64 games, on one thread of this process."""
    torch.set_num_threads(1)
    games = LabelledGames(folder)
    began, busy, positions = time.perf_counter(), time.process_time(), 0
    for _, _, mask in DataLoader(games, batch_size=64, shuffle=True, collate_fn=pad):
        positions += int(mask.sum())
    seconds, busy = time.perf_counter() - began, time.process_time() - busy
    print(f"{len(games)} games, {positions} positions in {seconds:.2f} s: {positions / seconds:,.0f} positions a second")
    print(f"{busy:.2f} s of processor time: {positions / busy:,.0f} positions a second of it")


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] != "--benchmark":
        sys.exit("usage: python labelled_games.py --benchmark FOLDER")
    rate(sys.argv[2])

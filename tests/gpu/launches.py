#!/usr/bin/env python3
"""Launches, copies and waits of a training step, by family and size, as a table.

    eval "$(tests/gpu/setup)"
    python3 tests/gpu/launches.py BINARY [--families slice,mamba2] [--sizes d128/l1:32,d512/l6:128] [--kernels 20]

BINARY is a cwm with the features play,parse,tokenize,train,cuda. A size is that of the model and the games of a batch. No GPU is
used and nothing is computed. `--kernels N` lists the N kernels that are launched most.
"""

import argparse
import collections
import re
import tempfile

import training


def row(family, size, games, steps):
    found = [training.counts(step) for step in steps]
    layers = int(size.rsplit("l", 1)[1])
    cells = [family, f"{size}, {games} games"]
    for name in ("launch", "upload", "upload bytes", "copy", "fill", "download", "wait"):
        numbers = sorted({count[name] for count in found})
        cells.append(" … ".join(f"{number:,}" for number in (numbers if len(numbers) < 3 else numbers[:: len(numbers) - 1])))
    cells.insert(3, f"{found[-1]['launch'] / layers:,.0f}")
    return cells


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("binary")
    parser.add_argument("--families", default=",".join(training.FAMILIES))
    parser.add_argument("--sizes", default="d128/l1:32,d512/l6:128")
    parser.add_argument("--precision", default="fp32")
    parser.add_argument("--kernels", type=int, default=0)
    options = parser.parse_args()
    print("| family | size, batch | launches | a layer | uploads | bytes | copies | fills | downloads | waits |")
    print("|" + "---|" * 10)
    with tempfile.TemporaryDirectory(prefix="cwm-gpu-") as folder:
        for size in options.sizes.split(","):
            size, games = size.split(":")
            for family in options.families.split(","):
                trace = training.train(options.binary, family, size, games, options.precision, folder=folder)
                steps = trace.steps()
                print("| " + " | ".join(row(family, size, games, steps)) + " |", flush=True)
                # The name ends with a hash of the kernel's constants.
                names = (re.sub(r"_[0-9a-f]{8,}$", "", call[1]) for call in steps[-1] if call[0] == "launch")
                for name, count in collections.Counter(names).most_common(options.kernels):
                    print(f"    {count:5} {name}")


if __name__ == "__main__":
    main()

"""Runs the example of docs/formats.md's section on labelled games, word for word, and compares with golden labels.

    python labelled.py docs/formats.md golden/games.parquet

The current folder is what `cwm export STAGE.OUTPUT . --labels` wrote.
"""

import contextlib
import glob
import io
import sys

import numpy
import pyarrow as pa
import pyarrow.parquet

from formats import example, section


def check(formats, golden):
    names = {}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(example(section(formats, "labelled")), names)
    assert names["labels"].shape[1:] == (75,) and names["labels"].dtype == numpy.uint8
    assert names["batch"]["id"][3].as_py() in printed.getvalue()

    expected = pa.parquet.read_table(golden, columns=["id", "labels"]).to_pydict()
    expected = dict(zip(expected["id"], expected["labels"]))
    found = 0
    for file in sorted(glob.glob("labelled-*.arrow")):
        reader = pa.ipc.open_file(pa.memory_map(file))
        for batch in map(reader.get_batch, range(reader.num_record_batches)):
            starts = batch["labels"].offsets.to_numpy()
            labels = batch["labels"].values.values.to_numpy().reshape(-1, 75)
            for row, name in enumerate(batch["id"].to_pylist()):
                if name in expected:
                    assert labels[starts[row] : starts[row + 1]].tobytes() == expected[name], name
                    found += 1
    assert found == len(expected), (found, len(expected))
    print(f"{found} games have golden labels")


if __name__ == "__main__":
    check(*sys.argv[1:])

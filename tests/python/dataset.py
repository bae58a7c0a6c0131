"""Runs the example of docs/formats.md's section on datasets, word for word, and compares what it reads with golden data.

    python dataset.py docs/formats.md golden/games.parquet

The current folder holds the dataset as `dataset/`.
"""

import contextlib
import io
import re
import sys

import pyarrow as pa
import pyarrow.parquet

from formats import columns, example, section


def mapped(address, name):
    """Whether an address of this process lies in the mapping of a file of this name."""
    for line in open("/proc/self/maps"):
        start, end = (int(number, 16) for number in re.match(r"(\w+)-(\w+)", line).groups())
        if start <= address < end:
            return line.rstrip().endswith(name)
    return False


def check(formats, golden):
    text = section(formats, "dataset")
    code = example(text)
    assert len(code.splitlines()) == 5, code
    names, printed = {}, io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, names)
    games, tokens = names["games"], names["tokens"]

    types = {"uint64": pa.uint64(), "uint32": pa.uint32(), "utf8": pa.utf8(), "list<uint16>": pa.list_(pa.uint16())}
    found = [(field.name, field.type) for field in games.schema]
    told = [(name, types[kind]) for name, kind in columns(text) if name != "labels"]
    assert [name for name, _ in found] == [name for name, _ in told], found
    for (name, kind), (_, expected) in zip(found, told):
        same = kind.value_type == expected.value_type if name == "tokens" else kind == expected
        assert same, (name, kind, expected)
    assert printed.getvalue().split() == [str(games.num_rows), games["id"][0].as_py(), str(games["plies"][0])]
    assert tokens.to_pylist() == games["tokens"][0].as_py() and tokens[0].as_py() == 20480

    # Nothing is copied: the numbers lie in the mapped file.
    assert mapped(tokens.buffers()[1].address, "dataset-00000.arrow")
    assert tokens.to_numpy(zero_copy_only=True).__array_interface__["data"][0] >= tokens.buffers()[1].address

    by_id = {row["id"]: row for row in games.to_pylist()}
    assert len(by_id) == games.num_rows
    assert [row["index"] for row in by_id.values()] == list(range(games.num_rows))
    expected = pa.parquet.read_table(golden, columns=["id", "tokens", "plies", "result"]).to_pylist()
    for row in expected:
        game = by_id[row["id"]]
        assert {name: game[name] for name in row} == row, row["id"]
        assert len(game["tokens"]) == game["plies"] + 1
    print(f"{games.num_rows} games read, {len(expected)} equal to golden ones")


if __name__ == "__main__":
    check(*sys.argv[1:])

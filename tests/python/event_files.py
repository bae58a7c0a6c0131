"""Reads what `cwm log --tensorboard` wrote for one training, every checksum included, and compares it with the curves.

    python event_files.py FOLDER CURVES.jsonl

With the package `tensorboard` installed, its own reader reads the same files too. The last line printed says how many
numbers there were.
"""

import glob
import importlib.util
import json
import math
import struct
import sys

TABLE = []
for byte in range(256):
    for _ in range(8):
        byte = byte >> 1 ^ 0x82F63B78 * (byte & 1)
    TABLE.append(byte)


def masked(data):
    """CRC-32C of bytes, turned and shifted as records have it."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 255]
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(path):
    """The messages of a file."""
    data, at = open(path, "rb").read(), 0
    while at < len(data):
        length, check = struct.unpack_from("<QI", data, at)
        assert check == masked(data[at : at + 8]), (path, at)
        message = data[at + 12 : at + 12 + length]
        assert struct.unpack_from("<I", data, at + 12 + length)[0] == masked(message), (path, at)
        yield message
        at += 16 + length


def fields(message):
    """Number and value of each field of a protocol buffer."""
    at = 0

    def variable():
        nonlocal at
        number = shift = 0
        while True:
            byte = message[at]
            at, number, shift = at + 1, number | (byte & 127) << shift, shift + 7
            if byte < 128:
                return number

    while at < len(message):
        key = variable()
        if key & 7 == 0:
            value = variable()
        else:
            length = {1: 8, 5: 4}.get(key & 7) or variable()
            value, at = message[at : at + length], at + length
            value = struct.unpack("<d" if length == 8 else "<f", value)[0] if key & 7 in (1, 5) else value
        yield key >> 3, value


def events(folder):
    """Curve, step and value of every event of a folder, in order."""
    for path in sorted(glob.glob(f"{glob.escape(folder)}/events.out.tfevents.*")):
        first, *rest = map(dict, map(fields, records(path)))
        assert first[3] == b"brain.Event:2" and first[1] > 1e9, first
        for event in rest:
            assert event[1] > 1e9
            value = dict(fields(dict(fields(event[5]))[1]))
            yield value[1].decode(), event[2], value[2]


def told(lines):
    """The same of a file of curves."""
    for line in map(json.loads, lines):
        kind, step = line.pop("kind"), line.pop("step")
        yield from ((f"{kind}/{name}", step, float(value)) for name, value in line.items())


def same(found, expected, digits):
    """Whether two lists have the same points, to so many digits."""
    key = lambda point: point[:2]
    found, expected = sorted(found, key=key), sorted(expected, key=key)
    assert [key(point) for point in found] == [key(point) for point in expected]
    for (*_, a), (*name, b) in zip(found, expected):
        assert (math.isnan(a) and math.isnan(b)) or a == b or math.isclose(a, b, rel_tol=10**-digits), (name, a, b)


def check(folder, curves):
    expected = list(told(open(curves)))
    same(list(events(folder)), expected, 6)
    rows = [{name: float(value) for name, value in json.loads(line).items()} for line in open(f"{folder}/metrics.jsonl")]
    points = [
        (name, int(row["_step"]), value) for row in rows for name, value in row.items() if not name.startswith("_")
    ]
    same(points, expected, 15)
    if importlib.util.find_spec("tensorboard") is None:
        print("skipped: tensorboard's own reader (tests/python/setup installs it)")
    else:
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

        accumulator = EventAccumulator(folder, size_guidance={"scalars": 0}).Reload()
        curves = accumulator.Tags()["scalars"]
        same([(name, point.step, point.value) for name in curves for point in accumulator.Scalars(name)], expected, 6)
        print("tensorboard's own reader agrees")
    print(f"{len(expected)} numbers")


if __name__ == "__main__":
    check(*sys.argv[1:])

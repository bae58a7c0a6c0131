"""The numbers of docs/design/gpu-speed.md: FLOPs, bytes and launches of a training step at d512/l6, and the time that they need.

    python3 benches/models/gpu_speed.py

Nothing here is measured: it counts what the formulas of the families need, and divides by what NVIDIA states for an H200.
"""

from typing import NamedTuple

D, LAYERS, GAMES = 512, 6, 128
LOGITS, VOCABULARY = 1_878, 20_482
# Steps of a game of Lichess: the 14,100 of shared/data/lichess-sample.pgn.zst with at least 20 plies, START included.
MEAN, MEAN_SQUARE = 68.76, 5564.7
LONGEST = 166  # of 128 random ones, the expected value: the sum over t of 1 - F(t - 1)^128
# Drawn from the same games: 9,100 rows in batches of 64 * 128 games sorted by length, 11,650 in four passes of a sorted batch.


class Batch(NamedTuple):
    rows: float
    seen: float  # steps that attention sees from a row on average


REAL, PADDED = Batch(GAMES * MEAN, MEAN_SQUARE / MEAN / 2), Batch(GAMES * LONGEST, LONGEST / 2)
FLOPS = {"fp32": 67e12, "tf32": 494e12, "bf16": 989e12}  # dense
BANDWIDTH, LAUNCH, GOAL = 4.8e12, 5e-6, 46e-3
GOAL_LAUNCHES = 60 * LAYERS + 30  # 60 a layer, and 30 for embedding, heads and update

CHUNK = 64  # steps, in scans and the delta rule; a state is kept for each chunk
GLU = [(D, 8 * D), (4 * D, D)]
# Values that a fused kernel reads and writes for a row, forward and backward.
NORM, NORM_AND_DROPOUT = 8 * D, 9 * D  # with the residual sum before it


def gate(width):
    """Of two arrays, with or without a norm: forward two to one, backward three to two."""
    return 8 * width


def convolution(channels):
    return 5 * channels


def scan(inputs, outputs, state):
    """Forward inputs to outputs and states; backward these, and the inputs' gradients."""
    return 3 * inputs + 2 * outputs + 2 * state / CHUNK


def transformer():
    parts = {"norms": 2 * NORM_AND_DROPOUT, "MLP gate": gate(4 * D), "mixing": 12 * D}
    return 36_662_614, [(D, 3 * D), (D, D), *GLU], 2 * D, 0, parts


def slice_(block):
    parts = {"norms": 2 * NORM_AND_DROPOUT, "MLP gate": 5 * 4 * D, "mixing": (3 * block + 5) * D}
    parameters = 38_241_110 if block > 1 else 27_209_558
    return parameters, [(D + 1, block * D), (D + 1, D), (D, 4 * D), (4 * D, D)], 0, block * D, parts


def gated_deltanet():
    heads, key, value, hidden = 8, 48, 96, 1536
    columns = heads * (2 * key + value)
    multiply_adds = heads * (CHUNK * (3 * key + 2 * value) + CHUNK * CHUNK / 6 + 3 * key * value)
    between = {
        "norms": 2 * NORM,
        "MLP gate": gate(hidden),
        "mixing": scan(columns + 2 * heads, heads * value, heads * key * value),
        "convolution, gated norm": convolution(columns) + gate(heads * value),
    }
    products = [(D, heads * key)] * 2 + [(D, heads * value)] * 2 + [(D, heads)] * 2 + [(heads * value, D)]
    return 35_136_502, products + [(D, hidden)] * 2 + [(hidden, D)], 0, multiply_adds, between


def mamba2():
    heads, state, inner = 16, 128, 2 * D
    parts = {
        "norms": 2 * NORM,
        "MLP gate": gate(4 * D),
        "mixing": scan(inner + 2 * state + heads, inner, inner * state),
        "convolution, gated norm": convolution(inner + 2 * state) + gate(inner),
    }
    multiply_adds = CHUNK * state + heads * CHUNK * 64 + 2 * inner * state
    return 40_648_822, [(D, 2 * inner + 2 * state + heads), (inner, D), *GLU], 0, multiply_adds, parts


def mamba3(ranks):
    heads, state, inner = 16, 128, 2 * D
    keys, rates = 2 * state * ranks, 3 * heads + 32
    parts = {
        "norms": 2 * NORM,
        "MLP gate": gate(4 * D),
        "mixing": scan(inner + keys + rates, inner * ranks, inner * state * ranks),  # a chunk has 64 rows: steps times ranks
        "convolution, gated norm": (3 * ranks + 5) * inner,
    }
    multiply_adds = ranks * heads * (CHUNK * state + CHUNK * 64 + 2 * 64 * state)
    parameters = 40_826_902 if ranks == 1 else 43_333_654
    return parameters, [(D, 2 * inner + keys + rates), (inner, D), *GLU], 0, multiply_adds, parts


# Parameters (models.md, section 8); products of a layer as (inputs, outputs); multiply-adds of a row and layer in attention for
# each step that it sees, which the precision rounds, and in recurrences, which are f32 always; values moved for a row and layer.
FAMILIES = {
    "Transformer": transformer(),
    "SLiCE": slice_(8),
    "Diagonal SLiCE": slice_(1),
    "Gated DeltaNet": gated_deltanet(),
    "Mamba-2": mamba2(),
    "Mamba-3": mamba3(1),
    "Mamba-3 MIMO": mamba3(4),
}


# Launches and GB of a padded step with composed operations, by part, counted operation by operation. "mixing" is attention with
# its dropout, scans with rates and rotation, and the delta rule with its inverse.
COMPOSED = {
    "Transformer": {
        "mixing": (523, 155.7), "dropout": (390, 68.3), "norms": (375, 26.4), "products": (132, 28.1),
        "MLP gate": (168, 72.1), "heads": (103, 6.1), "update": (150, 7.7),
    },
    "SLiCE": {
        "mixing": (4009, 292.5), "dropout": (390, 68.3), "norms": (348, 24.6), "products": (198, 25.7),
        "MLP gate": (96, 39.7), "heads": (103, 6.1), "update": (143, 8.0),
    },
    "Diagonal SLiCE": {
        "mixing": (4009, 70.4), "dropout": (390, 68.3), "norms": (348, 24.6), "products": (198, 20.0),
        "MLP gate": (96, 39.7), "heads": (103, 6.1), "update": (143, 5.9),
    },
    "Gated DeltaNet": {
        "mixing": (2467, 114.0), "norms": (375, 26.4), "products": (312, 26.6), "convolution, gated norm": (1560, 127.2),
        "MLP gate": (138, 43.1), "heads": (103, 6.1), "update": (198, 7.4),
    },
    "Mamba-2": {
        "mixing": (1105, 106.4), "dropout": (30, 5.3), "norms": (375, 26.4), "products": (132, 23.0),
        "convolution, gated norm": (732, 126.7), "MLP gate": (168, 72.1), "heads": (103, 6.1), "update": (162, 8.5),
    },
    "Mamba-3": {
        "mixing": (2059, 232.6), "dropout": (30, 5.3), "norms": (699, 31.7), "products": (180, 26.3),
        "convolution, gated norm": (186, 37.1), "MLP gate": (168, 72.1), "heads": (103, 6.1), "update": (162, 8.5),
    },
    "Mamba-3 MIMO": {
        "mixing": (2125, 657.5), "dropout": (30, 5.3), "norms": (699, 47.9), "products": (180, 27.5),
        "convolution, gated norm": (216, 158.2), "MLP gate": (168, 72.1), "heads": (103, 6.1), "update": (180, 9.0),
    },
}  # fmt: skip
# Launches at d128/l1 on 32 games: counted likewise, at 80 steps; and in a trial with a driver that only counts.
SMALL = {
    "Transformer": (509, 550), "SLiCE": (873, 1200), "Diagonal SLiCE": (873, "-"), "Gated DeltaNet": (1011, 1150),
    "Mamba-2": (682, 726), "Mamba-3": (812, 868), "Mamba-3 MIMO": (808, "-"),
}  # fmt: skip


def products_of(family):
    return FAMILIES[family][1] * LAYERS + [(D, LOGITS)]


def flops(family, batch):
    """Of products, of attention and of recurrences; a backward pass has two products for each."""
    _, _, attention, recurrence, _ = FAMILIES[family]
    products = sum(a * b for a, b in products_of(family))
    return [6 * batch.rows * each for each in (products, LAYERS * attention * batch.seen, LAYERS * recurrence)]


def fused(family, batch, rate):
    """Bytes and seconds by part. A kernel takes the longer of its arithmetic and its memory."""
    parameters, _, _, _, between = FAMILIES[family]
    rows, (_, attention, recurrence) = batch.rows, flops(family, batch)
    products = [(2 * rows * a * b, 4 * (rows * (a + b) + a * b)) for a, b in products_of(family)] * 3
    moved = {part: 4 * rows * LAYERS * values for part, values in between.items()}
    moved["heads"] = 4 * rows * 2 * LOGITS
    # The embedding's gradient; the norm reads g; AdamW reads w, g, m, v and writes w, m, v.
    moved["update"] = 4 * (rows * 3 * D + VOCABULARY * D) + 32 * parameters
    seconds = {part: count / BANDWIDTH for part, count in moved.items()}
    seconds["mixing"] = max(seconds["mixing"], attention / rate + recurrence / FLOPS["fp32"])
    moved["products"] = sum(count for _, count in products)
    seconds["products"] = sum(max(operations / rate, count / BANDWIDTH) for operations, count in products)
    return moved, seconds


def composed(family, rate):
    """Seconds by part of a padded step, at least."""
    parts = COMPOSED[family].items()
    seconds = {part: max(launches * LAUNCH, 1e9 * giga / BANDWIDTH) for part, (launches, giga) in parts}
    seconds["products"] = max(seconds["products"], flops(family, PADDED)[0] / rate)
    return seconds


def row(*cells):
    print("| " + " | ".join(f"{cell:.1f}" if isinstance(cell, float) else str(cell) for cell in cells) + " |")


def both(number, digits):
    """On real rows and padded."""
    return " / ".join(f"{number(batch):.{digits}f}" for batch in (REAL, PADDED))


def operations(family, batch):
    products, attention, recurrence = flops(family, batch)
    return products + attention, recurrence


def work():
    print(f"rows: {both(lambda batch: batch.rows, 0)}")
    print("\nfamily, millions of parameters, TFLOP rounded by the precision, TFLOP f32 always, GB fused, GB composed")
    for family, (parameters, *_) in FAMILIES.items():
        tera = [both(lambda batch: operations(family, batch)[kind] / 1e12, 2) for kind in (0, 1)]
        giga = both(lambda batch: sum(fused(family, batch, 1)[0].values()) / 1e9, 0)
        row(family, parameters / 1e6, *tera, giga, round(sum(giga for _, giga in COMPOSED[family].values())))


def times():
    print("\nms; family, arithmetic in fp32, tf32, bf16, memory; fused in fp32, tf32, bf16; composed in fp32, tf32")
    for family in FAMILIES:
        cells = []
        for rate in FLOPS.values():
            arithmetic = lambda batch: operations(family, batch)[0] / rate + operations(family, batch)[1] / FLOPS["fp32"]
            cells.append(both(lambda batch: 1e3 * arithmetic(batch), 1))
        cells.append(both(lambda batch: 1e3 * sum(fused(family, batch, 1)[0].values()) / BANDWIDTH, 1))
        for rate in FLOPS.values():
            cells.append(both(lambda batch: 1e3 * sum(fused(family, batch, rate)[1].values()), 1))
        row(family, *cells, *(round(1e3 * sum(composed(family, FLOPS[name]).values())) for name in ("fp32", "tf32")))

    print("\nfused as a share of 46 ms, percent, in fp32, tf32, bf16")
    for family in FAMILIES:
        cells = []
        for rate in FLOPS.values():
            cells.append(both(lambda batch: 100 * sum(fused(family, batch, rate)[1].values()) / GOAL, 0))
        row(family, *cells)


def launches():
    print("\nfamily, launches at d128/l1: counted here, trial; at d512/l6, ms; goal, ms")
    for family, parts in COMPOSED.items():
        count = sum(count for count, _ in parts.values())
        row(family, *SMALL[family], count, 1e3 * LAUNCH * count, GOAL_LAUNCHES, 1e3 * LAUNCH * GOAL_LAUNCHES)


def gains():
    parts = ["mixing", "convolution, gated norm", "dropout", "MLP gate", "norms", "heads", "update"]
    print("\nms that fused kernels save of a padded step in tf32: family", *parts, sep=", ")
    for family in FAMILIES:
        now, then = composed(family, FLOPS["tf32"]), fused(family, PADDED, FLOPS["tf32"])[1]
        row(family, *(1e3 * (now.get(part, 0.0) - then.get(part, 0.0)) for part in parts))


if __name__ == "__main__":
    work(), times(), launches(), gains()

"""The numbers of docs/design/gpu-speed.md: FLOPs, bytes and launches of a training step at d512/l6, and the time that they need.

    python3 benches/models/gpu_speed.py

Nothing here is measured: it counts what the formulas of the families need, and divides by what NVIDIA states for an H200.
"""

D, LAYERS, HEAD = 512, 6, 1878
GAMES = 128
STEPS, SQUARES = 68.76, 5564.7  # mean steps of a game and mean of their squares, 14,100 games of Lichess
REAL, PADDED = GAMES * STEPS, 21_375  # rows of a batch without padding; padded to the longest of 128 random games
TFLOPS = {"fp32": 67, "tf32": 494, "bf16": 989}  # dense
BANDWIDTH = 4.8e12
LAUNCH = 5e-6
GOAL = 46e-3

# Parameters: ../shared/models.md, section 8, checked by `cwm model parity`.
PARAMETERS = {
    "Transformer": 36_662_614,
    "SLiCE": 38_241_110,
    "Diagonal SLiCE": 27_209_558,
    "Gated DeltaNet": 35_136_502,
    "Mamba-2": 40_648_822,
    "Mamba-3": 40_826_902,
}
# Products of one layer as (inputs, outputs) of a row, and multiply-adds of its sequence operation for a row.
HEADS_M = 2 * D // 64  # heads of both Mambas: 64 channels of 2d each
MLP_GLU = [(D, 8 * D), (4 * D, D)]
CHUNK = 64
ATTENTION = 2 * D * (SQUARES / STEPS / 2)  # QK and PV, the causal half, for a mean row
LAYER = {
    "Transformer": ([(D, 3 * D), (D, D), *MLP_GLU], ATTENTION),
    "SLiCE": ([(D + 1, 8 * D), (D + 1, D), (D, 4 * D), (4 * D, D)], 8 * D),
    "Diagonal SLiCE": ([(D + 1, D), (D + 1, D), (D, 4 * D), (4 * D, D)], D),
    "Gated DeltaNet": (
        [(D, 384), (D, 384), (D, 768), (D, 768), (768, D), (D, 16), (D, 2 * 1536), (1536, D)],
        8 * (CHUNK * (3 * 48 + 2 * 96) + CHUNK * CHUNK / 3 + 3 * 48 * 96),
    ),
    "Mamba-2": ([(D, 4 * D + 256 + HEADS_M), (2 * D, D), *MLP_GLU], CHUNK * 128 + HEADS_M * (CHUNK * 64 + 2 * 64 * 128)),
    "Mamba-3": (
        [(D, 4 * D + 256 + 3 * HEADS_M + 32), (2 * D, D), *MLP_GLU],
        HEADS_M * (CHUNK * 128 + CHUNK * 64 + 2 * 64 * 128),
    ),
}
# Launches of a step at d128/l1 with composed operations, counted with a driver that only counts.
LAUNCHES_L1 = {"Transformer": 550, "SLiCE": 1200, "Diagonal SLiCE": 1200, "Gated DeltaNet": 1150, "Mamba-2": 726, "Mamba-3": 868}
# The Transformer has some 2,000 at l6, so 290 a layer and 260 beside the layers; the others are taken to have as many beside.
BESIDE = 260


def main():
    print(f"rows {REAL:.0f}, padded {PADDED}")
    for family, (products, sequence) in LAYER.items():
        macs = LAYERS * (sum(a * b for a, b in products) + sequence) + D * HEAD
        flops = 3 * 2 * macs  # the backward pass has two products for each
        state = 40 * PARAMETERS[family]  # weights read twice, gradient written, and what AdamW reads (4) and writes (3)
        # A product reads and writes rows of a + b three times over; what stands between is taken to be as much again.
        row = 2 * 3 * 4 * (LAYERS * sum(a + b for a, b in products) + D + HEAD)
        today = LAUNCHES_L1[family] + (LAYERS - 1) * (LAUNCHES_L1[family] - BESIDE)
        cells = [family, f"{macs / 1e6:.1f}"]
        for rows in (REAL, PADDED):
            cells.append(f"{flops * rows / 1e12:.2f}")
            compute = {name: 1e3 * flops * rows / (tera * 1e12) for name, tera in TFLOPS.items()}
            memory = 1e3 * (state + row * rows) / BANDWIDTH
            cells += [f"{compute[name]:.1f}" for name in TFLOPS] + [f"{memory:.1f}"]
        cells += [str(today), f"{1e3 * LAUNCH * today:.0f}", str(LAYERS * 60 + 30), f"{1e3 * LAUNCH * (LAYERS * 60 + 30):.1f}"]
        print(" | ".join(cells))


if __name__ == "__main__":
    main()

"""A training by a binary with the feature `cuda` on the counting driver (`eval "$(tests/gpu/setup)"`), and what it launched."""

import collections
import os
import pathlib
import subprocess
import tempfile

FAMILIES = [
    "transformer", "slice", "slice_diag", "gated_deltanet", "gated_deltanet_pos", "mamba2", "mamba3", "mamba3_mimo", "gpt",
]

# Every batch has all games, so that from the second step on nothing is new: no shape, no kernel to compile or to measure.
PIPELINE = """
cwm: 1
vars: { family: transformer, size: d128/l1, games: 32, precision: fp32, steps: 6 }
stages:
  games: { stage: play, with: { policy: engine, depth: 1, games: 160, max_plies: 165 } }
  corpus: { stage: parse, from: games, with: { ids: site } }
  tokens: { stage: tokenize, from: corpus }
  model:
    stage: train
    from: { train: tokens.dataset }
    with:
      family: $family
      size: $size
      games: $games
      batch_size: $games
      precision: $precision
      steps: $steps
      micro_batch_tokens: 1000000
"""

# The arrays of a checkpoint are larger than all that a step gives back.
ARRAY = 1 << 20


class Trace:
    """The calls of the process that launched most, as lists of words."""

    def __init__(self, folder):
        texts = [path.read_text() for path in folder.glob("trace.*")]
        text = max(texts, key=lambda text: text.count("\nlaunch "), default="")
        self.calls = [line.split() for line in text.splitlines() if not line.startswith("allocate ")]

    def steps(self):
        """The calls of each of the last three steps, which end with the last of their downloads."""
        downloads = []
        for at, call in enumerate(self.calls):
            if call[0] == "download" and downloads and int(call[1]) >= ARRAY:
                break
            if call[0] == "download":
                downloads.append(at)
        sizes = [self.calls[at][1] for at in downloads]
        for period in range(1, len(sizes) // 4 + 1):
            if sizes[-period:] * 3 == sizes[-3 * period :]:
                ends = [downloads[-1 - period * back] for back in (3, 2, 1, 0)]
                return [self.calls[start + 1 : end + 1] for start, end in zip(ends, ends[1:])]
        raise SystemExit(f"error: the training ended too early, or its steps differ; downloads: {sizes[-24:]}")


def counts(calls):
    """How often each kind of call is there, and the bytes of those that have some, as `upload bytes`."""
    found = collections.Counter(call[0] for call in calls)
    for call in calls:
        if call[0] in ("upload", "download", "copy", "fill"):
            found[f"{call[0]} bytes"] += int(call[1])
    return found


def train(binary, family, size, games=32, precision="fp32", architecture=90, kernels=None, folder=None):
    """Trains a few steps; the trace. `kernels` is a folder for the PTX of all kernels, `folder` one that keeps the games."""
    with tempfile.TemporaryDirectory(prefix="cwm-gpu-") as own:
        own = pathlib.Path(own)
        place = pathlib.Path(folder or own)
        (place / "pipeline.yaml").write_text(PIPELINE)
        environment = dict(os.environ, CWM_GPU_TRACE=str(own / "trace"), CWM_GPU_ARCHITECTURE=str(architecture))
        # Measurements of this driver are of no use to anybody.
        environment.update(XDG_CACHE_HOME=str(own / "cache"), NO_COLOR="1")
        environment.pop("CWM_STORE", None)
        if kernels:
            environment["CWM_GPU_PTX"] = str(kernels)
        values = {"family": family, "size": size, "games": games, "precision": precision}
        command = [binary, "run", "model", "--force", "model", "--device", "cuda:0"]
        for name, value in values.items():
            command += ["--set", f"{name}={value}"]
        ran = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True)
        if ran.returncode != 0:
            raise SystemExit(f"error: {' '.join(command)}:\n{ran.stdout}{ran.stderr}")
        return Trace(own)

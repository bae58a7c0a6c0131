#!/usr/bin/env python3
"""Compiles every kernel that a training step launches, for several GPUs, and lists its registers and spills.

    eval "$(tests/gpu/setup)"
    python3 tests/gpu/kernels.py BINARY [--families slice,mamba2] [--size d128/l1] [--architectures 80,90] [--all]

NVRTC compiles them to PTX as on such a GPU, and ptxas to machine code. `--all` lists those too that are only candidates of
autotune. The exit code is 1 if ptxas rejects one.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import training


def assemble(path, architecture):
    """What ptxas tells of a kernel: registers, bytes of shared memory and of spills; or its error."""
    suffix = "a" if architecture >= 90 else ""
    ptxas = pathlib.Path(os.environ["CUDA_PATH"], "bin/ptxas")
    ran = subprocess.run(
        [ptxas, f"-arch=sm_{architecture}{suffix}", "-v", "-o", os.devnull, path], capture_output=True, text=True
    )
    if ran.returncode != 0:
        return None, ran.stderr.strip()

    def number(pattern):
        return sum(int(found) for found in re.findall(pattern, ran.stderr))

    spills = number(r"(\d+) bytes spill stores") + number(r"(\d+) bytes spill loads")
    return (number(r"Used (\d+) registers"), number(r"(\d+) bytes smem"), spills), ""


def entry(path):
    return re.search(r"\.entry\s+(\w+)", path.read_text()).group(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("binary")
    parser.add_argument("--families", default=",".join(training.FAMILIES))
    parser.add_argument("--size", default="d128/l1")
    parser.add_argument("--games", type=int, default=32)
    parser.add_argument("--precision", default="fp32")
    parser.add_argument("--architectures", default="80,90")
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    rejected = 0
    print("| GPU | kernel | registers | shared bytes | spilled bytes | families |")
    print("|" + "---|" * 6)
    for architecture in map(int, options.architectures.split(",")):
        kernels, users = {}, {}
        with tempfile.TemporaryDirectory(prefix="cwm-ptx-") as folder, tempfile.TemporaryDirectory() as games:
            for family in options.families.split(","):
                place = pathlib.Path(folder, family)
                place.mkdir()
                trace = training.train(
                    options.binary, family, options.size, options.games, options.precision, architecture, place, games
                )
                launched = {call[1] for call in trace.steps()[-1] if call[0] == "launch"}
                for path in place.iterdir():
                    name = entry(path)
                    if options.all or name in launched:
                        kernels[name] = path
                        users.setdefault(name, set()).add(family)
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                assembled = dict(zip(kernels, pool.map(lambda path: assemble(path, architecture), kernels.values())))
        for name in sorted(kernels):
            numbers, error = assembled[name]
            rejected += numbers is None
            cells = [str(number) for number in numbers] if numbers else [f"rejected: {error}", "", ""]
            everybody = len(users[name]) == len(options.families.split(","))
            names = "all" if everybody else ", ".join(sorted(users[name]))
            print("| " + " | ".join([f"sm_{architecture}", name, *cells, names]) + " |", flush=True)
    sys.exit(1 if rejected else 0)


if __name__ == "__main__":
    main()

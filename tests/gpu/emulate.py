#!/usr/bin/env python3
"""Compiles a kernel in CUDA C++, as CubeCL writes it, for the processor: `emulate.py FILE` prints `EMULATED` and the library.

Libraries are kept by the digest of what they are made from: in $CWM_GPU_CACHE.
"""

import hashlib
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
# As on a GPU, a product and a sum are rounded once where the compiler joins them. A barrier stays in one place.
FLAGS = "-std=c++17 -O1 -march=native -ffp-contract=fast -fno-strict-aliasing -fno-thread-jumps -w -shared -fPIC".split()
WAITS = r"__sync(threads|warp)|__shfl|__ballot|__all_sync|__any_sync|__activemask"


def translated(source):
    """The same kernel as C++: what only CUDA has is in emulate.h, or replaced here."""
    source = re.sub(r"^\s*#include\s*<.*?>", "", source, flags=re.M)
    source = re.sub(r"^\s*typedef [\w\s]+ u?int(8|16|32|64)(_t)?;", "", source, flags=re.M)
    source = re.sub(r"extern __shared__ [^;]*?(\w+)\[\];", r"char *const \1 = emulated_shared;", source)
    # An atomic sum: blocks and threads take turns.
    source = re.sub(
        r'asm volatile\("atom\.[\w.]*add\.f32 [^"]*"\s*:\s*"=f"\((\w+)\)\s*:\s*"l"\(([^)]*)\),\s*"f"\(([^)]*)\)\s*\);',
        r"{ float *place = (float *)(\2); \1 = *place; *place = \1 + (\3); }",
        source,
    )
    if "__shared__" in source or "asm volatile" in source:
        raise SystemExit("error: the kernel has what emulate.py does not know:\n" + source)
    kernel = source[source.index("__global__") :]
    name = re.search(r"(\w+)\s*\(", re.sub(r"__\w+__\s*\([^)]*\)", "", kernel)).group(1)
    is_plain = int(not re.search(WAITS, kernel))
    return f"""#include "emulate.h"
{source}
extern "C" const char emulated_name[] = "{name}";
extern "C" const int emulated_is_plain = {is_plain};
extern "C" void emulated_run(void **parameters) {{ emulated_call({name}, parameters); }}
"""


def main():
    source = translated(pathlib.Path(sys.argv[1]).read_text())
    made_from = [source, (HERE / "emulate.h").read_text(), *FLAGS]
    digest = hashlib.sha256("\0".join(made_from).encode()).hexdigest()[:32]
    cache = pathlib.Path(os.environ["CWM_GPU_CACHE"])
    library = cache / f"{digest}.so"
    if not library.exists():
        code, part = cache / f"{digest}.{os.getpid()}.cpp", cache / f"{digest}.{os.getpid()}.part"
        code.write_text(source)
        subprocess.run(["g++", *FLAGS, "-I", HERE, "-o", part, code], check=True)
        code.rename(cache / f"{digest}.cpp")
        part.rename(library)
    print(f"EMULATED {library}")


if __name__ == "__main__":
    main()

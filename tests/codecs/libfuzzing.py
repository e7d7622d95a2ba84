"""libFuzzer on one codec, with AddressSanitizer and UndefinedBehaviorSanitizer; needs clang and its runtime.

python tests/codecs/libfuzzing.py NAME ... [--seconds 600]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parents[1] / "workflow")]

from codec_building import NAMES, ROOT, SOURCES, build  # noqa: E402  # a program of its own has to find them first

from collpress.codecs import Codec, codec_environment  # noqa: E402

SANITIZERS = "fuzzer,address,undefined"
DTYPES = {"float32": 0, "float64": 1}
BOUND = 2.0**-8
MENDED, ROUND_TRIP = 1, 3
"""What an input asks for, see libfuzzer.cpp."""


@cache
def lack() -> str | None:
    """What is missing for it here, and how to get it; None: nothing."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "empty.cpp"
        source.write_text('extern "C" int LLVMFuzzerTestOneInput(const unsigned char *, unsigned long) { return 0; }\n')
        command = ["clang++", f"-fsanitize={SANITIZERS}", str(source), "-o", str(source.with_suffix(""))]
        try:
            done = subprocess.run(command, capture_output=True, check=False)
        except FileNotFoundError:
            done = None
    if done is not None and done.returncode == 0:
        return None
    return "clang with libFuzzer is missing (Debian: apt install clang libclang-rt-dev)"


def fuzzer_of(name: str, folder: Path) -> Path:
    """The codec and its fuzzer as one program."""
    program = folder / f"fuzz-{name}"
    command = ["clang++", "-std=c++20", "-O1", "-g", f"-fsanitize={SANITIZERS}", "-fno-sanitize-recover=undefined"]
    command += [f"-I{ROOT / 'native' / 'include'}", str(HERE / "libfuzzer.cpp"), str(SOURCES / f"{name}.cpp")]
    done = subprocess.run([*command, "-o", str(program), "-ldl"], capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    return program


def write_seeds(name: str, folder: Path, plugins: Path) -> None:
    """Streams of the codec and values, as inputs of libfuzzer.cpp."""
    codec = Codec(build(name, plugins, []))
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(1)
    bound = BOUND if codec.takes_bound else None
    usual = bytes(len(codec.parameters)) + bytes([128 + int(np.log2(BOUND))])
    for dtype, place in DTYPES.items():
        for count in (1, 255, 256, 257, 3000):
            walk = np.cumsum(random.standard_normal(count)).astype(dtype)
            strange = walk.copy()
            strange[::37] = np.nan
            for kind, values in (("walk", walk), ("strange", strange), ("zeros", np.zeros_like(walk))):
                head = count.to_bytes(2, "little") + usual
                stream = codec.compress(values, bound).tobytes()
                seeds = {MENDED: stream, ROUND_TRIP: values.tobytes()}
                for task, rest in seeds.items():
                    path = folder / f"{dtype}-{count}-{kind}-{task}"
                    path.write_bytes(bytes([task | place << 2]) + head + rest)


def fuzz(name: str, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Build, write seeds and run; what libFuzzer finds lies in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    program = fuzzer_of(name, folder)
    write_seeds(name, folder / "corpus", folder / "plain")
    command = [
        str(program),
        "corpus",
        "-max_len=40000",
        "-timeout=10",
        "-rss_limit_mb=3000",
        "-malloc_limit_mb=1000",
        *options,
    ]
    return subprocess.run(
        command,
        cwd=folder,
        env=os.environ | codec_environment() | {"ASAN_OPTIONS": "detect_leaks=1"},
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", choices=NAMES, metavar="NAME", help="codecs")
    parser.add_argument("--seconds", type=int, default=600, help="of each (default: 600)")
    args = parser.parse_args()
    if (why := lack()) is not None:
        print(why, file=sys.stderr)
        return 2
    worst = 0
    for name in args.names:
        folder = Path(tempfile.mkdtemp(prefix=f"collpress-fuzz-{name}-"))
        done = fuzz(name, folder, f"-max_total_time={args.seconds}", "-print_final_stats=1")
        told = [line for line in done.stderr.splitlines() if "stat::number_of_executed" in line or "ERROR" in line]
        print(f"{name}: {'clean' if done.returncode == 0 else f'found something, see {folder}'}; {'; '.join(told)}")
        worst = max(worst, done.returncode)
    return worst


if __name__ == "__main__":
    raise SystemExit(main())

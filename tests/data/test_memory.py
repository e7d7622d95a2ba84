"""A series of many files is prepared with no more of it in the memory than one file."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

from collpress.layout import ROOT

PARTS, VALUES = 14, 2_500_000  # more in a file than is worked on at a time
PROGRAM = """
import json
from pathlib import Path
from collpress.data.prepare import prepare
from collpress.data.registry import load_registry
from collpress.data.access import Access
def peak():  # of this program alone, in KiB; what getrusage tells begins with that of the process it was started by
    return int(next(x for x in open("/proc/self/status") if x.startswith("VmHWM")).split()[1])
entry = load_registry(Path("datasets.yaml"))["made/series"]
before = peak()
made = prepare(entry, Path("results"), Access(offline=True))
after = peak()
print(json.dumps({"grown": 1024 * (after - before), "sha256": made.sha256, "missing": made.missing.count}))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells the peak of the memory")
def test_a_series_of_many_files_is_prepared_file_by_file(tmp_path: Path) -> None:
    random, digest, lines = np.random.Generator(np.random.Philox(4)), hashlib.sha256(), []
    cache = tmp_path / "results/cache"
    cache.mkdir(parents=True)
    for part in range(PARTS):
        values = random.standard_normal(VALUES, dtype=np.float32)
        values[7] = -999
        file = cache / f"hour-{part:02d}.f32"
        file.write_bytes(values.astype(">f4").tobytes())
        lines.append(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n")
        values[7] = 0
        digest.update(values.astype("<f4").tobytes())
    (tmp_path / "sums").write_text("".join(lines), encoding="utf-8")
    raw = {"byte_order": "big", "missing": -999.0}
    url = {"file": "hour-{part}.f32", "addresses": ["https://example.org/{file}"], "bytes": 4 * VALUES, "raw": raw}
    url |= {"parts": {"first": 0, "last": PARTS - 1, "checksums": str(tmp_path / "sums")}}
    words = dict.fromkeys(("title", "licence", "citation", "units"), "made for a test")
    entry = {**words, "url": url, "dtype": "float32", "shape": [PARTS, VALUES], "ranks": "parts", "missing": "zero"}
    entry["range"] = [-999.0, 10.0]
    (tmp_path / "datasets.yaml").write_text(yaml.safe_dump({"schema": 1, "datasets": {"made/series": entry}}))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "workflow")},
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["sha256"], told["missing"]) == (digest.hexdigest(), PARTS)
    assert told["grown"] < PARTS * VALUES * 4 / 2, "half of the series, which alone would be twice in the memory"

"""A metric that is a Python function: its values, and a reason in words whatever becomes of it."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from metric_building import build

from collpress.errors import CollpressError
from collpress.metrics import Metric
from collpress.metrics.python import PYTHON, plugin_source

Make = Callable[..., Metric]
X = np.linspace(-1, 2, 10_001)
ONE = 'values = {"one": "1"}\n\ndef measure(expected, got):\n'


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """A metric made of a file's text; it waits one second for its process."""
    monkeypatch.setenv(PYTHON, sys.executable)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2] / "workflow"))

    def made(text: str, patience_s: int = 12) -> Metric:
        (tmp_path / "own.py").write_text(text, encoding="utf-8")
        source = plugin_source(tmp_path / "own.py", tmp_path / "made")
        source.write_text(
            f"#define COLLPRESS_PYTHON_PATIENCE_S {patience_s}\n{source.read_text(encoding='utf-8')}", encoding="utf-8"
        )
        return Metric(build(source, tmp_path))

    return made


def test_a_function_gets_all_pairs_in_order_and_what_is_known_of_them(make: Make) -> None:
    metric = make(
        '"""What it saw – \\"quoted\\", a backslash \\\\ and letters é.\n\nMore."""\n'
        'values = {"sum": "data", "order": "1", "low": "data", "high": "data", "bound": "data",\n'
        '          "row": "1", "plane": "1"}\n'
        "def measure(expected, got, about):\n"
        '    """No summary."""\n'
        "    print('this is no answer')\n"
        "    order = int((expected[1:] > expected[:-1]).all())\n"
        "    return dict(sum=(got - expected).sum(), order=order, low=about.minimum, high=about.maximum,\n"
        "                bound=about.abs_bound, row=about.row, plane=about.plane)\n"
    )
    assert metric.summary == 'What it saw – "quoted", a backslash \\ and letters é.'
    assert metric.units == ("data", "1", "data", "data", "data", "1", "1")
    x = X[1:].reshape(4, 25, 100)
    told = metric.measure(x, x + 0.5, 0.75)
    assert told.problem is None
    assert told.values == {
        "sum": pytest.approx(0.5 * x.size), "order": 1, "low": x.min(), "high": 2, "bound": 0.75, "row": 100,
        "plane": 2500,
    }  # fmt: skip


def test_one_value_needs_no_dict_and_a_function_may_take_the_pairs_alone(make: Make) -> None:
    told = make(ONE + "    return abs(got - expected).max()\n").measure(X, X + 0.25)
    assert (told.values, told.problem) == ({"one": 0.25}, None)


FATES = {
    "return float('nan')": None,
    "return 1 / 0": "own.py, line 6: ZeroDivisionError: division by zero",
    "import absent_module": "own.py, line 7: ModuleNotFoundError: No module named 'absent_module'",
    "raise SystemExit(3)": "own.py, line 8: SystemExit: 3",
    "return {'two': 2}": "it returned two; its values are one",
    "return 'many'": "own.py: ValueError: could not convert string to float: 'many'",
    "return expected[9]": "own.py, line 11: IndexError: index 9 is out of bounds for axis 0 with size 2",
    "import os; os.abort()": "its process was ended by signal 6",
    "import os; os._exit(3)": "its process ended with exit code 3",
    "while True: pass": "no answer within 6 s",
}


def test_whatever_becomes_of_a_function_is_a_reason(make: Make) -> None:
    """The first value says which fate it is."""
    cases = "".join(f"    if expected[0] == {n}: {body}\n" for n, body in enumerate(FATES))
    metric = make(f"{ONE}    import math\n{cases}".replace(": while True: pass", ": math.factorial(10**8)"), 6)
    for number, problem in enumerate(FATES.values()):
        began = time.monotonic()
        told = metric.measure(np.array([number, 1.0]), np.zeros(2))
        assert math.isnan(told.values["one"])
        assert told.problem == problem
        assert time.monotonic() - began < 15


def test_without_an_interpreter_or_with_another_one_nothing_is_measured(
    make: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    metric = make(f"{ONE}    return 1\n")
    monkeypatch.setenv(PYTHON, "/nowhere/python")
    assert metric.measure(X, X).problem == "/nowhere/python cannot be started: No such file or directory"
    monkeypatch.setenv(PYTHON, sys.executable)
    source = tmp_path / "made/own.cpp"
    text = source.read_text(encoding="utf-8")
    assert f"Python {sys.version_info.major}." in text
    source.write_text(text.replace('"Python ', '"Python 1.'), encoding="utf-8")
    (tmp_path / "other").mkdir()
    told = Metric(build(source, tmp_path / "other")).measure(X, X).problem
    assert str(told).startswith("the plugin was built for Python 1.3.")
    assert str(told).endswith("build it again")


def test_the_same_file_makes_the_same_source_and_another_another(tmp_path: Path) -> None:
    texts = []
    for body in ("return 1", "return 1", "return 2"):
        (tmp_path / "own.py").write_text(f"{ONE}    {body}\n", encoding="utf-8")
        texts.append(plugin_source(tmp_path / "own.py", tmp_path / "made").read_bytes())
    assert texts[0] == texts[1] != texts[2]
    assert str(tmp_path).encode() not in texts[0]


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("def measure(:", ":1", "no Python: "),
        ("values = {'a': '1'}", "", "a metric in Python needs a function measure"),
        ("def measure(a, b): pass", "", "a metric in Python says its values"),
        ("def measure(a, b): pass\nvalues = {}", ":2", "values is not written out"),
        ("def measure(a, b): pass\nvalues = dict(a='1')", ":2", "values is not written out"),
        ("def measure(a, b): pass\nvalues = {'Largest': '1'}", ":2", '"Largest" cannot name a value'),
        ("def measure(a, b): pass\nvalues = {'a': 'per cent'}", ":2", '"per cent" is no unit'),
    ],
)
def test_a_file_that_is_no_metric_is_told_with_its_line(tmp_path: Path, text: str, line: str, problem: str) -> None:
    (tmp_path / "own.py").write_text(text, encoding="utf-8")
    with pytest.raises(CollpressError) as caught:
        plugin_source(tmp_path / "own.py", tmp_path / "made")
    assert caught.value.what.startswith(problem)
    assert caught.value.where == f"{tmp_path / 'own.py'}{line}"

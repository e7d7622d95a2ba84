"""JUnit's XML: what CI systems read, by the letter of both schemas that they use."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest
from made_up_comparison import BASE, LATER, SLOW, told

from collpress.comparison.junit import junit
from collpress.comparison.told import Told

CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"properties", "testcase", "system-out", "system-err"},
    "properties": {"property"},
    "testcase": {"skipped", "error", "failure"},
}
NEEDED = {
    "testsuite": {"name", "package", "id", "timestamp", "hostname", "tests", "failures", "errors", "time"},
    "testcase": {"name", "classname", "time"},
    "property": {"name", "value"},
    "failure": {"type"},
    "error": {"type"},
}
ALLOWED = {
    **NEEDED,
    "testsuite": NEEDED["testsuite"] | {"skipped"},
    "failure": {"type", "message"},
    "error": {"type", "message"},
    "skipped": {"message"},
}
"""Of windyroad's JUnit.xsd, which is the narrower one; all of it is in the xUnit plugin's junit-10.xsd too."""


def suite(of: Told) -> ET.Element:
    """The one test suite of a comparison, after a look at everything in it."""
    root = ET.fromstring(junit(of))
    assert root.tag == "testsuites"
    for element in root.iter():
        assert {child.tag for child in element} <= CHILDREN.get(element.tag, set()), element.tag
        assert NEEDED.get(element.tag, set()) <= set(element.attrib) <= ALLOWED.get(element.tag, set()), element.tag
    (found,) = root
    assert [child.tag for child in found if child.tag != "testcase"] == ["properties", "system-out", "system-err"]
    assert found[0].tag == "properties"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", found.attrib["timestamp"])
    for kind, name in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        assert int(found.attrib[name]) == len(found.findall(f"testcase/{kind}"))
    assert int(found.attrib["tests"]) == len(found.findall("testcase"))
    return found


def outcomes(of: Told) -> dict[str, str]:
    """By message size, what became of the test case."""
    cases = suite(of).findall("testcase")
    sizes = [re.search(r"message_bytes (\d+)", case.attrib["name"]) for case in cases]
    return {size[1] if size else "": case[0].tag if len(case) else "" for size, case in zip(sizes, cases, strict=True)}


A = {8: BASE, 64: BASE, 512: BASE, 4096: BASE, 32768: BASE}
B = {8: LATER, 64: SLOW, 512: "crashed", 4096: SLOW[:3], 32768: BASE}


def test_a_regression_is_a_failure_and_what_is_not_compared_is_skipped() -> None:
    expected = {"8": "", "64": "failure", "512": "skipped", "4096": "skipped", "32768": "skipped"}
    assert outcomes(told(A, B, 0.05)) == expected


def test_without_a_rule_nothing_fails() -> None:
    assert outcomes(told(A, B))["64"] == ""


def test_where_all_points_are_required_what_is_missing_is_an_error() -> None:
    assert outcomes(told(A, B, require_all=True)) == {
        "8": "",
        "64": "",
        "512": "error",
        "4096": "error",
        "32768": "skipped",
    }


@pytest.mark.parametrize(
    ("b", "rule"), [({8: "crashed"}, None), ({64: BASE}, None), ({8: BASE}, 0.05), ({8: SLOW[:3]}, 0.05)]
)
def test_what_could_not_have_failed_looks_like_no_success(
    b: dict[int, tuple[float, ...] | str], rule: float | None
) -> None:
    assert set(outcomes(told({8: BASE}, b, rule)).values()) == {"error"}


def test_a_failure_says_what_a_person_needs_and_holds_the_launches() -> None:
    failure = suite(told(A, B, 0.05)).find("testcase/failure")
    assert failure is not None
    assert failure.attrib["type"] == "regression"
    assert failure.attrib["message"].startswith("slower > 5 %: 1.3 times as long as A (")
    assert failure.text is not None
    for time in (*BASE, *SLOW):
        assert repr(time) in failure.text


def test_a_points_name_holds_all_its_factors_and_does_not_depend_on_the_others() -> None:
    alone, among = (suite(told(a, a)).findall("testcase") for a in ({8: BASE}, A))
    assert alone[0].attrib == among[0].attrib
    assert alone[0].attrib["name"] == (
        "collective allreduce, algorithm library:ring, codec none, error_bound none, message_bytes 8, ranks 2"
    )
    assert len({case.attrib["name"] for case in among}) == len(A)


def test_the_suite_says_who_was_compared_where_and_when_it_was_measured() -> None:
    found = suite(told(A, B, 0.05))
    assert found.attrib["timestamp"] == "2026-01-31T12:07:30"
    assert found.attrib["hostname"] == "node-a"
    said = {p.attrib["name"]: p.attrib["value"] for p in found.findall("properties/property")}
    assert (said["a.cube_sha256"], said["b.cube_sha256"]) == ("a" * 64, "b" * 64)
    assert said["fail_if"] == "slower > 5 %"
    assert "slower > 5 % in 1 of 2 points" in said["verdict"]


def test_equal_comparisons_give_equal_bytes_and_signs_of_xml_do_no_harm() -> None:
    strange = {"hosts": ["<a&b>\"\x1b'\ufffe"], "mpi_libraries": ["]]>\x00"]}
    assert junit(told(A, B, 0.05, world=strange)) == junit(told(A, B, 0.05, world=strange))
    assert suite(told(A, B, 0.05, world=strange)).attrib["hostname"] == "<a&b>\" '"


def test_a_cube_that_does_not_tell_when_and_where_it_was_measured_is_no_trouble() -> None:
    found = suite(told(A, B, last_record_utc=None, world={}))
    assert (found.attrib["timestamp"], found.attrib["hostname"]) == ("1970-01-01T00:00:00", "localhost")

"""The list of planted faults fits the product, so that it can be run at any time (`uv run python -m tests.faults`)."""

from collections import Counter
from pathlib import Path

from tests.faults import read_faults

PROJECT = Path(__file__).parents[3]


def test_every_fault_can_be_planted_once() -> None:
    found = {(fault.file, fault.old): (PROJECT / fault.file).read_text().count(fault.old) for fault in read_faults()}
    assert {place: count for place, count in found.items() if count != 1} == {}


def test_every_fault_changes_something() -> None:
    assert [fault.file for fault in read_faults() if fault.old == fault.new] == []


def test_tests_of_faults_exist() -> None:
    named = {path for fault in read_faults() for path in fault.tests}
    assert sorted(path for path in named if not (PROJECT / path).exists()) == []


def test_faults_are_of_each_kind() -> None:
    counts = Counter(fault.kind for fault in read_faults())
    assert counts == {"pure": 20, "services": 20, "pages": 10, "processes": 10}

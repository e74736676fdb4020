"""That no scenario of the four requirements about conflicts in spec 000 is without a test named after it."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[2]
SCENARIOS = {
    "Memory Conflict Detection": [
        "Semantic similarity signal",
        "Keyword overlap signal",
        "Time window signal",
        "Importance difference signal",
    ],
    "Memory Conflict Arbitration": [
        "Importance-based arbitration",
        "Recency-based arbitration",
        "Source-based arbitration",
        "Multi-factor scoring",
        "Default strategy fallback",
        "Multiple conflict resolution",
    ],
    "Memory Merging": [
        "Content merging strategies",
        "Metadata merging",
        "Importance boost",
        "Content deduplication",
        "Merge result statistics",
    ],
    "Configurable Merge Rules": [
        "Rule registration and lookup",
        "Rule inheritance",
        "Runtime rule updates",
        "Conditional rule matching",
        "Rule events",
        "Rule persistence",
    ],
}


def named_tests() -> set[str]:
    """Return the names of all tests of rules and of semantic memory that name a scenario."""
    files = [path for place in ("rules", "semantic") for path in TESTS.glob(f"*/{place}/**/test_*.py")]
    return {name for path in files for name in re.findall(r"^def (test_scenario_\w+)", path.read_text(), re.MULTILINE)}


@pytest.mark.parametrize("scenario", [one for scenarios in SCENARIOS.values() for one in scenarios])
def test_every_scenario_has_a_test_named_after_it(scenario: str) -> None:
    name = "test_scenario_" + re.sub(r"\W", "_", scenario.lower())
    assert any(test.startswith(name) for test in named_tests())


def test_every_test_of_scenario_is_named_after_one_that_there_is() -> None:
    known = tuple(re.sub(r"\W", "_", one.lower()) for scenarios in SCENARIOS.values() for one in scenarios)
    assert [test for test in named_tests() if not test.removeprefix("test_scenario_").startswith(known)] == []

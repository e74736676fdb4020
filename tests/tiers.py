"""Tiers of tests: what `uv run pytest` runs, and what the gate runs besides (docs/contribute/testing.md).

A test is in the tier of its mark (`@pytest.mark.deep`), else in that of its path in PATHS, else it is quick. Of the
quick ones, those that `deep.txt` lists are deep, and of a long matrix all but a few cases. Without `-m` the quick ones
are run, and whatever the command line names by its file, or by a folder of its tier. A file that has no test of the
tiers that are run is not imported.
"""

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

from tests.browser import BROWSER, NO_BROWSER

TESTS = Path(__file__).parent
QUICK = "quick"
PROPERTY = "tier"
# In the order in which they run: what says most in the shortest time first, since the time may end (time_limit.py).
TIERS = {
    QUICK: "are quick and deterministic",
    "kill": "start, stop or kill processes of a hub",
    "browser": "look at pages in Chromium",
    "deep": "try every case of a large matrix, what hostile clients do, and pages",
}
# The first that matches counts. Paths are those below `tests`, or end with `/`.
PATHS = {
    QUICK: (
        "hostile/test_csrf.py",
        "hostile/test_doors.py",
        "hostile/test_foreign_writes.py",
        "hostile/test_isolation.py",
        "hostile/test_unseen_changes.py",
        "integration/admin/test_admin_pages.py",
        "integration/admin/test_navigation.py",
        "integration/cockpit/test_now.py",
        "integration/webui/test_pages.py",
    ),
    "browser": (
        "system/browser/",
        "system/test_now_says.py",
        "system/test_live_processes.py",
    ),
    "kill": ("system/",),
    "deep": (
        "hostile/",
        "integration/accounts/test_bound_attacks.py",
        "integration/core/test_object_storage.py",
        "integration/episodic/test_bucket.py",
        "integration/admin/",
        "integration/cockpit/",
        "integration/webui/",
        "integration/clients/test_adapters.py",
        "integration/words/test_untranslated.py",
    ),
}
# A quick test of more cases than LONG has FEW of them, evenly spaced, in the quick tier. Pure functions have all.
LONG, FEW = 3, 2
WHOLE = "unit"
# Of a run with an end (time_limit.py), which begins the last tier with another file every hour, a third further on.
ENDS_AT, TURN_SECONDS, STRIDE = "TESTS_END_AT", 3_600, 31
_MARK = re.compile(rf"\bmark\.({'|'.join(TIERS)})\b")
_WORDS = re.compile(r"[\w\s()]+")
_GROUP = re.compile(r'\bmark\.xdist_group\("([\w ]+)"\)')


def tier_of_path(path: Path) -> str:
    """Return the tier of the tests of a file, or of a folder, that have no mark."""
    below = f"{path.relative_to(TESTS)}{'/' if path.is_dir() else ''}"
    for tier, places in PATHS.items():
        if any(below == place or (place.endswith("/") and below.startswith(place)) for place in places):
            return tier
    return QUICK


def listed(lines: str) -> dict[str, int]:
    """Return how many cases of each test in the lines of `deep.txt` stay quick, by `file::test`."""
    named = (line.split() for line in lines.splitlines() if not line.startswith("#"))
    return {name: int("".join(kept) or 0) for name, *kept in named}


DEEP = listed((TESTS / "deep.txt").read_text())
_DEEP_FILES = {name.partition("::")[0] for name in DEEP}


def tiers_of_file(path: Path) -> set[str]:
    """Return the tiers that tests of a file may be in."""
    text = path.read_text()
    tiers = {tier_of_path(path), *_MARK.findall(text)}
    below = path.relative_to(TESTS)
    may_be_long = below.parts[0] != WHOLE and "parametrize" in text
    return tiers | {"deep"} if QUICK in tiers and (may_be_long or str(below) in _DEEP_FILES) else tiers


def spaced(count: int, wanted: int) -> set[int]:
    """Return `wanted` of the numbers below `count`, evenly spaced, the first and the last among them."""
    return {round(one * (count - 1) / max(1, wanted - 1)) for one in range(wanted)}


def quick_cases(name: str, count: int) -> set[int]:
    """Return which of the cases of a test, named `file::test`, are in the quick tier."""
    if name in DEEP:
        return spaced(count, min(count, DEEP[name]))
    is_long = count > LONG and not name.startswith(f"{WHOLE}/")
    return spaced(count, FEW if is_long else count)


def chosen(tier: str, expression: str) -> bool:
    """Return whether `pytest -m expression` may run tests of a tier. One that names other marks may run any."""
    names = set(re.findall(r"\w+", expression)) - {"and", "or", "not"}
    if not expression:
        return tier == QUICK
    if not names <= set(TIERS) or not _WORDS.fullmatch(expression):
        return True
    return bool(eval(expression, {"__builtins__": {}}, {name: name == tier for name in names}))


def is_named(path: Path, config: pytest.Config) -> bool:
    """Return whether the command line names a file, or a folder of its tier that it is in."""
    for argument in config.args:
        place = (config.invocation_params.dir / argument.partition("::")[0]).resolve()
        is_inside = place in path.parents and TESTS in place.parents
        if place == path or (is_inside and tier_of_path(place) == tier_of_path(path) != QUICK):
            return True
    return False


def pytest_configure(config: pytest.Config) -> None:
    """Make the tiers known as marks."""
    for tier, what in TIERS.items():
        config.addinivalue_line("markers", f"{tier}: tests that {what}.")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave a file alone that has no test of the tiers that are run."""
    if collection_path.is_dir() or not collection_path.name.startswith("test_") or TESTS not in collection_path.parents:
        return None
    expression = config.option.markexpr
    if any(chosen(tier, expression) for tier in tiers_of_file(collection_path)):
        return None
    return None if not expression and is_named(collection_path, config) else True


def tier_of_test(item: pytest.Item) -> str:
    """Return the tier of the mark or the path of a test. Raises UsageError for one with marks of several."""
    marked = {mark.name for mark in item.iter_markers()} & set(TIERS)
    if len(marked) > 1:
        raise pytest.UsageError(f"{item.nodeid} is marked as {' and '.join(sorted(marked))}: a test is in one tier.")
    (tier,) = marked or {tier_of_path(item.path)}
    return tier


def slow_cases(tiers: dict[pytest.Item, str]) -> set[pytest.Item]:
    """Return those of the quick tests that are deep: what `deep.txt` lists, and most of a long matrix."""
    cases = defaultdict(list)
    for item, tier in tiers.items():
        if tier == QUICK:
            cases[f"{item.path.relative_to(TESTS)}::{getattr(item, 'originalname', item.name)}"].append(item)
    kept = {name: quick_cases(name, len(same)) for name, same in cases.items()}
    return {item for name, same in cases.items() for number, item in enumerate(same) if number not in kept[name]}


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    """Mark each test with its tier, leave out tests of tiers that are not run, and put them in the order of tiers."""
    own = {item: tier_of_test(item) for item in items}
    tiers = own | dict.fromkeys(slow_cases(own), "deep")
    for item, tier in tiers.items():
        item.add_marker(tier)
        item.user_properties.append((PROPERTY, tier))
        if tier == "browser" and BROWSER is None:
            item.add_marker(pytest.mark.skip(reason=NO_BROWSER))
    yield
    if not config.option.markexpr:
        left_out = {item for item in items if tiers[item] != QUICK and not is_named(item.path, config)}
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [item for item in items if item not in left_out]
    # By the tier of the whole test, so that its cases, and the tests of a file, stay in their order.
    items.sort(key=lambda item: list(TIERS).index(own[item]))
    if ends := os.environ.get(ENDS_AT):
        last = [item for item in items if own[item] == list(TIERS)[-1]]
        items[len(items) - len(last) :] = turned(last, int(float(ends)) // TURN_SECONDS)


def turned(items: list[pytest.Item], turn: int) -> list[pytest.Item]:
    """Return tests in the order of their files, beginning with another file at each turn.

    Where a run ends before all of them, it is not always the same ones that do not begin (docs/decisions/0096).
    """
    files = list(dict.fromkeys(item.path for item in items))
    first = turn * STRIDE % max(len(files), 1)
    place = {path: (number - first) % len(files) for number, path in enumerate(files)}
    return sorted(items, key=lambda item: place[item.path])


@cache
def group_of_file(name: str) -> str:
    """Return the `xdist_group` of the tests of a file, named by its path in the project; empty where it has none.

    The mark stands at the top of the file. It is read there, because xdist 3.8 writes it into a private field of tests
    that pytest 9.1 and later do not read: groups were silently torn apart.
    """
    found = _GROUP.search((TESTS.parent / name).read_text())
    return found[1] if found else ""


class Scheduling(LoadScopeScheduling):
    """Gives processes a file at a time, or the files of an `xdist_group` together, in the order of the tiers."""

    def _split_scope(self, nodeid: str) -> str:
        name = nodeid.partition("::")[0]
        return group_of_file(name) or name


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return how many processes run tests: one for each processor, and one more where tests wait for hubs.

    Each takes some 850 MB, and a database with its tables of its own: more than a handful gains little.
    """
    processors = min(max(os.cpu_count() or 2, 2), 4)
    return processors + chosen("kill", config.option.markexpr)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Scheduling:
    """Return how tests are given to processes."""
    return Scheduling(config, log)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say how many tests of each tier ran, and that none looked at a page where there is no browser."""
    ended = {outcome: terminalreporter.stats.get(outcome, []) for outcome in ("passed", "failed", "skipped")}
    ran = Counter(tier_of_report(one) for one in ended["passed"] + ended["failed"] if one.when == "call")
    terminalreporter.write_line("tests run: " + ", ".join(f"{tier} {ran[tier]:,}" for tier in TIERS))
    skipped = [one for one in ended["skipped"] if tier_of_report(one) == "browser"]
    if skipped and BROWSER is None:
        terminalreporter.write_line(f"{len(skipped)} tests of pages were skipped: {NO_BROWSER}.", red=True)


def tier_of_report(report: Any) -> str:
    """Return the tier of the test of a report."""
    return dict(getattr(report, "user_properties", ())).get(PROPERTY, QUICK)

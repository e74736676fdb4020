"""Plant each fault of the list in a copy of the repository, run tests there, and say which faults they killed.

    uv run python -m tests.faults                    # with the tests that each fault names: about an hour
    uv run python -m tests.faults --kind pure        # some of them
    uv run python -m tests.faults --at 936decf8      # in another commit, with the tests of that commit
    uv run python -m tests.faults --marked "not browser" tests/integration   # with these tests instead

The copy is a worktree of git of what is committed. Ends with 1 when a fault survived.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.faults import Fault, read_faults

REPOSITORY = Path(__file__).parents[2]
PATIENCE_SECONDS = 600
# Of pytest: tests failed, or could not even be collected.
KILLED = {1: "killed", 2: "killed"}


@contextmanager
def copy(commit: str) -> Iterator[Path]:
    """Yield a worktree of a commit, which is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="memoryhub-faults-") as place:
        path = Path(place) / "tree"
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", path, commit], cwd=REPOSITORY, check=True)
        try:
            yield path
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", path], cwd=REPOSITORY, check=True)


def run(fault: Fault, tree: Path, tests: list[str], marked: str) -> tuple[str, str]:
    """Plant a fault, run tests, and take it back. Return `killed` or `survived`, and the first test that failed."""
    path = tree / fault.file
    whole = path.read_text()
    if whole.count(fault.old) != 1:
        return "does not fit", fault.old
    path.write_text(whole.replace(fault.old, fault.new))
    options = ["-n", "0", "-x", "-m", marked, "-p", "no:cacheprovider", "--no-header", "--tb=no"]
    command = [sys.executable, "-m", "pytest", *options, *(tests or fault.tests)]
    try:
        done = subprocess.run(command, cwd=tree, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
        if done.returncode not in {0, *KILLED}:
            raise SystemExit(f"pytest could not run for {fault.file}:\n{done.stdout}{done.stderr}")
        failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
        return KILLED.get(done.returncode, "survived"), failed[0] if failed else ""
    except subprocess.TimeoutExpired:
        return "killed", f"the tests hung for {PATIENCE_SECONDS} s"
    finally:
        path.write_text(whole)


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("tests", nargs="*", help="tests to run instead of those that the faults name")
    parser.add_argument("--kind", action="append", help="pure, services, pages or processes; several times for several")
    parser.add_argument(
        "--number", action="append", type=int, help="of one fault, counted from 1 in the order of the list"
    )
    parser.add_argument("--at", default="HEAD", help="the commit whose product and tests are taken")
    parser.add_argument("--marked", default="", help="which tests, as `pytest -m` has it; of all tiers by default")
    asked = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    outcomes: Counter[tuple[str, str]] = Counter()
    with copy(asked.at) as tree:
        for number, fault in enumerate(read_faults(), 1):
            if (asked.kind and fault.kind not in asked.kind) or (asked.number and number not in asked.number):
                continue
            began = time.monotonic()
            outcome, note = run(fault, tree, asked.tests, asked.marked)
            outcomes[fault.kind, outcome] += 1
            print(f"{number:2} {fault.kind} {outcome} {time.monotonic() - began:.0f} s {fault.file} {note}", flush=True)
    for (kind, outcome), count in outcomes.items():
        print(f"{kind}: {count} {outcome}")
    return int(any(outcome != "killed" for _, outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())

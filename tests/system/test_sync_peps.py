"""A real history of documents, synced commit by commit: the pointers are always those of the whole tree."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from apps.sync.models import SyncRun
from benchmarks.sync.walk import Walk, differences, fresh_pointers, pointers_of, sync_folders
from tests.effort import IS_THOROUGH

BUNDLES = [folder / "shared" / "data" / "peps-sample.bundle" for folder in Path(__file__).resolve().parents]
BUNDLE = next((path for path in BUNDLES if path.exists()), None)
# Every twentieth commit of the whole for the gate; all 401 by `manage.py bench_sync --walk`.
INCLUDE, EVERY, ITEMS = ((), 20, 750) if IS_THOROUGH else (("peps/pep-07*.rst",), 100, 40)

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(BUNDLE is None, reason="the bundle with a sample of the PEPs is not on this machine"),
]


@pytest.fixture
def walk(tmp_path: Path) -> Iterator[Walk]:
    assert BUNDLE
    with sync_folders(tmp_path):
        yield Walk.begin(BUNDLE, tmp_path, INCLUDE)


def test_incremental_syncs_of_a_real_history_equal_full_ones(walk: Walk) -> None:
    chosen = walk.commits[::EVERY]
    for number, commit in enumerate(chosen):
        run = walk.go(commit)
        assert run.kind == ("incremental" if number else "full")
        assert not walk.wrong(commit), commit
        if number in (0, len(chosen) // 2, len(chosen) - 1):
            assert not differences(pointers_of(walk.source), fresh_pointers(walk.source)), commit
    assert len(pointers_of(walk.source)) > ITEMS
    assert not SyncRun.objects.exclude(state__in=("complete", "partial")).exists()

"""Repositories that mean harm, synced as a whole: each bad file is refused by itself, in bounded time and memory."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from apps.sync.domain.errors import KnowledgeUnavailableError
from apps.sync.models import KnowledgeFile, SyncKind, SyncRun
from benchmarks.sync.walk import pointers_of
from tests.effort import IS_THOROUGH
from tests.integration.sync.conftest import hub as hub
from tests.integration.sync.conftest import sync_dir as sync_dir
from tests.integration.sync.repository.repositories import FILE
from tests.integration.sync.syncs import Hub, path_of, record
from tests.system.sync_process import PATIENCE, begin, sync_and_measure

LINK, FOLDER = 0o120000, 0o040000
LARGE = 100_000_000
MANY = 200_000 if IS_THOROUGH else 20_000
PROCESSOR_SECONDS, GROWN_MB = 20.0, 300


def bombs() -> dict[str, str]:
    """Return files whose front matter would take all memory, or all of the stack."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    laughs = "\n".join(lines)
    return {
        "bombs/laughs.md": f"---\nid: ADR-0090\n{laughs}\n---\n\n# Title\n",
        "bombs/deep.md": f"---\nid: ADR-0091\ntags: {'[' * 5_000}{']' * 5_000}\n---\n\n# Title\n",
        "bombs/long.md": f"---\nid: ADR-0092\ntitle: {'x' * 500_000}\n---\n\n# Title\n",
        "bombs/binary.md": "---\nid: ADR-0093\n---\n\x00\x01\x02",
    }


def commit_hostile(hub: Hub) -> None:
    """Commit bombs, a file of 100 MB, and a tree of names and links that lead out of the repository."""
    repository = hub.origin.repository
    large = repository.create_blob(b"x" * LARGE)
    hub.write({path_of(4): record(4), path_of(1): record(1, text="New."), **bombs()})
    good = repository.revparse_single("main^{tree}")
    passwd, text = repository.create_blob(b"/etc/passwd"), hub.origin.blob("# Out\n")
    climbing = hub.origin.tree([(FILE, b"out.md", text)])
    rows = [(int(entry.filemode), entry.name.encode(), entry.id) for entry in good]
    rows += [
        (FOLDER, b"..", climbing),
        (LINK, b"link.md", passwd),
        (FILE, b"large.md", large),
        (FILE, b"../out.md", text),
        (FILE, b"\x1b[2J.md", text),
    ]
    hub.origin.commit_tree(hub.origin.tree(rows))


@pytest.mark.django_db(transaction=True)
def test_a_hostile_repository_is_synced_in_part_in_bounded_time_and_memory(hub: Hub, tmp_path: Path) -> None:
    hub.sync()
    commit_hostile(hub)
    for kind in ("incremental", "full"):
        process = begin(sync_and_measure, str(hub.source.uuid), kind, str(tmp_path / "answer"))
        process.join(PATIENCE)
        state, seconds, grown = (tmp_path / "answer").read_text().split()
        assert (state, float(seconds) < PROCESSOR_SECONDS, int(grown) < GROWN_MB) == ("partial", True, True)
        run = SyncRun.objects.latest("pk")
        codes = {one["path"].partition("#")[0]: one["code"] for one in run.failed_items}
        assert codes.pop("large.md") == "too_large"
        assert KnowledgeFile.objects.get(source=hub.source, path="link.md").code == "symlink"
        assert codes.keys() & bombs().keys() == bombs().keys()
        assert {code for path, code in codes.items() if not path.startswith("bombs/")} == {"path_unsafe"}
        assert pointers_of(hub.source).keys() == {f"ADR-{number:04}" for number in (1, 2, 3, 4)}


@pytest.mark.django_db
def test_many_files_that_are_not_wanted_are_passed_over_and_too_many_that_are_refused(hub: Hub, settings: Any) -> None:
    hub.sync()
    before = hub.stored()
    repository, blob = hub.origin.repository, hub.origin.blob("# One\n")
    good = repository.revparse_single("main^{tree}")
    rows = [(int(entry.filemode), entry.name.encode(), entry.id) for entry in good]

    def commit(ending: str) -> None:
        many = hub.origin.tree([(FILE, f"{number:06}.{ending}".encode(), blob) for number in range(MANY)])
        hub.origin.commit_tree(hub.origin.tree([*rows, (FOLDER, b"many", many)]))

    began = os.times()
    commit("py")
    assert (hub.sync().state, hub.sync(SyncKind.FULL).unchanged) == ("complete", 3)
    sync = replace(settings.MEMORYHUB.sync, max_files=MANY // 2)
    settings.MEMORYHUB = replace(settings.MEMORYHUB, sync=sync)
    commit("md")
    with pytest.raises(KnowledgeUnavailableError, match="MEMORYHUB_SYNC_MAX_FILES"):
        hub.sync()
    assert hub.stored()["memories"] == before["memories"]
    assert os.times().user - began.user < 3 * PROCESSOR_SECONDS

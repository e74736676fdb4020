"""Sources in which no file is found any more: nothing is deleted unless a person says so."""

from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from apps.core.domain.errors import InvalidInputError
from apps.sync import services
from apps.sync.domain.errors import KnowledgeUnavailableError
from apps.sync.models import SyncKind, SyncRun
from tests.integration.sync.syncs import OPERATOR, OWNER, SYSTEM, Hub, make_hub, record

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("values", [{"folder": "ard"}, {"include": ["adr/*.rst"]}, {"exclude": ["**"]}])
def test_a_mistyped_folder_or_pattern_deletes_nothing(hub: Hub, values: dict[str, Any]) -> None:
    hub.sync()
    before = hub.stored()
    hub.update(**values)
    for kind in (SyncKind.INCREMENTAL, SyncKind.FULL):
        with pytest.raises(KnowledgeUnavailableError):
            hub.sync(kind)
    assert hub.stored() == before
    run = hub.sync(allow_empty=True)
    assert (run.state, run.deleted, hub.memories) == ("complete", 3, {})


def test_a_folder_that_is_not_in_the_repository_is_reported_by_the_first_sync(hub: Hub) -> None:
    hub.update(folder="ard")
    with pytest.raises(KnowledgeUnavailableError):
        hub.sync()
    hub.update(folder="adr")
    assert hub.sync().added == 3


def test_an_unmounted_folder_deletes_nothing(hub: Hub, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    values = {"name": "mounted", "user_id": OWNER, "kind": "folder", "location": str(folder)}
    mounted = Hub(hub.origin, services.source_create(access=SYSTEM, values=values))
    assert mounted.sync().state == "complete"
    (folder / "1.md").write_text(record(1))
    mounted.sync()
    folder.rename(tmp_path / "away")
    folder.mkdir()
    with pytest.raises(KnowledgeUnavailableError):
        mounted.sync()
    assert mounted.memories.keys() == {"ADR-0001"}


def test_the_worker_empties_a_source_of_which_a_person_says_so(hub: Hub) -> None:
    hub.sync()
    hub.write({**dict.fromkeys(("adr/0001.md", "adr/0002.md", "adr/0003.md")), "LICENSE": "Free."})
    asked: dict[str, Any] = {
        "access": OPERATOR,
        "uuid": hub.source.uuid,
        "kind": SyncKind.INCREMENTAL,
        "clock": hub.clock,
    }
    plain = services.sync_request(**asked)
    allowed = services.sync_request(**asked, allow_empty=True)
    assert plain != allowed == services.sync_request(**asked, allow_empty=True)
    for run in (plain, allowed):
        services.run_waiting(run.uuid, clock=hub.clock)
    ended = [(run.state, run.code, run.deleted) for run in SyncRun.objects.order_by("pk")[1:]]
    assert ended == [("failed", "KNOWLEDGE_UNAVAILABLE", 0), ("complete", "", 3)]


@pytest.mark.parametrize("pattern", ["/", "//"])
def test_patterns_without_a_name_are_refused(hub: Hub, pattern: str) -> None:
    with pytest.raises(InvalidInputError):
        hub.update(include=[pattern])


def test_a_sync_that_found_files_and_no_items_says_why(tmp_path: Path) -> None:
    hub = make_hub(tmp_path, {"README.md": "# Hello\n", "docs/index.md": "# Pages\n", "adr/template.md": "# Title\n"})
    run = hub.sync(SyncKind.FULL)
    assert (run.state, run.code) == ("complete", "NO_ITEMS")
    assert run.detail.startswith(
        "Files were found, 3, and none became an item. Of 2 of them: The file describes its folder"
    )
    hub.write({"adr/0001.md": record(1)})
    assert hub.sync().code == ""


def test_the_command_exits_otherwise_where_no_file_is_an_item(tmp_path: Path) -> None:
    make_hub(tmp_path, {"README.md": "# Hello\n"})
    with pytest.raises(CommandError) as refused:
        call_command("sync", "full", "decisions")
    assert refused.value.returncode == 6
    assert str(refused.value).startswith("NO_ITEMS: Files were found")

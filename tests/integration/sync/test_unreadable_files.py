"""Files that cannot be read: their items stay, whatever else changes."""

from dataclasses import replace
from typing import Any

import pytest

from apps.core.domain.errors import NotFoundError
from apps.semantic.models import Memory
from apps.sync import services
from apps.sync.models import KnowledgeFile, KnowledgeItem, SyncCheckpoint, SyncKind, SyncRun, SyncState
from apps.sync.runs import sync
from apps.sync.sources.removal import copies_of
from tests.integration.sync.syncs import OPERATOR, Hub, path_of, record

pytestmark = pytest.mark.django_db
BAD = "---\nid: [\n---\n# Bad\n"
ALL = {"ADR-0001", "ADR-0002", "ADR-0003"}


def test_an_unreadable_file_keeps_its_item_when_settings_change(hub: Hub) -> None:
    hub.sync()
    hub.write({path_of(1): BAD})
    for layer in ("org", "company"):
        hub.update(layer=layer)
        run = hub.sync()
        assert (run.fallback, run.failed, run.deleted) == ("settings_changed", 1, 0)
    assert hub.memories.keys() == ALL


@pytest.mark.parametrize("damage", [{"blob": "x"}, {"parsed": {"title": "x"}}])
@pytest.mark.parametrize("number", [1, 2])
def test_an_unreadable_file_keeps_its_item_when_the_state_is_damaged(
    hub: Hub, damage: dict[str, Any], number: int
) -> None:
    """Also where what was read of it is lost: then its item is left as it is until the file is mended."""
    hub.sync()
    hub.write({path_of(1): BAD})
    hub.sync()
    KnowledgeFile.objects.filter(path=path_of(number)).update(**damage)
    for _ in range(2):
        run = hub.sync()
        assert (run.state, run.failed, run.deleted) == ("partial", 1, 0)
        assert (hub.memories.keys(), hub.items.keys()) == (ALL, ALL)
    hub.write({path_of(1): record(1, text="Mended.")})
    assert hub.sync().state == "complete"
    assert "Mended." in hub.memories["ADR-0001"].content


def test_a_file_that_can_be_read_comes_before_one_that_cannot(hub: Hub) -> None:
    hub.sync()
    hub.write({path_of(1): BAD, "adr/0001b.md": record(1, text="Moved.")})
    for kind in (SyncKind.INCREMENTAL, SyncKind.FULL):
        run = hub.sync(kind)
        assert [(one["path"], one["code"]) for one in run.failed_items] == [(path_of(1), "front_matter_invalid")]
        assert "Moved." in hub.memories["ADR-0001"].content


def test_a_higher_limit_of_a_file_is_applied(hub: Hub, settings: Any) -> None:
    def limit(size: int) -> None:
        settings.MEMORYHUB = replace(settings.MEMORYHUB, sync=replace(settings.MEMORYHUB.sync, max_file_kb=size))

    hub.write({path_of(4): record(4, text="word " * 1_000)})
    limit(1)
    assert [one["code"] for one in hub.sync().failed_items] == ["too_large"]
    limit(100)
    run = hub.sync()
    assert (run.state, run.added) == ("complete", 1)


def test_a_rollback_restores_pointers_whose_items_were_not_known(hub: Hub) -> None:
    """As after an import, which has memories and sources without their items."""
    hub.write({path_of(1): record(1, more="tags: [queues]\n")})
    hub.sync()

    def shown() -> list[Any]:
        fields = ("content", "importance", "keywords", "status")
        return sorted(Memory.objects.filter(status="active").values_list(*fields))

    before = shown()
    for model in (KnowledgeItem, KnowledgeFile, SyncRun, SyncState):
        model.objects.all().delete()
    SyncState.objects.create(source=hub.source)
    hub.write({path_of(1): record(1, title="Other", more="tags: [other]\n"), path_of(2): None})
    checkpoint = SyncCheckpoint.objects.get(run=hub.sync()).uuid
    assert shown() != before
    services.sync_rollback(access=OPERATOR, uuid=hub.source.uuid, checkpoint=checkpoint, clock=hub.clock)
    assert shown() == before


def test_a_preview_leaves_no_copy_of_a_source_that_is_deleted_meanwhile(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    load, uuid = sync.load_stored, hub.source.uuid

    def delete_after(source: Any) -> Any:
        stored = load(source)
        services.source_delete(access=OPERATOR, uuid=uuid)
        return stored

    monkeypatch.setattr(sync, "load_stored", delete_after)
    with pytest.raises(NotFoundError):
        services.sync_preview(access=OPERATOR, uuid=uuid)
    assert copies_of(uuid) == []

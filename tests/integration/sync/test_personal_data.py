"""Sources of an owner are exported, loaded and forgotten whole."""

from pathlib import Path

import pytest

from apps.core.domain.scope import Scope
from apps.core.personal.registry import store_of_kind
from apps.core.personal.store import ExportRequest, LineError
from apps.sync.models import KnowledgeSource, SyncChange, SyncRun, SyncState
from apps.sync.personal.stores import IMPORTED, KnowledgeStore
from tests.integration.sync.syncs import OWNER, Hub, make_hub, path_of, record

STORE = KnowledgeStore()


@pytest.mark.django_db
def test_a_source_is_exported_and_loaded_and_finds_its_pointers(hub: Hub) -> None:
    hub.sync()
    before = hub.memories
    assert store_of_kind("knowledge_source") is not None
    lines = list(STORE.export(ExportRequest(Scope(OWNER), is_operator=True)))
    assert [line["created_by"] for line in STORE.export(ExportRequest(Scope(OWNER)))] == [""]
    assert list(STORE.export(ExportRequest(Scope("ana")))) == []
    assert [(line["kind"], line["source_kind"]) for line in lines] == [("knowledge_source", "git")]
    assert STORE.load(lines) == 0
    KnowledgeSource.objects.all().delete()
    assert STORE.load(lines) == 1
    assert list(STORE.export(ExportRequest(is_operator=True))) == [{**lines[0], "paused": IMPORTED}]
    hub.source = KnowledgeSource.objects.get()
    run = hub.sync()
    assert (run.fallback, run.added, run.updated, hub.memories) == ("no_state", 0, 0, before)
    other = {**lines[0], "uuid": "7b1e4f0c-92a3-4d58-8f6b-3c0d5e9a1b74"}
    assert STORE.load([other]) == 1
    assert KnowledgeSource.objects.get(uuid=other["uuid"]).name == "decisions 7b1e4f0c"
    for line in ({**other, "user_id": ""}, {**other, "source_kind": "svn"}, {"kind": "knowledge_source"}):
        with pytest.raises(LineError):
            STORE.load([line])


@pytest.mark.django_db
def test_an_imported_source_is_checked_and_brings_no_secrets(hub: Hub) -> None:
    hub.update(credentials="forge", webhook_secret="hook")
    (line,) = STORE.export(ExportRequest(Scope(OWNER), is_operator=True))
    assert (line["credentials"], line["webhook_secret"]) == ("forge", "hook")
    (hidden,) = STORE.export(ExportRequest(Scope(OWNER)))
    assert (hidden["credentials"], hidden["webhook_secret"]) == ("", "")
    KnowledgeSource.objects.all().delete()
    for values in (
        {"name": "a/b"},
        {"folder": "../.."},
        {"location": "https://olga:hunter2@git.example.org/x.git"},
        {"location": "ftp://git.example.org/x.git"},
        {"credentials": "../x"},
        {"resolutions": [1]},
        {"include": ["a\n"]},
        {"include": ["a"] * 60},
    ):
        with pytest.raises(LineError):
            STORE.load([{**line, **values}])
    STORE.load([line])
    source = KnowledgeSource.objects.get()
    assert (source.credentials, source.webhook_secret, source.paused) == ("", "", IMPORTED)


@pytest.mark.django_db
def test_forgetting_removes_rows_and_copies(hub: Hub, sync_dir: Path, tmp_path: Path) -> None:
    hub.sync()
    other = make_hub(tmp_path / "other", {path_of(1): record(1)}, name="other", user_id=OWNER)
    KnowledgeSource.objects.filter(pk=other.source.pk).update(user_id="team:other")
    other.source.refresh_from_db()
    copies = len(list(sync_dir.glob(f"{hub.source.uuid}*")))
    assert (STORE.count(OWNER), list(STORE.find(OWNER))) == (1 + 3 + copies, ["sources of knowledge"])
    assert sum(STORE.forget(OWNER)) == 1 + 3 + copies
    assert (STORE.count(OWNER), list(STORE.find(OWNER))) == (0, [])
    assert not list(sync_dir.glob(f"{hub.source.uuid}*"))
    assert KnowledgeSource.objects.get() == other.source
    assert not SyncRun.objects.exists()
    assert not SyncChange.objects.exists()
    assert SyncState.objects.get().source == other.source

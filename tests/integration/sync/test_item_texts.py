"""The full text of an item: of any commit, compared, with its history."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import NotFoundError
from apps.core.domain.scope import Access, Permission, Scope
from apps.sync import selectors, services
from apps.sync.models import KnowledgeItem, KnowledgeSource
from apps.sync.repository.reader import open_reader
from apps.sync.repository.source import SourceSettings
from tests.integration.sync.repository.repositories import Origin

pytestmark = pytest.mark.django_db
OWNER = "team:platform"
OPERATOR = Access(Scope(), Permission.OPERATOR, "olga")
GRANTED = Access(Scope("ana"), Permission.READ, "ana", reads=(OWNER,))
NO_COMMIT = "0" * 40


@pytest.fixture
def origin(tmp_path: Path, settings: Any) -> Origin:
    """Return an empty repository below a folder of which the hub may read."""
    settings.SYNC_DIR = tmp_path / "data" / "sync"
    settings.MEMORYHUB = replace(settings.MEMORYHUB, sync=replace(settings.MEMORYHUB.sync, roots=(tmp_path,)))
    return Origin(tmp_path / "origin.git")


def item_of(location: Path, kind: str = "git") -> KnowledgeItem:
    """Return the item of a file of a source, as a sync of its present commit leaves it."""
    values = {"name": kind, "user_id": OWNER, "kind": kind, "location": str(location)}
    source: KnowledgeSource = services.source_create(access=OPERATOR, values=values)
    with open_reader(SourceSettings.of(source)) as reader:
        commit = reader.head()
    return KnowledgeItem.objects.create(
        uuid=source.uuid,
        source=source,
        item_id="ADR-1",
        path="adr/1.md",
        type="adr",
        title="Tea",
        status="accepted",
        layer="team",
        hash="x",
        commit=commit,
        synced_at=utcnow(SYSTEM_CLOCK),
    )


def test_the_text_of_an_item_is_read_at_any_commit_and_compared(origin: Origin) -> None:
    old = origin.commit({"adr/1.md": "# Tea\r\n\nGreen.\r\n", "other.md": "x"}, "drink tea")
    origin.commit({"other.md": "y"}, "something else")
    new = origin.commit({"adr/1.md": "# Tea\n\nBlack.\n"}, "drink black tea")
    item = item_of(origin.path)
    assert selectors.item_text(GRANTED, item.uuid).text == "# Tea\n\nBlack.\n"
    then = selectors.item_text(GRANTED, item.uuid, old)
    assert (then.text, then.commit, then.path) == ("# Tea\n\nGreen.\n", old, "adr/1.md")
    diff = selectors.item_diff(GRANTED, item.uuid, old, new).diff
    assert [line for line in diff.splitlines() if line[0] in "+-"] == ["-Green.", "+Black."]
    assert [each.subject for each in selectors.item_history(GRANTED, item.uuid)] == ["drink black tea", "drink tea"]
    for commit in (NO_COMMIT, "HEAD", "\0" * 40, "\ud800", "1" * 100_000):
        with pytest.raises(NotFoundError):
            selectors.item_text(GRANTED, item.uuid, commit)


def test_a_text_whose_commit_is_gone_is_that_of_the_last_sync(origin: Origin) -> None:
    head = origin.commit({"adr/1.md": "# Tea"})
    item = item_of(origin.path)
    KnowledgeItem.objects.update(commit=NO_COMMIT)
    item.source.state.last_commit = head
    item.source.state.save()
    assert selectors.item_text(GRANTED, item.uuid).commit == head


def test_a_folder_has_its_present_text_and_no_history(tmp_path: Path, origin: Origin) -> None:
    file = tmp_path / "notes" / "adr" / "1.md"
    file.parent.mkdir(parents=True)
    file.write_text("# Tea")
    item = item_of(tmp_path / "notes", "folder")
    assert selectors.item_text(GRANTED, item.uuid).text == "# Tea"
    assert selectors.item_text(GRANTED, item.uuid, item.commit).text == "# Tea"
    assert list(selectors.item_history(GRANTED, item.uuid)) == []
    file.write_text("# Coffee")
    assert selectors.item_text(GRANTED, item.uuid).text == "# Coffee"
    with pytest.raises(NotFoundError):
        selectors.item_text(GRANTED, item.uuid, item.commit)


def test_an_item_is_found_by_its_reference(origin: Origin) -> None:
    origin.commit({"adr/1.md": "# Tea"})
    item = item_of(origin.path)
    assert selectors.item_named(GRANTED, "git/ADR-1") == selectors.item_named(GRANTED, str(item.uuid)) == item
    for name in ("git/ADR-2", "other/ADR-1", "ADR-1", "", "git/ADR-1\0", "\0", "git/\ud800", f"git/{'x' * 100_000}"):
        with pytest.raises(NotFoundError):
            selectors.item_named(GRANTED, name)
    with pytest.raises(NotFoundError):
        selectors.item_named(Access(Scope("ana"), Permission.READ, "ana"), "git/ADR-1")

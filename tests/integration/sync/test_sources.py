"""Sources: who may create, change and read them, and which values they take."""

from datetime import time
from typing import Any

import pytest

from apps.core.domain.errors import ConflictError, ForbiddenError, InvalidInputError, NotFoundError
from apps.core.domain.scope import Access, Permission, Scope, system_access
from apps.sync import selectors, services
from apps.sync.models import KnowledgeSource, SyncKind, SyncRun

pytestmark = pytest.mark.django_db
OWNER = "team:platform"
OPERATOR = Access(Scope(OWNER), Permission.OPERATOR, "olga")


def create(access: Access = OPERATOR, **values: Any) -> KnowledgeSource:
    """Create a source with the values that it needs."""
    needed = {"name": "decisions", "user_id": OWNER, "kind": "git", "location": "https://git.example.org/decisions.git"}
    return services.source_create(access=access, values={**needed, **values})


def test_a_source_has_the_values_that_it_was_given() -> None:
    source = create(
        folder="/texts/adr/",
        include=["*.md", "*.md", "adr/**"],
        resolutions={"orphaned_pointer": "manual"},
        daily_at=time(3, 0),
        max_items=50,
    )
    source.refresh_from_db()
    assert (source.folder, source.include, source.layer) == ("texts/adr", ["*.md", "adr/**"], "team")
    assert (source.resolutions, source.max_items) == ({"orphaned_pointer": "manual"}, 50)
    assert selectors.state_of(OPERATOR, source.uuid).last_sync_at is None


@pytest.mark.parametrize(
    ("values", "attr"),
    [
        ({"name": "a/b"}, "name"),
        ({"name": " "}, "name"),
        ({"kind": "svn"}, "kind"),
        ({"folder": "docs/../.."}, "folder"),
        ({"include": ["*"] * 51}, "include"),
        ({"include": ["a\x00b"]}, "include"),
        ({"resolutions": {"mood": "manual"}}, "resolutions"),
        ({"resolutions": {"orphaned_pointer": "shrug"}}, "resolutions"),
        ({"credentials": "../passwd"}, "credentials"),
        ({"include": ["/"]}, "include"),
        ({"exclude": ["./drafts/*"]}, "exclude"),
        ({"staleness_seconds": 0}, "staleness_seconds"),
        ({"max_items": True}, "max_items"),
        ({"enabled": "yes"}, "enabled"),
        ({"uuid": "x"}, "uuid"),
    ],
)
def test_values_that_cannot_be_used_are_refused(values: dict[str, Any], attr: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        create(**values)
    assert caught.value.attr == attr


def test_a_name_is_taken_once() -> None:
    create()
    other = create(name="other")
    with pytest.raises(ConflictError, match="this name"):
        create()
    with pytest.raises(ConflictError, match="this name"):
        services.source_update(access=OPERATOR, uuid=other.uuid, values={"name": "decisions"})


def test_owner_and_kind_stay() -> None:
    source = create()
    changed = services.source_update(access=OPERATOR, uuid=source.uuid, values={"user_id": OWNER, "project": "hub"})
    assert changed.project == "hub"
    for values in ({"user_id": "team:other"}, {"kind": "folder"}):
        with pytest.raises(InvalidInputError):
            services.source_update(access=OPERATOR, uuid=source.uuid, values=values)


def test_only_operators_of_the_owner_change_a_source() -> None:
    source = create()
    for access in (
        Access(Scope(OWNER), Permission.WRITE, "wim"),
        Access(Scope("ana"), Permission.OPERATOR, "ana", reads=(OWNER,)),
    ):
        assert selectors.source_get(access, source.uuid) == source
        with pytest.raises(ForbiddenError):
            services.source_update(access=access, uuid=source.uuid, values={"project": "hub"})
    for access in (
        Access(Scope("ana"), Permission.OPERATOR, "ana"),
        Access(Scope(OWNER, "home"), Permission.OPERATOR, "part"),
    ):
        with pytest.raises(NotFoundError):
            services.source_pause(access=access, uuid=source.uuid)
        with pytest.raises(ForbiddenError):
            create(access, name="mine")


@pytest.mark.parametrize(
    ("values", "attr"),
    [
        ({"credentials": "forge"}, "credentials"),
        ({"webhook_secret": "hook"}, "webhook_secret"),
        ({"location": "/srv/decisions.git"}, "location"),
        ({"location": "file:///srv/decisions.git"}, "location"),
        ({"kind": "folder", "location": "/srv/decisions"}, "location"),
        ({"location": "git@git.example.org:decisions.git"}, "location"),
        ({"location": "http://127.0.0.1:3000/decisions.git"}, "location"),
        ({"location": "https://localhost/decisions.git"}, "location"),
        ({"location": "https://10.0.0.7/decisions.git"}, "location"),
        ({"location": "https://[::ffff:10.0.0.7]/decisions.git"}, "location"),
        ({"location": "https://2130706433/decisions.git"}, "location"),
        ({"location": "https://127.1/decisions.git"}, "location"),
        ({"location": "https://forge.internal/decisions.git"}, "location"),
    ],
)
def test_secrets_and_the_disk_are_for_operators_without_a_bound(values: dict[str, Any], attr: str) -> None:
    with pytest.raises(ForbiddenError) as caught:
        create(**values)
    assert caught.value.attr == attr
    changes = {name: value for name, value in values.items() if name != "kind"}
    if "kind" not in values:
        with pytest.raises(ForbiddenError) as caught:
            services.source_update(access=OPERATOR, uuid=create().uuid, values=changes)
        assert caught.value.attr == attr


def test_an_operator_of_an_owner_cannot_lead_a_secret_to_another_address() -> None:
    source = create(system_access(), credentials="forge", webhook_secret="hook")
    same = {"credentials": "forge", "webhook_secret": "hook", "location": source.location, "branch": "main"}
    assert services.source_update(access=OPERATOR, uuid=source.uuid, values=same).branch == "main"
    with pytest.raises(ForbiddenError, match="without a bound"):
        services.source_update(access=OPERATOR, uuid=source.uuid, values={"location": "https://evil.example.org/x.git"})
    moved = {"location": "https://other.example.org/x.git"}
    assert services.source_update(access=system_access(), uuid=source.uuid, values=moved).location == moved["location"]
    free = create(name="free")
    assert services.source_update(access=OPERATOR, uuid=free.uuid, values=moved).location == moved["location"]


def test_lists_name_granted_owners_and_single_reads_do_not() -> None:
    source = create()
    ana = Access(Scope("ana"), Permission.READ, "ana", reads=(OWNER,))
    assert not selectors.source_list(ana)
    assert list(selectors.source_list(ana, include=[OWNER])) == [source]
    assert list(selectors.source_list(system_access())) == [source]
    assert not selectors.run_list(ana)
    assert list(selectors.item_list(ana, source.uuid)) == []


def test_a_request_waits_once() -> None:
    source = create()
    writer = Access(Scope(OWNER), Permission.WRITE, "wim")
    full = services.sync_request(access=writer, uuid=source.uuid, kind=SyncKind.FULL)
    assert services.sync_request(access=writer, uuid=source.uuid, kind=SyncKind.FULL) == full
    assert services.sync_request(access=writer, uuid=source.uuid, kind=SyncKind.INCREMENTAL) == full
    single = services.sync_request(access=writer, uuid=source.uuid, kind=SyncKind.SINGLE, item_id="adr-1")
    assert set(SyncRun.objects.all()) == {full, single}
    with pytest.raises(InvalidInputError):
        services.sync_request(access=writer, uuid=source.uuid, kind=SyncKind.SINGLE)
    with pytest.raises(ForbiddenError):
        services.sync_request(
            access=Access(Scope(OWNER), Permission.READ, "rita"), uuid=source.uuid, kind=SyncKind.FULL
        )


def test_pause_and_resume_and_sessions() -> None:
    source = create()
    assert services.source_pause(access=OPERATOR, uuid=source.uuid).paused
    assert not services.source_resume(access=OPERATOR, uuid=source.uuid).paused
    services.session_note(access=OPERATOR, uuid=source.uuid)
    assert services.session_note(access=OPERATOR, uuid=source.uuid).sessions_since_sync == 2

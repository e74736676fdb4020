"""Who may see what of a person: the table says exactly what the access checks answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.services import account_create
from apps.core.domain.scope import Permission, Scope, system_access
from apps.core.models import ApiKey
from apps.core.services import key_create, key_revoke, key_stop
from apps.episodic.domain.event import EventDraft
from apps.episodic.services import RecordResult, event_record
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.models import Memory
from apps.semantic.services import memory_save
from apps.webui.household import Sees, colleagues_seeing, keys_seeing, members_of, parts_of
from apps.webui.person import Person
from tests.api import MEMORIES, Api
from tests.integration.webui.person import ANA, BEN, browser_of, remember

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("timeline_dir")]

SYSTEM = system_access("key:kitchen")
PARTS = (
    Scope(ANA),
    Scope(ANA, "home"),
    Scope(ANA, "home", "clerk"),
    Scope(ANA, None, "clerk"),
    Scope(ANA, "office"),
)
KEYS: Mapping[str, tuple[Scope, Permission, tuple[str, ...]]] = {
    "everything": (Scope(), Permission.WRITE, ()),
    "operator": (Scope(), Permission.OPERATOR, ()),
    "ana reads": (Scope(ANA), Permission.READ, ()),
    "ana writes": (Scope(ANA), Permission.WRITE, ()),
    "ana at home": (Scope(ANA, "home"), Permission.WRITE, ()),
    "home reads": (Scope(household_id="home"), Permission.READ, ()),
    "home writes": (Scope(household_id="home"), Permission.WRITE, ()),
    "clerk": (Scope(persona_id="clerk"), Permission.WRITE, ()),
    "clerk at home": (Scope(None, "home", "clerk"), Permission.READ, ()),
    "ben": (Scope(BEN), Permission.WRITE, ()),
    "ben is granted ana": (Scope(BEN), Permission.WRITE, (ANA,)),
    "office is granted ana": (Scope(household_id="office"), Permission.WRITE, (ANA,)),
    "cafe": (Scope(household_id="cafe"), Permission.WRITE, ()),
}


@dataclass
class Row:
    """What is kept in a part: a memory and an event."""

    memory: Memory
    event: str


def row_in(part: Scope) -> Row:
    words = f"Ana keeps {part.household_id} {part.persona_id} {timezone.now().isoformat()}"
    memory = memory_save(access=SYSTEM, draft=MemoryDraft(words, scope=part)).memory
    event = event_record(access=SYSTEM, draft=EventDraft(timezone.now(), "visit", words, part))
    assert isinstance(event, RecordResult)
    return Row(memory, str(event.record.uuid))


def key_named(name: str) -> tuple[ApiKey, Api]:
    scope, permission, reads = KEYS[name]
    made, secret = key_create(name=name, scope=scope, permission=permission, reads=reads, actor="test")
    return made, Api(secret)


def seen_through(api: Api, part: Scope) -> Sees:
    """What the API answers to a key about a part."""
    row = row_in(part)
    memories = api.get(f"{MEMORIES}/{row.memory.uuid}").status_code == 200
    days = api.get(f"/api/episodic/events/{row.event}").status_code == 200
    return Sees(memories, days, api.delete(f"{MEMORIES}/{row.memory.uuid}").status_code < 300)


def in_table(name: str) -> tuple[Sees, ...]:
    """What the table says of a key."""
    return next((seer.cells for seer in keys_seeing(ANA, PARTS) if seer.name == name), tuple(Sees() for _ in PARTS))


@pytest.mark.parametrize("is_stopped", [False, True], ids=["working", "stopped"])
@pytest.mark.parametrize("name", KEYS)
def test_the_table_says_what_each_key_is_answered(name: str, is_stopped: bool) -> None:
    made, api = key_named(name)
    if is_stopped:
        key_stop(uuid=made.uuid, user_id=ANA)
    assert in_table(name) == tuple(seen_through(api, part) for part in PARTS)


def test_the_table_is_not_the_same_for_all(db: None) -> None:
    for name in KEYS:
        key_named(name)
    seen = {seer.name: seer.cells for seer in keys_seeing(ANA, PARTS)}
    assert "ben" not in seen
    assert "cafe" not in seen
    assert len(set(seen.values())) == 7


def test_keys_that_do_not_work_are_not_in_the_table() -> None:
    revoked, _ = key_named("ana reads")
    expired, _ = key_named("ana writes")
    key_revoke(uuid=revoked.uuid)
    ApiKey.objects.filter(pk=expired.pk).update(expires_at=timezone.now() - timedelta(minutes=1))
    assert keys_seeing(ANA, PARTS) == []


ACCOUNTS: Mapping[str, tuple[str, Scope]] = {
    "viewer": ("Viewer", Scope()),
    "reviewer": ("Reviewer", Scope()),
    "operator": ("Operator", Scope()),
    "owner": ("Owner", Scope()),
    "home": ("Reviewer", Scope(household_id="home")),
    "clerk": ("Viewer", Scope(persona_id="clerk")),
    "ben": ("Viewer", Scope(BEN)),
}


@pytest.mark.parametrize("name", ACCOUNTS)
def test_the_table_says_what_each_account_is_shown(name: str) -> None:
    role, scope = ACCOUNTS[name]
    browser = Client()
    browser.force_login(account_create(username=name, role=role, scope=scope, reads=(ANA,) if scope.named() else ()))
    nothing = tuple(Sees() for _ in PARTS)
    said = next((seer.cells for seer in colleagues_seeing(PARTS) if seer.name == name), nothing)
    rows = [row_in(part) for part in PARTS]
    found = browser.get(reverse("admin:episodic_timelineevent_query"), {"user_id": ANA}).content.decode()
    listed = browser.get(reverse("admin:episodic_timelineevent_changelist")).content.decode()
    for part, cell, row in zip(PARTS, said, rows, strict=True):
        page = browser.get(reverse("admin:semantic_memory_change", args=[row.memory.pk]))
        assert cell.memories == (page.status_code == 200), part
        content = row.memory.content
        assert cell.days == (content in listed or content in found), part


def test_accounts_without_a_role_see_nothing() -> None:
    User.objects.create_user("nora", is_staff=True)
    login = account_create(username="olga", role="Owner")
    assert [seer.name for seer in colleagues_seeing(PARTS)] == ["olga"]
    User.objects.filter(pk=login.pk).update(is_active=False)
    assert colleagues_seeing(PARTS) == []


def test_parts_are_those_of_memories_and_events() -> None:
    remember(ANA, "Ana drinks tea")
    row_in(Scope(ANA, "home", "clerk"))
    row_in(Scope(BEN, "garage"))
    parts = parts_of(Person(ANA, "ana"))
    assert [(part.scope, part.memories, part.events) for part in parts] == [
        (Scope(ANA), 1, 0),
        (Scope(ANA, "home", "clerk"), 1, 1),
    ]


def page(browser: Client) -> str:
    return browser.get(reverse("webui:household")).content.decode()


def test_the_page_shows_parts_and_ticks(ana: Client) -> None:
    row_in(Scope(ANA, "home"))
    key_named("home reads")
    key_named("cafe")
    account_create(username="olga", role="Owner")
    text = page(ana)
    for words in ("yours alone", "<bdi>home</bdi>", "home reads", "olga", "sees nothing"):
        assert words in text
    assert "cafe" not in text


def test_a_stopped_key_is_said_to_be_stopped(ana: Client) -> None:
    made, _ = key_named("home writes")
    row_in(Scope(ANA, "home"))
    key_stop(uuid=made.uuid, user_id=ANA)
    assert "app, stopped by you" in page(ana)


def test_only_operators_make_members_of_a_household(ana: Client) -> None:
    for user in (ANA, BEN, "cleo"):
        row_in(Scope(user, "home"))
    assert members_of(["home"]) == {"home": set()}
    assert "cleo" not in page(ana)
    for user in (BEN, "cleo"):
        key_create(name=user, scope=Scope(user, "home"), permission=Permission.READ, actor="test")
    assert members_of(["home"]) == {"home": {BEN, "cleo"}}
    assert "cleo" not in page(ana), "who is no member learns of no other one"
    key_create(name="a", scope=Scope(ANA, "home"), permission=Permission.READ, actor="test")
    assert "<bdi>cleo</bdi>" in page(ana)


def test_two_of_one_household_see_each_other_and_what_is_shared(ana: Client) -> None:
    for user in (ANA, BEN):
        key_create(name=user, scope=Scope(user, "home"), permission=Permission.WRITE, actor="test")
    row_in(Scope(ANA, "home"))
    ours, theirs = page(ana), page(browser_of(BEN))
    assert f"<bdi>{BEN}</bdi>" in ours
    assert "You share 1 memory" in ours
    assert f"<bdi>{ANA}</bdi>" in theirs
    assert "You share nothing here yet" in theirs


def test_another_person_sees_their_own_table(ana: Client) -> None:
    row_in(Scope(ANA, "home"))
    key_named("ana reads")
    text = page(browser_of(BEN))
    for words in ("<bdi>home</bdi>", "ana reads"):
        assert words not in text

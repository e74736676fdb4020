"""Entries are only added; what is old is deleted, and of a person who is forgotten the act stays."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import IntegrityError, connection, transaction

from apps.audit.models import AuditEntry
from apps.audit.personal.stores import FORGOTTEN_KEY, AuditStore
from apps.audit.retention import allow_changes
from apps.audit.services import audit_trim, note_change, record, recording
from apps.core.db.user_locks import lock_user, unlock_user
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Scope
from apps.core.personal.store import ExportRequest

pytestmark = pytest.mark.django_db


def entry(**fields: Any) -> AuditEntry:
    return record(**{"actor_kind": "person", "actor": "rita", "action": "memory.delete", **fields})


def aged(days: float) -> AuditEntry:
    made = AuditEntry(at=utcnow(SYSTEM_CLOCK) - timedelta(days=days), actor_kind="hub", actor="hub", action="x.y")
    made.save()
    return made


@pytest.mark.parametrize("how", ["UPDATE audit_auditentry SET actor = 'nobody'", "DELETE FROM audit_auditentry"])
@pytest.mark.parametrize("reason", ["", "retention", "forgetting"])
def test_the_database_refuses_changes_and_deletion(how: str, reason: str) -> None:
    entry()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT set_config('memoryhub.audit', %s, true)", [reason])
        if how.startswith("UPDATE") and reason == "forgetting":
            how = "UPDATE audit_auditentry SET action = 'other'"
        with pytest.raises(IntegrityError, match=r"not (changed|deleted)"), transaction.atomic():
            cursor.execute(how)
    assert AuditEntry.objects.get().actor == "rita"


@pytest.mark.parametrize("reason", ["", "retention", "forgetting"])
def test_the_database_refuses_to_truncate(reason: str) -> None:
    entry()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT set_config('memoryhub.audit', %s, true)", [reason])
        with pytest.raises(IntegrityError, match="not deleted"), transaction.atomic():
            cursor.execute("TRUNCATE audit_auditentry CASCADE")
    assert AuditEntry.objects.count() == 1


@pytest.mark.parametrize(
    "change",
    [
        {"actor": "someone else"},
        {"user_id": "ben"},
        {"object_id": "9"},
        {"detail": {"said": "other"}},
        {"outcome": "x"},
    ],
)
def test_forgetting_empties_and_writes_nothing_else(change: dict[str, Any]) -> None:
    made = entry(scope=Scope("ana"))
    emptied: dict[str, Any] = {"user_id": "", "household_id": "", "persona_id": "", "object_id": "", "detail": {}}
    with allow_changes("forgetting"):
        with pytest.raises(IntegrityError, match="not changed"), transaction.atomic():
            AuditEntry.objects.update(**emptied | change)
        AuditEntry.objects.update(**emptied)
    made.refresh_from_db()
    assert (made.actor, made.user_id) == ("rita", "")


def test_what_is_older_than_the_retention_is_deleted(settings: Any) -> None:
    kept, _ = aged(364), [aged(366) for _ in range(3)]
    assert audit_trim() == 3
    assert AuditEntry.objects.get() == kept
    with pytest.raises(IntegrityError), transaction.atomic():
        kept.delete()


def test_nothing_to_delete_is_no_error() -> None:
    aged(1)
    assert audit_trim() == 0


def test_a_person_who_is_forgotten_is_in_no_entry_and_the_act_stays() -> None:
    store = AuditStore()
    whose = entry(scope=Scope("ana lima", "home"), object_id="7", address="192.0.2.7", detail={"name": "tea"})
    by_key = entry(actor_kind="key", actor="phone of ana lima", action="memories.create")
    named = entry(action="key.change", detail={"changes": {"reads": [None, "['ana lima']"]}})
    other = entry(scope=Scope("ben"), object_id="8")
    assert store.count("ana lima") == 3
    assert sum(store.forget("ana lima")) == 3
    for one in (whose, by_key, named, other):
        one.refresh_from_db()
    assert (whose.user_id, whose.household_id, whose.object_id, whose.detail) == ("", "", "", {})
    assert (whose.actor, whose.action, whose.address) == ("rita", "memory.delete", "192.0.2.7")
    assert (by_key.actor, named.detail) == (FORGOTTEN_KEY, {})
    assert (other.user_id, other.object_id) == ("ben", "8")
    assert list(store.find("ana lima")) == []
    assert list(store.find("ben")) == ["audit_auditentry"]


def test_nothing_is_written_of_a_person_who_is_being_forgotten() -> None:
    lock_user("ana", utcnow(SYSTEM_CLOCK))
    made = entry(scope=Scope("ana"), object_id="7", detail={"name": "tea"})
    unlock_user("ana")
    made.refresh_from_db()
    assert (made.action, made.user_id, made.object_id, made.detail) == ("memory.delete", "", "", {})


def test_an_export_has_the_entries_about_a_person_and_can_be_loaded_twice() -> None:
    store = AuditStore()
    entry(scope=Scope("ana"), address="192.0.2.7")
    entry(scope=Scope("ben"))
    [line] = store.export(ExportRequest(Scope("ana"), is_operator=True))
    assert (line["kind"], line["user_id"], line["address"]) == ("audit_entry", "ana", "192.0.2.7")
    assert [one["address"] for one in store.export(ExportRequest(Scope("ana")))] == [None]
    assert store.load([line]) == 0
    assert store.load([{**line, "action": "memory.restore"}]) == 1
    assert store.is_empty()


def test_texts_that_are_too_long_are_cut_and_an_address_must_be_one() -> None:
    made = entry(actor="\0" + "r" * 300, object_id="x" * 500, address="unix:/socket")
    assert (len(made.actor), len(made.object_id), made.address) == (200, 200, None)


def test_a_change_outside_of_a_request_is_no_note() -> None:
    note_change({"a": 1}, {"a": 2}, object_type="x", object_id=1)
    with recording() as held:
        Group.objects.create(name="reviewers").delete()
        note_change({"a": 1, "api_token": "x"}, {"a": 2, "api_token": "y"}, object_type="x", object_id=1)
    assert held.notes[("x", "1")].changes == {"a": [1, 2], "api_token": ["(hidden)", "(hidden)"]}
    assert len(held.notes) == 2

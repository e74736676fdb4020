"""Rows of the bridge in exports and imports: for whom they are written, and what of them is for operators."""

import json
from typing import Any

import pytest
from django.db import transaction

from apps.core.db.user_locks import UserLockedError, lock_user, unlock_user
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Access, Permission, Scope
from apps.core.personal.export import encode_line, export_lines, permitted_export
from apps.core.personal.store import ExportRequest
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.models import BridgeAudit, Conflict, Ingestion, JudgedPair
from apps.semantic.personal.bridge import OF_AUDIT, OF_ROUTED, BridgeStore
from apps.semantic.personal.receipts import ASKING
from apps.semantic.services import memory_save
from tests.integration.personal.hubs import ACCESS, NOW, empty_hub, exported, imported

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("timeline_dir")]
EVENT = "5f0c0c8e-6f0e-4b43-9d0f-0d6f7f6f1a11"


@pytest.fixture(autouse=True)
def _rows() -> None:
    Ingestion.objects.create(
        user_id="ana", event_id=EVENT, content="It rang.", created_at=NOW, next_try_at=NOW, policy="visits",
        on_prune="keep", tries=3, error="TimeoutError", pruned_by="keeper",
    )  # fmt: skip
    BridgeAudit.objects.create(
        user_id="ana", at=NOW, action="kept", event_ids=[EVENT], policy="visits", reason="manual", actor="keeper"
    )


def lines(kind: str) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in exported(Scope("ana")).splitlines()]
    return [line for line in found if line["kind"] == kind]


@pytest.mark.parametrize(("kind", "model"), [("routed_event", Ingestion), ("audit_record", BridgeAudit)])
def test_nothing_is_loaded_for_a_user_who_is_being_forgotten(kind: str, model: Any) -> None:
    found = lines(kind)
    model.objects.all().delete()
    with transaction.atomic():
        lock_user("ana", utcnow(SYSTEM_CLOCK))
    with pytest.raises(UserLockedError), transaction.atomic():
        BridgeStore().load(found)
    assert not model.objects.exists()
    unlock_user("ana")
    assert BridgeStore().load(found) == 1


def test_a_key_that_is_no_operators_sees_nothing_of_policies_and_tries() -> None:
    for content in ("I live in Oslo.", "I moved to Bergen."):
        memory_save(access=ACCESS, draft=MemoryDraft(content, scope=Scope("ana")))
    receipt = Conflict.objects.latest("pk")
    JudgedPair.objects.create(
        notice=receipt, candidate=receipt.candidate, existing=receipt.existing, prompt_version=1, model="m", tries=2,
        state="unanswered", code="TimeoutError", digest="d" * 64, answered_by="m-2",
    )  # fmt: skip
    asked = ExportRequest(Scope("ana"))
    member = Access(Scope("ana"), Permission.WRITE, "member")
    file = b"".join(encode_line(line) for line in export_lines(asked, permitted_export(member, asked)))
    found = {line["kind"]: line for line in map(json.loads, file.splitlines())}
    seen = found["routed_event"], found["audit_record"], found["judged_pair"]
    hidden = [{name: line[name] for name in of} for line, of in zip(seen, (OF_ROUTED, OF_AUDIT, ASKING), strict=True)]
    assert hidden == [OF_ROUTED, OF_AUDIT, ASKING]
    assert (found["routed_event"]["content"], found["audit_record"]["action"]) == ("It rang.", "kept")
    assert found["judged_pair"]["model"] == "m"
    for word in (b"visits", b"keeper", b"TimeoutError", b"m-2"):
        assert word not in file
        assert word in exported(Scope("ana"))
    empty_hub()
    report = imported(file)
    assert report.new == report.read

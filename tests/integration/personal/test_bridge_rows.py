"""Rows of the bridge in exports and imports: for whom they are written, and what of them is for operators."""

import json
from typing import Any

import pytest
from django.db import transaction

from apps.core.db.user_locks import UserLockedError, lock_user, unlock_user
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Scope
from apps.semantic.models import BridgeAudit, Ingestion
from apps.semantic.personal.bridge import BridgeTransfer
from tests.integration.personal.hubs import NOW, exported

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
        BridgeTransfer().load(found)
    assert not model.objects.exists()
    unlock_user("ana")
    assert BridgeTransfer().load(found) == 1

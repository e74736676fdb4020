"""A hub with something on every page: run inside the data directory of a hub, it fills it and prints what to visit.

`manage.py shell -c "from tests.system.browser.walk.world import main; main()"`
"""

import json
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path
from uuid import uuid4

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.test.utils import setup_test_environment
from django.urls import reverse
from django.utils import timezone
from django_q.models import Failure, OrmQ
from django_q.signing import SignedPackage

from apps.accounts.services import account_create, account_set_person, invitation_create, person_create
from apps.audit.services import record as act_record
from apps.core.domain.origin import WriteOrigin
from apps.core.domain.scope import Access, Permission, Scope, system_access
from apps.core.models import DisplayName
from apps.core.services import key_create, key_revoke
from apps.episodic.maintenance.run import timeline_maintain, timeline_seal
from apps.episodic.maintenance.runner import MaintenanceRunningError
from apps.events.models import Delivery
from apps.imports.models import Import, ImportState
from apps.imports.services import import_confirm, import_upload
from apps.llm.models import ToolRunDay
from apps.monitor.models import Sample
from apps.notes.domain.places import MAIN
from apps.notes.domain.text import digest
from apps.notes.files.owner import folder_of
from apps.notes.models import Compaction
from apps.notes.services import daily_append, main_append
from apps.oauth.services import client_register
from apps.people.leaving import THEMSELVES
from apps.people.services import erasure_request, learnt_forget
from apps.rules.services import rule_register, rule_update
from apps.semantic.consolidation.services import consolidation_create
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.judge.services import judge_get
from apps.semantic.models import Memory
from apps.semantic.services import memory_delete, memory_save, memory_save_many
from memoryhub.sample import HOUSEHOLD
from tests.integration.accounts.passkey import registration
from tests.integration.accounts.signing import PASSWORD, set_up_app
from tests.integration.admin.bridge import pruned_event, routed
from tests.integration.admin.conversations import learn
from tests.integration.admin.knowledge import BROKEN, make_conflict, make_source, sync, write
from tests.integration.admin.timeline import warning
from tests.integration.episodic.upkeep import record
from tests.integration.llm.configuring import breaker, call, price, spent
from tests.system.browser.walk.routes import SIGNING_IN, pages_of_hub
from tests.system.hub import unlike, wait_for

ACCESS = system_access("test")
PERSON = "ana"
DAYS = 86_400
LONG_MODEL = "qwen3-235b-a22b-instruct-2507-fp8-with-a-very-long-name-that-goes-on-and-on"
LONG_USER = "a-rather-long-identifier-of-a-user-from-a-provider-of-identities@example.org"


def main() -> None:
    """Fill the hub, and print what a walk needs as JSON."""
    setup_test_environment()  # Its host is allowed.
    call_command("load_sample", verbosity=0)
    sessions = sign_in_viewers()
    for fill in FILLS:
        fill()
    for user in ("zoe", "yan"):
        wait_for(lambda user=user: not Memory.objects.filter(user_id=user).exists(), "the worker to forget a person")
    print("\n" + json.dumps({"sessions": sessions, "pages": [vars(page) for page in pages_of_hub()]}))


def sign_in_viewers() -> dict[str, str]:
    """Create an account for each viewer; return their sessions."""
    owner = User.objects.create_superuser("operator", password=PASSWORD)
    account_set_person(login=owner, person_id=PERSON)
    reviewer = account_create(username="rita", role="Reviewer", scope=Scope(household_id=HOUSEHOLD))
    invitation_create(username="ben-signs-in", person_id="ben", invited_by="admin:operator")
    person = person_create(username="ana-signs-in", person_id=PERSON)
    sessions = {"owner": session_of(owner), "reviewer": session_of(reviewer), "person": session_of(person)}
    key = {"name": "Key of the operator", "credential": registration()}
    Authenticator.objects.create(user=owner, type=Authenticator.Type.WEBAUTHN, data=key)
    return sessions


def session_of(login: User) -> str:
    """Sign an account in as a browser does, as one whose password need not be confirmed for a day."""
    login.set_password(PASSWORD)
    login.save()
    client = Client()
    client.post(reverse("account_login"), {"username": login.username, "password": PASSWORD})
    client.post(reverse("account_reauthenticate"), {"password": PASSWORD})
    if login.is_superuser:
        set_up_app(client)
    session = client.session
    for method in session["account_authentication_methods"]:
        method["at"] = time.time() + DAYS
    session.save()
    return client.cookies[settings.SESSION_COOKIE_NAME].value


def fill_erasure() -> None:
    """Have a person forgotten, before anything else is there: events and memories of hers are gone at the end."""
    memory_save(access=ACCESS, draft=MemoryDraft("Zoe drinks tea.", scope=Scope("zoe")))
    erasure_request(user_id="zoe", actor="admin:operator")
    memory_save(access=ACCESS, draft=MemoryDraft("Yan drinks tea.", scope=Scope("yan")))
    erasure_request(user_id="yan", actor=THEMSELVES)
    for act in ("person_look.begin", "person_look.open", "person.export"):
        detail = {"reason": "Asked for help with a duplicate"} if act.endswith("begin") else {}
        act_record(actor_kind="person", actor="rita", action=act, object_id="/", scope=Scope(PERSON), detail=detail)


def fill_apps() -> None:
    """Have an app of a person with what it learnt, one that she has stopped, and one whose memories are forgotten."""
    for name, stopped_by in (("kitchen assistant", []), ("radio of the hall", [PERSON]), ("lamp", [])):
        key, _ = key_create(
            name=name, scope=Scope(PERSON), permission=Permission.WRITE, actor="test", stopped_by=stopped_by
        )
        drafts = [MemoryDraft(unlike(), scope=Scope(PERSON)) for _ in range(60)]
        memory_save_many(access=Access(Scope(PERSON), Permission.WRITE, f"key:{name}"), drafts=drafts)
    learnt_forget(user_id=PERSON, key=key)


def fill_imports() -> None:
    """Have a file that a person has brought in, and one that waits for them to decide."""
    mine = Access(Scope(PERSON), Permission.WRITE, f"person:{PERSON}", origin=WriteOrigin.PERSON)
    for name, content in (("first.json", "Ana paints doors."), ("second.json", "Ana sings alto.")):
        memories = json.dumps([{"memory": content, "user_id": PERSON}, {"memory": " "}]).encode()
        asked = import_upload(access=mine, kind=None, name=name, chunks=[memories])
        is_in = partial(Import.objects.filter(pk=asked.pk, state=ImportState.LOOKED).exists)
        wait_for(is_in, "the worker to look at a file")
        if name == "first.json":
            import_confirm(access=mine, uuid=asked.uuid)
            is_in = partial(Import.objects.filter(pk=asked.pk, state=ImportState.DONE).exists)
            wait_for(is_in, "the worker to bring a file in")


def fill_memories() -> None:
    """Save memories of people besides the sample: some that disagree, one deleted, one long, many of a person."""
    drafts = [MemoryDraft(f"Ana has read book {number}.", scope=Scope(PERSON)) for number in range(30)]
    memory_save_many(access=ACCESS, drafts=drafts)
    whose = [Scope(f"user {number:02}", HOUSEHOLD if number % 2 else "work") for number in range(12)]
    for scope in (*whose, Scope(PERSON)):
        for content in ("Lives in Lisbon.", "Does not live in Lisbon."):
            memory_save(access=ACCESS, draft=MemoryDraft(content, scope=scope))
    long = MemoryDraft("word " * 200 + "x" * 300, scope=Scope(LONG_USER, HOUSEHOLD))
    memory_save(access=ACCESS, draft=long)
    gone = memory_save(access=ACCESS, draft=MemoryDraft("Ana played the cello.", scope=Scope(PERSON))).memory
    memory_delete(access=ACCESS, uuid=gone.uuid)


def alone(maintain: Callable[[], object]) -> None:
    """Maintain the timeline once the worker does not."""

    def try_once() -> bool:
        with suppress(MaintenanceRunningError):
            maintain()
            return True
        return False

    wait_for(try_once, "the worker's maintenance to end")


def fill_timeline() -> None:
    """Have events in the open segment, in a sealed one and in an archive, and warnings of each severity."""
    alone(timeline_seal)
    alone(timeline_maintain)
    record(range(40), scope=Scope(PERSON, HOUSEHOLD))
    alone(timeline_seal)
    record(range(100, 110), scope=Scope(LONG_USER, HOUSEHOLD))
    warning(detail="Something is wrong with something that has a long name. " * 3)
    warning("integrity", severity="critical", ended_at=timezone.now())


def fill_notes() -> None:
    """Have notes of a person with versions, what was learnt from a conversation, and compactions."""
    for entry in ("Ana likes tea.", "Ana likes figs."):
        main_append(access=ACCESS, user_id=PERSON, entry=entry)
    daily_append(access=ACCESS, user_id=PERSON, entry="Tea with Ben.")
    learn("I live in Bergen.", "I love green tea.")
    note = folder_of(PERSON).read(MAIN) or b""
    draft = note.replace(b"likes", b"enjoys")
    sums = {"base_sha256": digest(note), "draft_sha256": digest(draft), "draft": zlib.compress(draft)}
    fact = {"text": "Ana likes tea.", "action": "rewritten", "into": "Ana enjoys tea.", "reason": "", "code": ""}
    for state in ("drafted", "applied", "discarded"):
        row = {"user_id": PERSON, "actor": "key:app", "state": state, "created_at": timezone.now(), **sums}
        Compaction.objects.create(facts=[fact], **row)


def fill_knowledge() -> None:
    """Have a source of knowledge with items, runs, a file that cannot be read, and a conflict for a person."""
    root = settings.MEMORYHUB.sync.roots[0]
    conflict = make_conflict(root / "knowledge")
    write(root / "knowledge", "adr/0004-broken.md", BROKEN)
    sync(conflict.source)
    make_source(Path(root / "second"), name="never synced", enabled=False)


def fill_models() -> None:
    """Have calls of each outcome, days of a budget, breakers and prices."""
    now = timezone.now()
    for ago in range(30):
        spent(str(Decimal(ago) / 3), now.date() - timedelta(days=ago))
        call(started_at=now - timedelta(hours=ago), latency_ms=400 + 37 * ago)
    call(model=LONG_MODEL, provider=f"openai@{LONG_MODEL}:8000", started_at=now, cost_usd=None)
    call(outcome="refused", guard="budget", reason="budget_exceeded", provider="", model="", started_at=now)
    call(outcome="failed", reason="provider_unavailable", started_at=now)
    breaker("openai", "open", now)
    breaker(f"openai@{LONG_MODEL}:8000", "half_open", now)
    price(model=LONG_MODEL)
    ToolRunDay.objects.create(day=now.date(), tool="memory_save", protocol="abp", outcome="done", runs=6)


def fill_keys() -> None:
    """Have keys with and without a bound: one that expires soon, and one revoked."""
    soon = timezone.now() + timedelta(days=3)
    key_create(name="kitchen", scope=Scope(household_id=HOUSEHOLD), permission=Permission.WRITE, actor="test")
    client_register({**SIGNING_IN, "client_name": "Signing in"})
    key_create(name="of ana", scope=Scope(PERSON), permission=Permission.READ, actor="test", expires_at=soon)
    revoked, _ = key_create(name="revoked", scope=Scope(), permission=Permission.READ, actor="test")
    key_revoke(uuid=revoked.uuid)


def fill_work() -> None:
    """Have failed tasks, tasks that wait, and deliveries that failed."""
    now = timezone.now()
    report = 'full : Traceback (most recent call last):\n  File "/apps/sync/tasks.py", line 7, in due\nOSError: full\n'
    failed = {"func": "apps.sync.tasks.due", "started": now, "stopped": now, "success": False, "result": report}
    for name in ("venus-east-colorado", "red-fish"):
        Failure.objects.create(id=uuid4().hex, name=name, **failed)
    task = {"id": uuid4().hex, "name": "waits-for-long", "func": "apps.sync.tasks.due", "args": (), "kwargs": {}}
    payload = SignedPackage.dumps(task)
    OrmQ.objects.create(key=settings.Q_CLUSTER["name"], payload=payload, lock=now + timedelta(days=1))
    one = Delivery.objects.order_by("pk").first()
    assert one is not None
    Delivery.objects.filter(pk=one.pk).update(status="failed", attempts=8, last_error="OSError", delivered_at=None)


def fill_rest() -> None:
    """Have consolidations, routing policies and what they did, rules with versions, and numbers."""
    consolidation_create(name="nightly", settings={})
    judge_get()
    pruned_event()
    routed(status="failed", error="unavailable")
    rule_register(document={"name": "of-work", "priority": 10}, actor="admin:operator")
    rule_update(name="of-work", changes={"priority": 20}, actor="admin:operator")
    now = timezone.now().replace(second=0, microsecond=0)
    for series in ("requests", "searches", "saves", "request_p50", "search_p95", "conflicts_open"):
        rows = [Sample(series=series, at=now - timedelta(minutes=n + 2), value=n % 17) for n in range(180)]
        Sample.objects.bulk_create(rows, ignore_conflicts=True)


def fill_names() -> None:
    """Say what pages call a household and a persona."""
    now = timezone.now()
    DisplayName.objects.create(household_id=HOUSEHOLD, name="The house at the harbour", named_by="test", named_at=now)
    DisplayName.objects.create(persona_id="tutor", name="The tutor", named_by="test", named_at=now)


FILLS = (
    *(fill_names, fill_erasure, fill_apps, fill_imports, fill_memories, fill_timeline, fill_notes),
    *(fill_knowledge, fill_models, fill_keys, fill_work, fill_rest),
)

"""Make the stored data directory of 0.1.0 that test_upgrade.py starts the present code on.

It runs against a checkout of 0.1.0 (commit 951d28c) and nothing else, so its imports are the ones of that version and
must never follow a move of modules:

    cd <a checkout of 0.1.0> && python <this file> <the archive to write>

The archive holds the database as SQL, the files beside it, and `facts.json`: what the hub knew, for the
test to compare.
All content is invented, and so are the keys: they open this sample and nothing else.
"""

import importlib.util
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import product
from multiprocessing import Value
from pathlib import Path
from typing import Any

import zstandard

sys.path.insert(0, str(Path.cwd()))

OPERATOR_KEY = "mh_sample_operator_key_of_no_real_hub_0001"
ANA_KEY = "mh_sample_key_of_ana_of_no_real_hub_0002"
SECRET_KEY = "sample-signing-key-of-no-real-hub-" + "0123456789" * 3
PASSWORD = "sample-password-of-no-real-hub"
FILES = ("secret_key", "timeline", "semantic-index")
# A graph is otherwise made from 10,000 memories on, which no small archive could hold.
GRAPH_ROWS = 50
THEN = datetime(2026, 3, 1, 12, tzinfo=UTC)
THINGS = ("kettle", "ladder", "lantern", "violin", "compass", "teapot", "hammock", "telescope")
PLACES = (
    "in the attic",
    "by the stove",
    "under the stairs",
    "at the lake",
    "with the neighbours",
    "in the shed",
    "upstairs",
)
PEOPLE = ("Anselm", "Berta", "Clemens", "Dorit", "Edgar", "Frieda")
TOWNS = ("Lisbon", "Vienna", "Prague", "Dublin", "Oslo", "Athens")
DEAF = {"semantic_threshold": 1.0, "keyword_threshold": 1.0, "contradiction_threshold": 1.0}

facts: dict[str, Any] = {
    "operator_key": OPERATOR_KEY,
    "ana_key": ANA_KEY,
    "password": PASSWORD,
    "graph_rows": GRAPH_ROWS,
}


def main(target: Path) -> None:
    """Build the hub in a temporary directory and write the archive."""
    with tempfile.TemporaryDirectory(prefix="memoryhub-sample-") as place:
        data_dir = Path(place) / "hub"
        data_dir.mkdir(mode=0o700)
        Path(place).chmod(0o711)
        (data_dir / "secret_key").write_text(SECRET_KEY)
        set_environment(data_dir)
        from memoryhub.embedded import EmbeddedDatabase

        database = EmbeddedDatabase(data_dir, durable=False)
        database.start()
        try:
            fill()
            write_archive(target, data_dir, dumped(data_dir))
        finally:
            database.stop()
    print(f"{target.stat().st_size:,} bytes")


def set_environment(data_dir: Path) -> None:
    """Say where the hub is and how it starts, before Django reads it."""
    for name in [name for name in os.environ if name.startswith("MEMORYHUB_")]:
        del os.environ[name]
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "memoryhub.settings",
        "MEMORYHUB_DATA_DIR": str(data_dir),
        "MEMORYHUB_EMBEDDER": "hashing",
        "MEMORYHUB_API_KEY": OPERATOR_KEY,
        "MEMORYHUB_ADMIN_PASSWORD": PASSWORD,
        "MEMORYHUB_LOG_LEVEL": "ERROR",
    }


def fill() -> None:
    """Fill the hub: first what a worker has dealt with, then what waits for one."""
    import django

    django.setup()
    from memoryhub.preparation import prepare

    prepare()
    past = [people, rules_and_models, memories, conflicts, policies, first_segments, finished_work, last_segments]
    waiting = [waiting_events, waiting_conflicts, waiting_tasks]
    for step in (*past, *waiting):
        step()
    remember_rows()


# --- what is done ---------------------------------------------------------------------------------


def people() -> None:
    """Make keys, a group with permissions, a person in it, and a session that lasts."""
    from django.contrib.admin.models import CHANGE, LogEntry
    from django.contrib.auth.models import Group, Permission, User
    from django.contrib.sessions.backends.db import SessionStore

    from apps.core.domain.scope import Permission as Level
    from apps.core.domain.scope import Scope
    from apps.core.models import ApiKey
    from apps.core.services import key_create, key_revoke

    key_create(name="ana's assistant", scope=Scope("ana"), permission=Level.WRITE, actor="admin:admin", secret=ANA_KEY)
    key, _ = key_create(
        name="lost", scope=Scope(), permission=Level.READ, actor="admin:admin", secret=f"{ANA_KEY}-lost"
    )
    key_revoke(uuid=key.uuid)
    group = Group.objects.create(name="reviewers")
    wanted = [
        "view_delivery",
        "redeliver_delivery",
        "view_conflict",
        "change_conflict",
        "view_segment",
        "change_segment",
    ]
    wanted += ["view_failure", "change_failure", "view_memory"]
    group.permissions.set(Permission.objects.filter(codename__in=wanted))
    rita = User.objects.create_user("rita", password=PASSWORD, is_staff=True)
    rita.groups.add(group)
    facts["permissions"] = sorted(rita.get_group_permissions())
    session = SessionStore()
    session.update(
        {"_auth_user_id": str(rita.pk), "_auth_user_backend": "django.contrib.auth.backends.ModelBackend"}
        | {"_auth_user_hash": rita.get_session_auth_hash()}
    )
    session.set_expiry(datetime(2120, 1, 1, tzinfo=UTC))
    session.save()
    facts["session"] = session.session_key
    LogEntry.objects.log_actions(rita.pk, ApiKey.objects.filter(pk=key.pk), CHANGE, "Revoked.")


def rules_and_models() -> None:
    """Register and change rules, and leave a trace in every table of what guards models."""
    from apps.core.domain.clock import DeterministicClock
    from apps.core.domain.scope import system_access
    from apps.llm.domain.budget import Budget
    from apps.llm.domain.chat import Usage
    from apps.llm.guards.breakers import CallResult, breaker_admit, breaker_record
    from apps.llm.guards.budgets import budget_reserve, budget_settle
    from apps.llm.guards.calls import CallRecord, call_record
    from apps.llm.guards.rules import GuardRules
    from apps.llm.guards.token_rates import TokenRequest, tokens_reserve, tokens_settle
    from apps.llm.models import CallGuard, CallOutcome, Price
    from apps.llm.tool_requests import output_execute
    from apps.rules.services import rule_register, rule_update

    rule_register(
        document={
            "name": "for emil",
            "priority": 3,
            "conditions": {"user_id": "emil"},
            "arbitration": {"priority_source": False},
        },
        actor="admin:admin",
    )
    rule_update(name="for emil", changes={"arbitration": {"default_strategy": "keep-existing"}}, actor="key:operator")
    rule_update(name="inferred", changes={"description": "Guesses give way."}, actor="admin:admin")
    clock, guards = DeterministicClock(milliseconds(THEN)), GuardRules(budget=Budget(Decimal(2)))
    for amount in ("1.5", "0.25"):
        grant = budget_reserve(amount=Decimal(amount), rules=guards, clock=clock)
        assert grant.reservation_id is not None
        if amount == "1.5":
            budget_settle(reservation_id=grant.reservation_id, actual=Decimal(amount), rules=guards, clock=clock)
    for _ in range(20):
        admission = breaker_admit(provider="openai", rules=guards, clock=clock)
        if admission.ticket is not None:
            breaker_record(
                provider="openai", ticket=admission.ticket, result=CallResult.FAILED, rules=guards, clock=clock
            )
    request = TokenRequest(provider="openai", model="sample-model", estimated_tokens=300)
    reserved = tokens_reserve(request=request, rules=guards, clock=clock)
    assert reserved.reservation_id is not None
    tokens_settle(reservation_id=reserved.reservation_id, total_tokens=200, clock=clock)
    call = {"actor": "key:ana", "purpose": "extract", "latency_ms": 12.5, "started_at": milliseconds(THEN)}
    call_record(
        record=CallRecord(outcome=CallOutcome.SUCCEEDED, provider="openai", model="sample-model", attempts=1,
                          usage=Usage(120, 40), cost_usd=Decimal("0.0021"), **call),
        rules=guards,
    )  # fmt: skip
    call_record(
        record=CallRecord(outcome=CallOutcome.REFUSED, guard=CallGuard.BUDGET, reason="budget_exceeded", **call),
        rules=guards,
    )
    Price.objects.create(
        provider="openai", model="sample-model", input_per_million=Decimal(5), output_per_million=Decimal(9),
        valid_from=THEN.date(), source="invented", edited_by="admin:admin", edited_at=THEN,
    )  # fmt: skip
    parameters = json.dumps({"content": "Ana likes gooseberry jam.", "user_id": "ana"})
    for name in ("memory_save", "memory_save", "memory_shred"):
        text = f"[[ABP_TOOL:{name}]]{parameters}[[END_ABP_TOOL]]"
        output_execute(access=system_access("key:operator"), text=text)


def memories() -> None:
    """Save some sixty memories of one user and some of others, and leave a graph of hers on the disk."""
    from django.core.management import call_command

    from apps.retrieval.domain import planning
    from apps.rules.services import rule_delete, rule_register

    rule_register(document={"name": "quiet", "priority": 9, "detection": DEAF}, actor="admin:admin")
    kinds = [
        {},
        {"household_id": "birch"},
        {"household_id": "birch", "persona_id": "cook"},
        {"type": "fact", "project": "garden", "session_id": "tuesday"},
        {"decay_policy": "reinforceable", "source": "conversation", "agent": "owl", "importance": 0.8},
        {"decay_policy": "contextual", "confidence": 0.7, "global": True, "context": "said at breakfast"},
        {"keywords": ["household", "inventory"], "metadata": {"shelf": 3}, "occurred_at": THEN.isoformat()},
    ]
    drafts = [
        {"content": f"The {thing} is {place}.", "user_id": "ana", **kinds[number % len(kinds)]}
        for number, (thing, place) in enumerate(product(THINGS, PLACES))
    ]
    drafts += [
        {"content": f"{who} waters the {thing} plant.", "user_id": "ben"}
        for who, thing in zip(PEOPLE, THINGS[:6], strict=True)
    ]
    answer = call("POST", "/api/semantic/memories/batch", {"memories": drafts})
    saved = [item["memory"] for item in answer["results"]]
    call("POST", f"/api/semantic/memories/{saved[4]['id']}/reinforce")
    planning.GRAPH_ROWS = GRAPH_ROWS
    call_command("build_index", stdout=io.StringIO(), stderr=io.StringIO())
    call("DELETE", f"/api/semantic/memories/{saved[1]['id']}")
    unit = [1.0] + [0.0] * 383
    call(
        "POST",
        "/api/semantic/memories",
        {"content": "A memory with its own vector.", "user_id": "ana", "embedding": unit},
    )
    facts["deleted"] = {"id": saved[1]["id"], "content": saved[1]["content"]}
    # What contradicts each other and was not noticed when it was saved: for consolidations.
    cleo = [f"{who} lives in {town}." for who, town in zip(PEOPLE, TOWNS, strict=True)]
    cleo += [f"{who} does not live in {town}." for who, town in zip(PEOPLE, TOWNS, strict=True)]
    call("POST", "/api/semantic/memories/batch", {"memories": [{"content": one, "user_id": "cleo"} for one in cleo]})
    rule_delete(name="quiet", actor="admin:admin")


def conflicts() -> None:
    """Decide conflicts of every outcome; some were looked at by a person since."""
    from apps.rules.services import rule_delete, rule_register

    def opposed(user: str, number: int, **fields: Any) -> str:
        who, town = PEOPLE[number], TOWNS[number]
        save(f"{who} lives in {town}.", user, occurred_at=THEN.isoformat())
        later = (THEN + timedelta(days=1)).isoformat()
        receipt: str = save(f"{who} does not live in {town}.", user, **{"occurred_at": later, **fields})["conflict"]
        assert receipt
        return receipt

    receipts = [opposed("ben", number) for number in range(5)]
    facts["open"], facts["decided"], accepted, overridden, reverted = receipts
    call("POST", f"/api/semantic/conflicts/{accepted}/accept")
    call("POST", f"/api/semantic/conflicts/{overridden}/override", {"winner": "existing"})
    call("POST", f"/api/semantic/conflicts/{reverted}/revert")
    opposed("ben", 5, source="inferred")
    same = THEN.isoformat()
    undecided = {"priority_importance": False, "priority_recency": False, "priority_source": False}
    rule_register(
        document={"name": "reject", "priority": 8, "arbitration": {**undecided, "default_strategy": "reject"}},
        actor="t",
    )
    save("Gerda plays the violin.", "ben", occurred_at=same)
    save("Gerda does not play the violin.", "ben", occurred_at=same)
    rule_delete(name="reject", actor="t")
    loose = {"keyword_threshold": 0.5, "restate_threshold": 0.5}
    rule_register(document={"name": "merge", "priority": 8, "detection": loose, "arbitration": undecided}, actor="t")
    bread = "Hanno bakes rye bread with caraway seeds every Sunday"
    save(f"{bread}.", "ben", keywords=["rye"])
    facts["merged"] = save(f"{bread} morning.", "ben", keywords=["oven"])["conflict"]
    rule_delete(name="merge", actor="t")
    rule_register(document={"name": "mild", "priority": 8, "detection": {"act_threshold": 1}}, actor="t")
    save("Ilse owns a red bicycle.", "ben")
    facts["noticed"] = save("Ilse does not own a red bicycle.", "ben")["conflict"]
    rule_delete(name="mild", actor="t")
    facts["emil"] = [opposed("emil", number) for number in range(3)]


def policies() -> None:
    """Say which events become memories, and how long events are kept."""
    from apps.episodic.retention_policies import retention_create
    from apps.semantic.bridge_policies import policy_create

    policy_create(name="promises", settings={"enabled": True, "min_importance": 0.8, "event_types": ["promise"]})
    policy_create(name="birch only", settings={"enabled": True, "household_id": "birch", "on_prune": "delete"})
    retention_create(household_id="birch", days=36_000, is_enabled=True)


def first_segments() -> None:
    """Leave two archived segments, which maintenance then makes one."""
    for day in range(2):
        seal_day(day, is_archived=True)


def last_segments() -> None:
    """Leave two archived segments and a sealed one; maintenance has not come by since."""
    for day in range(2, 5):
        seal_day(day, is_archived=day < 4)
    facts["archived"] = [f"{thing} moved on day {day}" for day in range(4) for thing in THINGS]
    facts["sealed"] = [f"{thing} moved on day 4" for thing in THINGS]


def seal_day(day: int, *, is_archived: bool) -> None:
    """Record the events of a day and have them sealed in a segment of their own."""
    from apps.core.domain.clock import DeterministicClock
    from apps.episodic.archiving import rows_drop, segment_archive
    from apps.episodic.maintaining import timeline_seal
    from apps.episodic.models import Segment

    moment = THEN + timedelta(days=day)
    record([f"{thing} moved on day {day}" for thing in THINGS], moment, event_type="chore", metadata={"day": day})
    clock = DeterministicClock(milliseconds(moment))
    timeline_seal(clock=clock)
    if is_archived:
        segment = Segment.objects.filter(state="sealed").latest("pk")
        segment_archive(segment, clock=clock)
        rows_drop(segment)


def finished_work() -> None:
    """Let a worker of this version do some of everything, so that its records are there, and a failure of it."""
    from django_q.models import Task

    from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
    from apps.core.domain.scope import Scope, system_access
    from apps.episodic.models import Segment
    from apps.episodic.purging import events_purge
    from apps.episodic.work_queue import Work, work_later
    from apps.semantic.consolidating import consolidation_create, consolidation_request
    from apps.semantic.models import ConsolidationMode

    now = utcnow(SYSTEM_CLOCK)
    record(
        ["Ana promised to mend the fence", "Ana promised to call the bank"], now, event_type="promise", importance=0.9
    )
    record(["Ana promised to feed the geese"], now, event_type="promise", importance=0.9, household_id="birch")
    record(["Ana promised to lend the sledge"], now, event_type="promise", importance=0.9, household_id="elm")
    nightly = consolidation_create(
        name="cleo, noticing", settings={"user_id": "cleo", "mode": ConsolidationMode.NOTICE, "max_decisions": 3}
    )
    consolidation_request(pk=nightly.pk)
    archived = list(Segment.objects.filter(state="archived").values_list("pk", flat=True))
    facts["verify_run"] = str(work_later(kind=Work.VERIFY, segment_ids=archived))
    work_later(kind=Work.VERIFY)  # of nothing, which fails
    for _ in range(4):
        work()
    events_purge(access=system_access("admin:admin"), scope=Scope("ana", "elm"))
    for _ in range(3):
        work()
    [failure] = Task.objects.filter(success=False)
    failure.result = "'NoneType' is no segment : Traceback (most recent call last)"
    failure.save()
    facts["failed_task"] = failure.pk


# --- what waits -----------------------------------------------------------------------------------


def waiting_events() -> None:
    """Leave deliveries of every subscriber undelivered, and rows of the bridge at every station."""
    from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
    from apps.core.domain.scope import Scope, system_access
    from apps.episodic.domain.warnings import Severity, WarningKind
    from apps.episodic.models import Segment
    from apps.episodic.pruning import timeline_prune
    from apps.episodic.purging import events_purge
    from apps.episodic.retention_policies import retention_create
    from apps.episodic.rotation import segment_close
    from apps.episodic.warnings import warning_end, warning_report
    from apps.events.models import Delivery
    from apps.events.services import drain
    from apps.semantic.models import Ingestion

    now = utcnow(SYSTEM_CLOCK)
    promise = {"event_type": "promise", "importance": 0.9}
    # Judged by the bridge, and not made a memory yet; and memories whose events are gone, not looked at yet.
    routed = ["Dora promised to paint the gate", "Dora promised to sharpen the scythe"]
    record(routed, now, user_id="dora", **promise)
    events_purge(access=system_access("admin:admin"), scope=Scope("ana", "birch"))
    drain()
    statuses = set(Ingestion.objects.values_list("status", flat=True))
    assert {"pending", "linked", "unlinking"} <= statuses, statuses
    # On their way: untouched ones, one in which a worker died, one that was tried before, and dead letters.
    fresh = ["Dora promised to oil the hinges", "Dora promised to stack the wood", "Dora promised to sweep the yard"]
    record(fresh, now, user_id="dora", **promise)
    saved = list(Delivery.objects.filter(status="pending", event__name="memory:episodic:saved").order_by("id"))
    assert len(saved) == len(fresh)
    Delivery.objects.filter(pk=saved[1].pk).update(claims=1)
    Delivery.objects.filter(pk=saved[2].pk).update(attempts=2, last_error="OperationalError at bridge_handlers.py:52")
    dead = ["Dora promised to visit the beekeeper", "Dora promised to sell the barn"]
    record(dead[:1], now, user_id="dora", **promise)
    record(dead[1:], now - timedelta(days=3), user_id="dora", household_id="heather", **promise)
    lost = Delivery.objects.filter(status="pending", event__payload__content__in=dead)
    assert lost.update(status="failed", attempts=10, last_error="OperationalError at bridge_handlers.py:52") == 2
    facts["dead_letters"] = list(Delivery.objects.filter(status="failed").order_by("id").values_list("pk", flat=True))
    # Removed by retention before the bridge heard of it, so nothing may be made of it later.
    retention_create(household_id="heather", days=1, is_enabled=True)
    assert timeline_prune().events == 1
    facts["made"], facts["redelivered"], facts["withdrawn"] = [*routed, *fresh], dead[0], dead[1]
    for kind in (WarningKind.WRITE_LATENCY, WarningKind.DISK_NEARLY_FULL):
        warning_report(kind=kind, severity=Severity.NOTICE, detail="Writing took 1,200 ms on average.")
    warning_end(kind=WarningKind.WRITE_LATENCY)
    # The closed segment and the open one.
    record(["the cellar was swept", "the gutter was cleaned"], now, event_type="chore")
    segment_close(segment_id=Segment.objects.get(state="open").pk)
    record(["the roof was tarred", "the chimney was lined"], now, event_type="chore")
    facts["hot"] = ["the cellar was swept", "the gutter was cleaned", "the roof was tarred", "the chimney was lined"]


def waiting_conflicts() -> None:
    """Ask for a run of a consolidation and for the decisions of a rule to be reverted."""
    from apps.semantic.bulk_queue import revert_later
    from apps.semantic.bulk_reviewing import Selection
    from apps.semantic.consolidating import consolidation_create, consolidation_request, consolidations_request
    from apps.semantic.models import ConsolidationMode

    decide = {"user_id": "cleo", "mode": ConsolidationMode.DECIDE, "enabled": True}
    consolidation = consolidation_create(name="cleo, deciding", settings=decide)
    consolidation_request(pk=consolidation.pk)
    consolidations_request()
    facts["revert_run"] = str(revert_later(selection=Selection(rule_name="for emil", since=THEN), actor="admin:admin"))


def waiting_tasks() -> None:
    """Enqueue a task of every kind that this version knows."""
    from django.utils import timezone
    from django_q.models import OrmQ, Schedule
    from django_q.scheduler import scheduler

    from apps.episodic.models import Segment
    from apps.episodic.queue import request_pruning
    from apps.episodic.work_queue import Work, work_later

    archived = list(Segment.objects.filter(state="archived").values_list("pk", flat=True))
    assert len(archived) >= 2
    request_pruning(resume=True)
    facts["verify_later_run"] = str(work_later(kind=Work.VERIFY, segment_ids=archived))
    for kind in (Work.CHECK, Work.SEAL, Work.COMPACT, Work.REPAIR):
        work_later(kind=kind)
    Schedule.objects.update(next_run=timezone.now() - timedelta(seconds=1))
    scheduler()
    facts["functions"] = sorted({task.task["func"] for task in OrmQ.objects.all()})
    assert set(facts["functions"]) == set(FUNCTIONS), set(FUNCTIONS) ^ set(facts["functions"])


FUNCTIONS = (
    "apps.episodic.tasks.maintain",
    "apps.episodic.tasks.prune",
    "apps.episodic.work_queue.work_part",
    "apps.events.tasks.drain",
    "apps.events.tasks.sweep",
    "apps.events.tasks.trim",
    "apps.llm.tasks.sweep_guards",
    "apps.semantic.tasks.catch_up_events",
    "apps.semantic.tasks.consolidate",
    "apps.semantic.tasks.consolidate_enabled",
    "apps.semantic.tasks.ingest_events",
    "apps.semantic.tasks.reconcile_events",
    "apps.semantic.tasks.revert_conflicts",
    "apps.semantic.tasks.trim_events",
)


def remember_rows() -> None:
    """Note how many rows each table has, and what a user's list says."""
    from django.apps import apps as registry

    own = [model for model in registry.get_models() if not model._meta.proxy]
    # Django makes these from the models that there are; they are not of this version.
    made = {"auth_permission", "django_content_type"}
    facts["rows"] = {model._meta.db_table: model._default_manager.count() for model in own}
    facts["rows"] = {table: rows for table, rows in sorted(facts["rows"].items()) if table not in made}
    assert all(facts["rows"].values()), facts["rows"]
    found = call("GET", "/api/semantic/memories?user_id=ana&limit=200")["results"]
    facts["memories"] = sorted(memory["content"] for memory in found)


# --- tools ----------------------------------------------------------------------------------------


def milliseconds(moment: datetime) -> int:
    """Return a moment as clocks count it."""
    return round(moment.timestamp() * 1000)


def call(method: str, path: str, body: Any = None) -> Any:
    """Call the API as the operator and return the answer."""
    from django.test import Client

    text = "" if body is None else json.dumps(body)
    headers = {"Authorization": f"Bearer {OPERATOR_KEY}"}
    client = Client(SERVER_NAME="localhost")
    response = client.generic(method, path, text, content_type="application/json", headers=headers)
    assert response.status_code < 300, response.content
    return response.json() if response.content else None


def save(content: str, user: str, **fields: Any) -> Any:
    """Save a memory and return the answer."""
    return call("POST", "/api/semantic/memories", {"content": content, "user_id": user, **fields})


def record(contents: Iterable[str], moment: datetime, **fields: Any) -> None:
    """Record events of ana's, unless `fields` name another user; they are a minute apart."""
    events = [
        {"content": one, "timestamp": (moment - timedelta(minutes=number)).isoformat(), "user_id": "ana", **fields}
        for number, one in enumerate(contents)
    ]
    answer = call("POST", "/api/episodic/events/batch", {"events": events})
    assert all(item["status"] == 201 for item in answer["results"]), answer


def work() -> None:
    """Run what is queued as a worker process does."""
    from django_q.brokers import get_broker
    from django_q.monitor import monitor
    from django_q.queues import Queue
    from django_q.signing import SignedPackage
    from django_q.worker import worker

    tasks, results, broker = Queue(), Queue(), get_broker()
    while found := broker.dequeue():
        for number, package in found:
            tasks.put(SignedPackage.loads(package) | {"ack_id": number})
    tasks.put("STOP")
    worker(tasks, results, Value("f", -1))
    results.put("STOP")
    monitor(results)


def dumped(data_dir: Path) -> str:
    """Return the database as SQL that any client can run."""
    from memoryhub.embedded import WHEEL, database_settings

    # Found and not imported, because importing it makes directories.
    [package] = importlib.util.find_spec(WHEEL).submodule_search_locations
    program = Path(package) / "pginstall18" / "bin" / "pg_dump"
    settings = database_settings(data_dir)
    options = ["--no-owner", "--no-privileges", "--no-comments", "--inserts", "--rows-per-insert=1000"]
    reach = ["-h", settings["HOST"], "-p", settings["PORT"], "-U", settings["USER"]]
    dump = subprocess.run([program, *options, *reach, settings["NAME"]], check=True, capture_output=True, text=True)
    # Words of psql.
    return re.sub(r"^\\.*\n", "", dump.stdout, flags=re.MULTILINE)


def write_archive(target: Path, data_dir: Path, sql: str) -> None:
    """Write everything into one compressed archive."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        add(archive, "database.sql", sql.encode())
        add(archive, "facts.json", json.dumps(facts, indent=1).encode())
        for path in sorted(path for name in FILES for path in [data_dir / name, *(data_dir / name).rglob("*")]):
            if path.is_file() and path.name != "lock":
                add(archive, str(path.relative_to(data_dir)), path.read_bytes())
    compressor = zstandard.ZstdCompressor(level=22)
    target.write_bytes(compressor.compress(stream.getvalue()))


def add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    """Add a file without an owner and a time of its own."""
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(content), 0o600
    archive.addfile(entry, io.BytesIO(content))


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())

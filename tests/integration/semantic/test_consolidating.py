"""Looking for conflicts among the memories that are stored already (docs/guides/consolidation.md)."""

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from io import StringIO
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django_q.models import OrmQ, Schedule
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.core.domain.errors import NotFoundError
from apps.core.domain.scope import Access, Scope, system_access
from apps.events.services import schedules_ensure
from apps.rules.services import rule_delete, rule_register
from apps.semantic import tasks
from apps.semantic.conflicts.review import Winner
from apps.semantic.consolidation import run as running
from apps.semantic.consolidation.run import RunEnd, RunLimits, RunReport
from apps.semantic.consolidation.services import (
    consolidation_create,
    consolidation_delete,
    consolidation_preview,
    consolidation_request,
    consolidation_reset,
    consolidation_run,
    consolidation_update,
    consolidations_request,
)
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.index.cache import index_cache
from apps.semantic.models import Conflict, Consolidation, Memory, MemoryRevision
from apps.semantic.schedules import SCHEDULES
from apps.semantic.services import conflict_override, conflict_revert, memories_purge, memory_delete, memory_save
from tests.effort import examples
from tests.integration.semantic.opposites import DEAF, opposites, unnoticed

pytestmark = pytest.mark.django_db

LISBON, NOT_LISBON = "Ana lives in Lisbon.", "Ana does not live in Lisbon."
BREAD = "Ana bakes rye bread with caraway seeds every Sunday."
MORE_BREAD = "Ana bakes rye bread with caraway seeds every Sunday morning."
AUDIT = {"updated_at", "version"}
SYSTEM = system_access("test")


@pytest.fixture
def lax() -> None:
    """A rule under which saving notices nothing."""
    rule_register(document={"name": "lax", "priority": 9, "detection": DEAF}, actor="test")


def strict() -> None:
    """Take the lax rule away, so that the default rule applies."""
    rule_delete(name="lax", actor="test")


def store(*texts: str, scope: Scope | None = None, **fields: Any) -> list[Memory]:
    """Save each text in a transaction of its own."""
    drafts = [MemoryDraft(text, scope=scope or Scope("ana"), **fields) for text in texts]
    return [memory_save(access=SYSTEM, draft=draft).memory for draft in drafts]


@pytest.fixture
def disagreeing() -> list[Memory]:
    """Two memories that contradict each other and both stand, as they were saved under a lax rule."""
    with unnoticed():
        return store(LISBON, NOT_LISBON)


def order(**fields: Any) -> Consolidation:
    return consolidation_create(name=fields.pop("name", "nightly"), settings=fields)


def run(consolidation: Consolidation, **bounds: Any) -> RunReport:
    asked = RunLimits(**{"memories": None, "decisions": None, "seconds": None, **bounds})
    report = consolidation_run(pk=consolidation.pk, limits=asked)
    consolidation.refresh_from_db()
    return report


def active() -> list[str]:
    return list(Memory.objects.active().order_by("id").values_list("content", flat=True))


def rows() -> list[dict[str, Any]]:
    """Every memory that is not deleted, byte for byte, but for the audit's own columns."""
    found = Memory.objects.exclude(status="deleted").order_by("id").values()
    return [{name: value for name, value in row.items() if name not in AUDIT} for row in found]


def pairs() -> list[tuple[str, str]]:
    """The later and the earlier content of each receipt, in order."""
    return list(Conflict.objects.order_by("id").values_list("candidate__content", "existing__content"))


# What it finds, and what it does


def test_deciding_finds_what_lax_rule_left_standing(disagreeing: list[Memory]) -> None:
    report = run(order(mode="decide"))
    assert (report.ended, report.looked_at, report.decided) == ("complete", 2, 1)
    assert active() == [NOT_LISBON]
    receipt = Conflict.objects.get()
    assert (receipt.origin, receipt.outcome, receipt.state) == ("consolidation", "superseded_existing", "open")
    assert (receipt.actor, receipt.rule_name) == ("consolidation:nightly", "default")
    assert (receipt.candidate, receipt.existing) == (disagreeing[1], disagreeing[0])


def test_what_it_decides_is_in_history_of_memory(disagreeing: list[Memory]) -> None:
    run(order(mode="decide"))
    step = MemoryRevision.objects.filter(memory=disagreeing[0]).last()
    assert step is not None
    assert (step.action, step.actor) == ("superseded", "consolidation:nightly")
    assert step.conflict == Conflict.objects.get().uuid


def test_noticing_writes_receipt_and_changes_nothing(disagreeing: list[Memory]) -> None:
    before = list(Memory.objects.order_by("id").values())
    history = MemoryRevision.objects.count()
    report = run(order())
    assert (report.noticed, report.decided) == (1, 0)
    assert list(Memory.objects.order_by("id").values()) == before
    assert MemoryRevision.objects.count() == history
    receipt = Conflict.objects.get()
    assert (receipt.outcome, receipt.winner, receipt.result, receipt.transitions) == ("noticed", "", None, [])
    assert "The rule would have superseded the existing memory: The newer memory wins" in receipt.reason


def test_what_was_only_noticed_can_be_decided_by_person_and_reverted(disagreeing: list[Memory]) -> None:
    before = rows()
    run(order())
    answer = conflict_override(access=SYSTEM, uuid=Conflict.objects.get().uuid, winner=Winner.EXISTING)
    assert active() == [LISBON]
    conflict_revert(access=SYSTEM, uuid=answer.uuid)
    assert rows() == before


def test_two_that_say_same_become_one_under_rule_that_merges(lax: None) -> None:
    parents = store(BREAD, MORE_BREAD)
    strict()
    rule_register(
        document={
            "name": "merging",
            "detection": {"keyword_threshold": 0.6, "restate_threshold": 0.6},
            "arbitration": {"priority_recency": False},
        },
        actor="test",
    )
    before = rows()
    run(order(mode="decide"))
    receipt = Conflict.objects.get()
    assert receipt.outcome == "merged"
    assert receipt.result is not None
    assert active() == [receipt.result.content]
    assert {one.status for one in Memory.objects.filter(pk__in=[one.pk for one in parents])} == {"merged"}
    conflict_revert(access=SYSTEM, uuid=receipt.uuid)
    assert rows() == before
    receipt.result.refresh_from_db()
    assert receipt.result.status == "deleted"


def test_rule_that_refuses_lets_older_memory_stand(lax: None) -> None:
    moment = store("tea")[0].created_at
    store(LISBON, NOT_LISBON, occurred_at=moment)
    strict()
    rule_register(document={"name": "refuse", "arbitration": {"default_strategy": "reject"}}, actor="test")
    before = rows()
    run(order(mode="decide"))
    receipt = Conflict.objects.get()
    assert (receipt.outcome, receipt.result) == ("rejected", receipt.existing)
    assert active() == ["tea", LISBON]
    conflict_revert(access=SYSTEM, uuid=receipt.uuid)
    assert rows() == before


def test_reverting_restores_both_memories_byte_for_byte(lax: None) -> None:
    store(LISBON, NOT_LISBON, keywords=("home",), metadata={"a": [1]}, context="at breakfast")
    strict()
    before = rows()
    run(order(mode="decide"))
    assert rows() != before
    conflict_revert(access=SYSTEM, uuid=Conflict.objects.get().uuid)
    assert rows() == before


def test_memories_that_agree_get_no_receipt() -> None:
    store("Ana likes tea.", "Ben drives a truck.", "The cellar is damp.")
    report = run(order(mode="decide"))
    assert (report.ended, report.looked_at, report.receipts) == ("complete", 3, Counter())
    assert not Conflict.objects.exists()


def test_a_memory_without_a_vector_is_passed_by(disagreeing: list[Memory]) -> None:
    disagreeing[1].embeddings.all().delete()
    index_cache().clear()
    assert run(order(mode="decide")).ended == "complete"
    assert active() == [LISBON, NOT_LISBON]


# Whose memories


@pytest.mark.parametrize(
    "other", [Scope("ben"), Scope("ana", "home"), Scope("ana", None, "cook"), Scope("ana", "home", "cook")]
)
def test_memories_of_other_scopes_are_never_held_against_each_other(lax: None, other: Scope) -> None:
    store(LISBON)
    store(NOT_LISBON, scope=other)
    strict()
    assert run(order(mode="decide")).looked_at == 2
    assert not Conflict.objects.exists()


def test_only_memories_of_its_scope_are_looked_at(lax: None) -> None:
    scopes = [Scope("ana"), Scope("ana", "home"), Scope("ana", "home", "cook"), Scope("ben", "home")]
    for scope in scopes:
        store(LISBON, NOT_LISBON, scope=scope)
    strict()
    looked_at = {}
    for fields in ({"user_id": "ana"}, {"household_id": "home"}, {"user_id": "ana", "persona_id": "cook"}, {}):
        looked_at[str(fields)] = run(order(name=str(fields), mode="decide", **fields)).looked_at
    # Each run before has superseded one of two in what it looked at.
    assert list(looked_at.values()) == [6, 4, 1, 4]
    assert Counter(Conflict.objects.values_list("user_id", flat=True)) == {"ana": 3, "ben": 1}


# What was decided before


def test_decision_that_person_reverted_is_not_made_again(disagreeing: list[Memory]) -> None:
    nightly = order(mode="decide")
    run(nightly)
    conflict_revert(access=SYSTEM, uuid=Conflict.objects.get().uuid)
    consolidation_reset(pk=nightly.pk)
    nightly.refresh_from_db()
    report = run(nightly)
    assert (report.looked_at, report.receipts) == (2, Counter())
    assert active() == [LISBON, NOT_LISBON]


def test_decision_about_save_that_person_overrode_stays(access: Access) -> None:
    store(LISBON)
    saved = memory_save(access=access, draft=MemoryDraft(NOT_LISBON, scope=Scope("ana")))
    assert saved.conflict is not None
    conflict_override(access=access, uuid=saved.conflict, winner=Winner.BOTH)
    assert run(order(mode="decide")).receipts == Counter()
    assert active() == [LISBON, NOT_LISBON]


def test_what_was_noticed_is_not_noticed_again(disagreeing: list[Memory]) -> None:
    nightly = order()
    run(nightly)
    consolidation_reset(pk=nightly.pk)
    nightly.refresh_from_db()
    run(nightly)
    assert len(pairs()) == 1


def test_memory_that_receipt_only_mentions_counts_as_looked_at(lax: None) -> None:
    first, second = store(LISBON, "Ana lives in Lisbon, Portugal.")
    store(NOT_LISBON)
    strict()
    nightly = order()
    run(nightly)
    [receipt] = Conflict.objects.filter(candidate__content=NOT_LISBON)
    named = {str(receipt.existing.uuid), *(other["existing"]["id"] for other in receipt.others)}
    assert named == {str(first.uuid), str(second.uuid)}
    consolidation_reset(pk=nightly.pk)
    nightly.refresh_from_db()
    assert run(nightly).receipts == Counter()


# Going on, and beginning anew


def test_finished_pass_looks_only_at_what_was_added_since(lax: None) -> None:
    nightly = order(mode="decide")
    store(LISBON)
    strict()
    assert run(nightly).ended == "complete"
    assert run(nightly).ended == "nothing_new"
    store("The cellar is damp.")
    report = run(nightly)
    assert (report.ended, report.looked_at) == ("complete", 1)
    assert nightly.passes == 2


def test_changed_rules_make_next_pass_begin_with_first_memory(lax: None) -> None:
    store(LISBON, NOT_LISBON)
    nightly = order(mode="decide")
    assert run(nightly).receipts == Counter()
    strict()
    report = run(nightly)
    assert (report.looked_at, report.decided) == (2, 1)


def test_rules_that_change_during_pass_are_applied_to_all_in_next(lax: None) -> None:
    store(LISBON, NOT_LISBON, "The cellar is damp.")
    nightly = order(mode="decide")
    assert run(nightly, memories=2).ended == "memories"
    strict()
    assert (run(nightly).looked_at, nightly.decided) == (1, 0)
    assert run(nightly).decided == 1


def test_a_run_goes_on_where_the_last_one_stopped(lax: None) -> None:
    store(*opposites(6))
    strict()
    nightly = order(mode="decide")
    ends = []
    while not ends or ends[-1] == "memories":
        ends.append(run(nightly, memories=5).ended)
    assert ends == ["memories", "memories", "complete"]
    assert (nightly.looked_at, nightly.decided, nightly.passes) == (12, 6, 1)
    assert active() == opposites(6)[6:]


class Killed(BaseException):
    """As a signal would end a process: nothing gets to note it."""


@pytest.fixture
def killed_at(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """End the process at the nth decision, after it was applied and before it is committed."""
    real = running.decision_apply

    def arm(number: int) -> None:
        calls = iter(range(1, 1_000))

        def apply(*arguments: Any) -> Conflict:
            receipt = real(*arguments)
            if next(calls) == number:
                raise Killed
            return receipt

        monkeypatch.setattr(running, "decision_apply", apply)

    return arm


@pytest.mark.parametrize("number", [1, 3, 6])
def test_run_that_was_killed_goes_on_with_no_pair_twice_and_none_left_out(
    lax: None, killed_at: Callable[[int], None], number: int
) -> None:
    store(*opposites(6))
    strict()
    nightly = order(mode="decide")
    killed_at(number)
    with pytest.raises(Killed):
        run(nightly)
    nightly.refresh_from_db()
    assert nightly.decided == number - 1
    killed_at(0)
    assert run(nightly).ended == "complete"
    assert pairs() == [(opposites(6)[6 + n], opposites(6)[n]) for n in range(6)]
    assert (nightly.looked_at, nightly.decided) == (12, 6)


def test_what_was_decided_and_place_to_go_on_are_committed_together(lax: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(*_: Any) -> None:
        raise Killed

    store(*opposites(3))
    strict()
    monkeypatch.setattr(running.ConsolidationRun, "move_cursor", killed)
    with pytest.raises(Killed):
        run(order(mode="decide"))
    assert not Conflict.objects.exists()
    assert active() == opposites(3)


def test_run_that_fails_says_so_without_words_of_memory(
    disagreeing: list[Memory], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: Any) -> None:
        raise ValueError(LISBON)

    nightly = order(mode="decide")
    monkeypatch.setattr(running, "decision_apply", fail)
    with caplog.at_level(logging.INFO):
        report = run(nightly)
    assert report.ended == "failed"
    assert nightly.last_error.startswith("ValueError in ")
    assert "Lisbon" not in nightly.last_error + caplog.text
    monkeypatch.undo()
    assert run(nightly).decided == 1
    assert nightly.last_error == ""


@settings(
    max_examples=examples(12),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(sizes=st.lists(st.integers(1, 5), min_size=1, max_size=4), decisions=st.integers(1, 3), data=st.data())
def test_however_pass_is_cut_it_comes_to_same(sizes: list[int], decisions: int, data: st.DataObject) -> None:
    index_cache().clear()
    with transaction.atomic():
        with unnoticed():
            store(*data.draw(st.permutations(opposites(4))))
        nightly = order(mode="decide")
        for turn in range(100):
            if run(nightly, memories=sizes[turn % len(sizes)], decisions=decisions).ended is RunEnd.COMPLETE:
                break
        found = {frozenset(pair) for pair in pairs()}
        assert nightly.is_complete
        assert len(pairs()) == len(found) == 4
        assert sorted(active()) == sorted(later for later, _ in pairs())
        assert nightly.looked_at == 8
        transaction.set_rollback(True)


# RunLimits


def test_run_looks_at_no_more_memories_than_it_may() -> None:
    store(*(f"Fact {number}" for number in range(7)))
    nightly = order(max_memories=3)
    assert [consolidation_run(pk=nightly.pk).looked_at for _ in range(4)] == [3, 3, 1, 0]


def test_run_writes_no_more_receipts_than_it_may(lax: None) -> None:
    store(*opposites(5))
    strict()
    nightly = order(mode="decide", max_decisions=2)
    reports = [consolidation_run(pk=nightly.pk) for _ in range(4)]
    assert [report.decided for report in reports] == [2, 2, 1, 0]
    assert [report.ended for report in reports] == ["decisions", "decisions", "complete", "nothing_new"]


def test_receipts_that_only_notice_count_as_well(lax: None) -> None:
    store(*opposites(3))
    strict()
    assert run(order(), decisions=2).noticed == 2


def test_run_whose_time_is_over_stops_after_what_it_is_about(lax: None) -> None:
    store(*opposites(3))
    strict()
    nightly = order(mode="decide")
    report = run(nightly, seconds=0)
    assert (report.ended, report.decided) == ("time", 1)
    assert run(nightly, seconds=0).decided == 1


@pytest.mark.parametrize(
    ("field", "value"),
    [("max_memories", 0), ("max_memories", 10_001), ("max_decisions", 0), ("max_seconds", 301), ("mode", "guess")],
)
def test_settings_outside_their_range_are_refused(field: str, value: Any) -> None:
    with pytest.raises(ValidationError, match=field):
        order(**{field: value})
    nightly = order()
    with pytest.raises(ValidationError, match=field):
        consolidation_update(pk=nightly.pk, settings={field: value})


def test_database_itself_refuses_run_without_bound() -> None:
    nightly = order()
    with pytest.raises(IntegrityError, match="semantic_consolidation_bounds"), transaction.atomic():
        Consolidation.objects.filter(pk=nightly.pk).update(max_decisions=0)


# Switching on and off


def test_new_consolidation_is_off_and_only_notices() -> None:
    nightly = order()
    assert (nightly.enabled, nightly.mode) == (False, "notice")


def test_with_none_enabled_schedule_costs_one_query(django_assert_num_queries: Any) -> None:
    order()
    with django_assert_num_queries(1):
        assert consolidations_request() == 0
    assert not OrmQ.objects.exists()


def queued() -> list[tuple[Any, ...]]:
    return [(task.func(), task.task["args"], task.task["kwargs"]) for task in OrmQ.objects.order_by("id")]


def test_schedule_asks_for_run_of_each_that_is_enabled() -> None:
    order()
    enabled = [order(name=name, enabled=True) for name in ("one", "two")]
    tasks.consolidate_enabled()
    asked = queued()
    task = "apps.semantic.tasks.consolidate"
    assert [(func, args) for func, args, _ in asked] == [(task, (one.pk,)) for one in enabled]
    assert all(kwargs["scheduled"] for _, _, kwargs in asked)


def test_scheduled_run_of_one_that_was_switched_off_meanwhile_does_nothing(disagreeing: list[Memory]) -> None:
    nightly = order(mode="decide")
    tasks.consolidate(nightly.pk, scheduled=True)
    assert active() == [LISBON, NOT_LISBON]
    tasks.consolidate(nightly.pk)
    assert active() == [NOT_LISBON]


def test_a_run_on_request_needs_no_switch() -> None:
    nightly = order()
    consolidation_request(pk=nightly.pk)
    [(func, args, kwargs)] = queued()
    assert (func, args) == ("apps.semantic.tasks.consolidate", (nightly.pk,))
    assert "scheduled" not in kwargs


def test_one_that_is_gone_is_no_error() -> None:
    assert consolidation_run(pk=4711).ended == "stepped_aside"


def interrupted(monkeypatch: pytest.MonkeyPatch, number: int, by: Callable[[], Any]) -> None:
    """Let something happen between looking and the nth decision."""
    decide, calls = running.ConsolidationRun.decide, iter(range(1, 1_000))

    def before(self: Any, *arguments: Any) -> Any:
        if next(calls) == number:
            by()
        return decide(self, *arguments)

    monkeypatch.setattr(running.ConsolidationRun, "decide", before)


def test_switching_it_off_stops_a_scheduled_run(lax: None, monkeypatch: pytest.MonkeyPatch) -> None:
    store(*opposites(4))
    strict()
    nightly = order(mode="decide", enabled=True)
    interrupted(monkeypatch, 3, lambda: consolidation_update(pk=nightly.pk, settings={"enabled": False}))
    report = consolidation_run(pk=nightly.pk, only_if_enabled=True)
    assert (report.ended, report.decided) == ("stepped_aside", 2)


def test_a_run_that_was_overtaken_steps_aside(lax: None, monkeypatch: pytest.MonkeyPatch) -> None:
    store(*opposites(4))
    strict()
    nightly = order(mode="decide")
    interrupted(monkeypatch, 2, lambda: consolidation_run(pk=nightly.pk))
    report = run(nightly)
    assert (report.ended, report.decided) == ("stepped_aside", 1)
    assert (nightly.looked_at, nightly.decided, nightly.passes) == (8, 4, 1)


def test_pair_that_got_receipt_since_it_was_looked_at_is_left_alone(
    disagreeing: list[Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    other = order(name="other")
    interrupted(monkeypatch, 1, lambda: consolidation_run(pk=other.pk))
    assert run(order(mode="decide")).receipts == Counter()
    assert Conflict.objects.get().actor == "consolidation:other"
    assert active() == [LISBON, NOT_LISBON]


def test_run_does_not_go_on_as_it_was_told_before(lax: None, monkeypatch: pytest.MonkeyPatch) -> None:
    store(*opposites(4))
    strict()
    nightly = order(mode="decide")
    interrupted(monkeypatch, 2, lambda: consolidation_update(pk=nightly.pk, settings={"mode": "notice"}))
    assert run(nightly).ended == "stepped_aside"
    assert (run(nightly).noticed, nightly.decided) == (3, 1)


def test_memory_deleted_since_it_was_looked_at_is_left_alone(lax: None, monkeypatch: pytest.MonkeyPatch) -> None:
    memories = store(*opposites(2))
    strict()
    interrupted(monkeypatch, 1, lambda: memory_delete(access=SYSTEM, uuid=memories[0].uuid))
    assert run(order(mode="decide")).decided == 1
    assert active() == opposites(2)[2:]


def test_memories_purged_since_they_were_looked_at_are_no_error(lax: None, monkeypatch: pytest.MonkeyPatch) -> None:
    store(*opposites(2))
    strict()
    interrupted(monkeypatch, 1, lambda: memories_purge(access=SYSTEM, scope=Scope("ana")))
    report = run(order(mode="decide"))
    assert (report.ended, report.receipts) == ("complete", Counter())


def test_another_scope_is_looked_at_from_its_first_memory(lax: None) -> None:
    store(LISBON, NOT_LISBON)
    store(LISBON, NOT_LISBON, scope=Scope("ben"))
    strict()
    nightly = order(mode="decide", user_id="ben")
    run(nightly)
    consolidation_update(pk=nightly.pk, settings={"user_id": "ana"})
    nightly.refresh_from_db()
    assert nightly.cursor == 0
    assert run(nightly).decided == 1


def test_receipts_outlive_consolidation_that_made_them(disagreeing: list[Memory]) -> None:
    nightly = order(mode="decide")
    run(nightly)
    consolidation_delete(pk=nightly.pk)
    assert not Consolidation.objects.exists()
    conflict_revert(access=SYSTEM, uuid=Conflict.objects.get().uuid)
    assert active() == [LISBON, NOT_LISBON]
    with pytest.raises(NotFoundError):
        consolidation_reset(pk=nightly.pk)


def test_start_schedules_it_each_hour_and_leaves_edited_schedule_alone() -> None:
    assert "semantic: consolidate" in schedules_ensure(specs=SCHEDULES)
    schedule = Schedule.objects.get(name="semantic: consolidate")
    assert (schedule.func, schedule.schedule_type) == ("apps.semantic.tasks.consolidate_enabled", Schedule.HOURLY)
    Schedule.objects.update(schedule_type=Schedule.DAILY)
    assert schedules_ensure(specs=SCHEDULES) == []
    assert Schedule.objects.get(name="semantic: consolidate").schedule_type == Schedule.DAILY


# Rehearsing, and the command


def test_preview_counts_what_deciding_comes_to_and_changes_nothing(lax: None) -> None:
    store(*opposites(5), "The cellar is damp.")
    strict()
    before = list(Memory.objects.order_by("id").values())
    seen: list[int] = []
    expected = consolidation_preview(scope=Scope("ana"), progress=seen.append)
    assert expected == {"superseded_existing": 5}
    assert sum(seen) == 11
    assert list(Memory.objects.order_by("id").values()) == before
    assert not Conflict.objects.exists()
    assert run(order(mode="decide")).receipts == expected


def test_a_preview_leaves_out_what_has_a_receipt(disagreeing: list[Memory]) -> None:
    run(order())
    assert consolidation_preview(scope=Scope("ana")) == {}


def test_preview_holds_nothing_against_memory_that_would_have_left(lax: None) -> None:
    store(LISBON, NOT_LISBON, "Ana lives in Lisbon now.")
    strict()
    expected = consolidation_preview(scope=Scope("ana"))
    assert run(order(mode="decide")).receipts == expected


def command(*arguments: str) -> str:
    out = StringIO()
    call_command("consolidate", *arguments, stdout=out, stderr=StringIO())
    return out.getvalue()


def test_command_notices_unless_it_is_told_to_decide(disagreeing: list[Memory]) -> None:
    assert command("--user", "ana") == (
        "2 memories compared; receipts: 1 noticed.\nAll memories of the scope have been compared.\n"
    )
    assert active() == [LISBON, NOT_LISBON]
    assert not Consolidation.objects.get().enabled


def test_command_decides_and_goes_on_where_it_stopped(lax: None) -> None:
    store(*opposites(3))
    strict()
    assert "2 superseded existing" in command("--everyone", "--decide", "--max-decisions", "2")
    assert "1 superseded existing" in command("--everyone", "--decide", "--max-decisions", "2")
    assert "Nothing is new" in command("--everyone", "--decide")
    assert Consolidation.objects.get().name == "by hand: everyone"


def test_a_dry_run_counts_and_leaves_no_trace(disagreeing: list[Memory]) -> None:
    told = command("--user", "ana", "--dry-run")
    assert told == "2 memories compared; it would decide: 1 superseded existing. Nothing changed.\n"
    assert not Conflict.objects.exists()
    assert not Consolidation.objects.exists()


def test_the_command_runs_one_that_has_a_name(disagreeing: list[Memory]) -> None:
    order(mode="decide", max_memories=1)
    assert "1 memories compared" in command("nightly")
    assert "1 superseded existing" in command("nightly")


def test_scopes_with_long_names_have_consolidations_of_their_own(disagreeing: list[Memory]) -> None:
    for last in "ab":
        command("--user", "x" * 199 + last)
    assert Consolidation.objects.count() == 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "Name one of"),
        (["nightly", "--everyone"], "Name one of"),
        (["--user", "ana", "--everyone"], "Name one of"),
        (["nightly"], "There is no consolidation 'nightly'"),
        (["nightly", "--decide"], "has its own mode"),
        (["--everyone", "--max-decisions", "0"], "at least 1"),
    ],
)
def test_command_says_what_is_wrong_with_how_it_was_called(arguments: Sequence[str], told: str) -> None:
    with pytest.raises(CommandError, match=told):
        command(*arguments)

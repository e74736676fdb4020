"""Runs of extraction in the worker: one at a time for each user, continued wherever a process died.

The outcome of each step is stored before the next one begins. A run whose worker died is marked as running, and the
lock of its user, which the database released with the connection, says that no one works on it.
"""

import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import Min

from apps.core.db.session_locks import try_session_lock
from apps.core.db.user_locks import UserLockedError, hold_users
from apps.core.domain.backoff import Backoff
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.deadline import Deadline
from apps.core.domain.errors import MemoryHubError, UnavailableError
from apps.core.domain.latency import monotonic_ms
from apps.core.domain.offsets import in_offset, offset_minutes
from apps.core.domain.randomness import SYSTEM_RNG
from apps.core.steps import Step, no_step
from apps.notes import metrics
from apps.notes.compaction.run import compaction_request_due
from apps.notes.conversations import steps
from apps.notes.conversations.events import FLUSHES, runs_enqueue
from apps.notes.domain.conversation import decide_switch
from apps.notes.domain.places import daily_place
from apps.notes.domain.settings import MemoryConfig
from apps.notes.files.changes import note_append
from apps.notes.files.config import config_of
from apps.notes.gateway.ask import Asking
from apps.notes.index.upkeep import index_refresh
from apps.notes.models import ConversationMessage, ExtractedFact, ExtractionRun, FactState, RunState

logger = logging.getLogger(__name__)
# With a hash of the user as second key: one run at a time for each user.
RUN_LOCKS = 0x6D68_6E72
STAGES = ("extract", "reconcile", "gate", "apply", "finish")
# Where tests interrupt a run, in this order; `remember` to `noted` for each fact, `logged` of a flush.
RUN_STEPS = (
    "begun", "extract", "reconcile", "gate", "remember", "remembered", "noted", "apply", "logged", "finished",
)  # fmt: skip
# How often a worker may die or fail in a run before it is given up; what is not available is tried again without end.
MAX_TRIES = 8
# A stopping worker finishes its task first, so a task is short and requests another one.
PART_SECONDS = 60.0
MAX_WAIT = timedelta(hours=1)
# What is wrong with a file of the person, who alone can mend it.
OF_THE_FILE = frozenset({"too_large", "not_a_file", "hard_link", "no_permission"})
# Of one run; what is found beyond that is counted in its record.
MAX_FACTS = 200
BACKOFF = Backoff(base_ms=60_000, multiplier=3.0, max_ms=3_600_000, jitter_ms=5_000)


def finish(run: ExtractionRun, clock: Clock, step: Step) -> dict[str, Any]:
    """Do what follows the writing of facts, and return the record of it. Safe to repeat."""
    applied = Counter(ExtractedFact.objects.filter(run=run, state=FactState.APPLIED).values_list("category", flat=True))
    record: dict[str, Any] = {"step": "finish"}
    if applied and run.trigger in FLUSHES:
        last = ConversationMessage.objects.filter(run=run).order_by("number").last()
        here = in_offset(utcnow(clock), offset_minutes(last.at if last else None))
        place = daily_place(here.date())
        kept = ", ".join(f"{category} {count}" for category, count in sorted(applied.items()))
        entry = f"{here:%H:%M} Kept before the context was compacted: {kept}."
        note_append(run.user_id, place, entry, author=run.actor, operation=f"flush:{run.uuid}", clock=clock)
        record["daily_log"] = str(place)
        step("logged")
    if applied:
        try:
            index_refresh(run.user_id)
            record["index"] = "refreshed"
        except UnavailableError as error:  # a search does it then
            record["index"] = error.code
        compaction = compaction_request_due(run.user_id, actor=run.actor, clock=clock)
        record["compaction"] = str(compaction.uuid) if compaction else None
    return record


class PartEndedError(Exception):
    """The time of a task is over, and the run goes on in the next one."""


def runs_continue(*, clock: Clock = SYSTEM_CLOCK, step: Step = no_step, seconds: float = PART_SECONDS) -> int:
    """Begin or continue the runs that are due; when one is requested, and each minute. Return how many ended.

    One run of each user in a round, so that none waits for all that another one has. Requests another task where
    something is left after so many seconds.
    """
    ended, deadline = 0, Deadline(seconds)
    busy: set[str] = set()
    # Looked again after the lock is released: who found it taken has left its runs to this process.
    while users := [user_id for user_id in due_users(clock) if user_id not in busy]:
        for user_id in users:
            if deadline.expired:
                runs_enqueue()
                return ended
            with try_session_lock(RUN_LOCKS, user_id) as is_alone:
                if not is_alone:
                    busy.add(user_id)
                    continue
                # The first that was requested; another process may have taken it before the lock was free.
                run = ExtractionRun.objects.filter(user_id=user_id).due(utcnow(clock)).order_by("pk").first()
                ended += run is not None and run_try(run, clock=clock, step=step, deadline=deadline)
                # What is left of the user waits behind what others have.
                now = utcnow(clock)
                ExtractionRun.objects.filter(user_id=user_id).due(now).update(next_try_at=now)
    return ended


def due_users(clock: Clock) -> list[str]:
    """List the users who have runs that are due; the one who has waited longest is the first."""
    due = ExtractionRun.objects.all().due(utcnow(clock)).order_by().values("user_id")
    waiting = due.annotate(since=Min("next_try_at"), first=Min("pk")).order_by("since", "first")
    return list(waiting.values_list("user_id", flat=True))


def run_try(run: ExtractionRun, *, clock: Clock, step: Step, deadline: Deadline) -> bool:
    """Take all steps of a run that are left, and return whether it has ended. The caller holds the lock of its user.

    An error is never raised: it is noted, and the run tried again later. One that takes longer goes on in another task.
    """
    began, tries = monotonic_ms(), run.tries
    try:
        RunWork(run, config_of(run.user_id), clock, step, deadline).work()
    except PartEndedError:
        ExtractionRun.objects.filter(pk=run.pk).update(tries=tries)
    except UserLockedError:
        return False  # the erasure takes the run with it
    except MemoryHubError as error:
        note_error(run, error.code, tries if has_to_wait(error) else run.tries, clock, is_waiting=has_to_wait(error))
    except Exception as error:  # noqa: BLE001
        # What it says may have something of the conversation in it.
        code = type(error).__name__
        logger.warning("run %s of extraction failed at %s with %s", run.uuid, run.stage or "its begin", code)
        note_error(run, code, run.tries, clock)
    ExtractionRun.objects.filter(pk=run.pk).update(duration_ms=run.duration_ms + round(monotonic_ms() - began))
    has_ended = run.state in {RunState.FINISHED, RunState.FAILED}
    if has_ended:
        metrics.RUNS.labels(run.trigger, run.state).inc()
    return has_ended


def has_to_wait(error: Exception) -> bool:
    """Return whether an error is one that a person or time mends, so that a run is not given up for it."""
    return isinstance(error, UnavailableError) or (isinstance(error, MemoryHubError) and error.code in OF_THE_FILE)


def note_error(run: ExtractionRun, code: str, tries: int, clock: Clock, *, is_waiting: bool = False) -> None:
    """Note why a run cannot go on now, and when it is tried again; give it up after MAX_TRIES.

    One that has to wait is tried again after as long as it has waited, at most an hour.
    """
    now = utcnow(clock)
    try:
        run.refresh_from_db()
    except ExtractionRun.DoesNotExist:
        return  # its person was forgotten
    run.error, run.tries, run.state = code[:200], tries, RunState.WAITING
    run.next_try_at = now + timedelta(milliseconds=BACKOFF.delay_ms(max(run.tries - 1, 0), SYSTEM_RNG))
    if is_waiting:
        waited = now - (run.started_at or now)
        run.next_try_at = max(run.next_try_at, now + min(waited, MAX_WAIT))
    elif tries >= MAX_TRIES:
        run.state, run.ended_at = RunState.FAILED, now
    run.save(update_fields=["error", "tries", "state", "next_try_at", "ended_at"])


class RunWork:
    """The work on one run."""

    def __init__(self, run: ExtractionRun, config: MemoryConfig, clock: Clock, step: Step, deadline: Deadline) -> None:
        self.run, self.config, self.clock, self.step, self.deadline = run, config, clock, step, deadline
        self.asking = Asking(user_id=run.user_id, actor=run.actor, clock=clock)

    def work(self) -> None:
        """Take the steps that are left, one after the other. Raises MemoryHubError, PartEndedError."""
        self.begin()
        self.step("begun")
        if off := decide_switch(self.config):
            # What is not written yet is dropped where memory or listening was switched off since the run was
            # requested. A fact of which the memory was saved gets its line, so that it can be seen and undone.
            reason = str(off.reason)
            facts = ExtractedFact.objects.filter(run=self.run, state=FactState.FOUND, memory=None)
            if not self.run.stage or STAGES.index(self.run.stage) < STAGES.index("gate") or facts.exists():
                with self.storing("gate", {"step": "begin", "dropped": reason}):
                    facts.update(state=FactState.DROPPED, reason=reason)
        done = STAGES.index(self.run.stage) + 1 if self.run.stage else 0
        for stage in STAGES[done:]:
            getattr(self, stage)()
            self.step("finished" if stage == "finish" else stage)
            if stage != "finish":
                self.check_time()

    def check_time(self) -> None:
        """Raise PartEndedError when the time of the task is over."""
        if self.deadline.expired:
            raise PartEndedError

    def begin(self) -> None:
        """Mark the run as running. Raises MemoryHubError for one in which workers died too often."""
        if self.run.tries >= MAX_TRIES:
            raise MemoryHubError("Workers died in this run too often.", code="worker_lost")
        self.run.state, self.run.tries = RunState.RUNNING, self.run.tries + 1
        self.run.started_at = self.run.started_at or utcnow(self.clock)
        self.run.save(update_fields=["state", "tries", "started_at"])

    def extract(self) -> None:
        """Find facts in the messages, and store them."""
        found = steps.extract(self.run, self.config, self.asking)
        self.run.model = found.model
        rows = [
            ExtractedFact(
                user_id=self.run.user_id,
                run=self.run,
                number=number,
                message=found.messages[fact.turn],
                message_number=found.messages[fact.turn].number,
                content=fact.content[: steps.MAX_FACT_CHARS],
                category=fact.category.value,
                confidence=fact.confidence,
                pattern=fact.pattern[:100],
            )
            for number, fact in enumerate(found.facts[:MAX_FACTS], 1)
        ]
        with self.storing("extract", {**found.record, "beyond_limit": len(found.facts) - len(rows)}):
            ExtractedFact.objects.bulk_create(rows)

    def reconcile(self) -> None:
        """Drop what is known."""
        self.drop("reconcile", steps.reconcile(self.run, self.found(), steps.access_of(self.run)))

    def gate(self) -> None:
        """Drop what is not worth keeping."""
        self.drop("gate", steps.gate(self.found(), self.config, self.asking))

    def apply(self) -> None:
        """Write the facts, each for itself: one that fails stops no other. Raises its error at the end."""
        errors: list[Exception] = []
        for fact in self.found():
            try:
                steps.apply_fact(self.run, fact, self.clock, self.step)
            except (UserLockedError, UnavailableError):
                raise
            except Exception as error:  # noqa: BLE001
                errors.append(error)
            self.check_time()
        if errors:
            raise next((error for error in errors if has_to_wait(error)), errors[0])
        facts = list(ExtractedFact.objects.filter(run=self.run, state=FactState.APPLIED))
        actions = sorted(fact.memory_action for fact in facts)
        record = {
            "step": "apply",
            "applied": len(facts),
            "actions": {action: actions.count(action) for action in dict.fromkeys(actions)},
        }
        with self.storing("apply", record):
            pass

    def finish(self) -> None:
        """Bring the index up to date, have MEMORY.md compacted where that is wanted, and end the run."""
        record = finish(self.run, self.clock, self.step)
        self.run.state, self.run.ended_at, self.run.error = RunState.FINISHED, utcnow(self.clock), ""
        with self.storing("finish", record):
            self.run.save(update_fields=["state", "ended_at", "error"])
        for state in ExtractedFact.objects.filter(run=self.run).values_list("state", flat=True):
            metrics.FACTS.labels(state).inc()

    def found(self) -> list[ExtractedFact]:
        """Return the facts about which nothing is decided yet, in their order."""
        rows = ExtractedFact.objects.filter(run=self.run, state=FactState.FOUND)
        return list(rows.select_related("message").order_by("number"))

    def drop(self, stage: str, verdicts: steps.Verdicts) -> None:
        """Store what a step decided about facts."""
        with self.storing(stage, verdicts.record):
            for key, reason in verdicts.dropped.items():
                ExtractedFact.objects.filter(pk=key).update(state=FactState.DROPPED, reason=reason[:200])

    @contextmanager
    def storing(self, stage: str, record: dict[str, Any]) -> Iterator[None]:
        """Store the outcome of a step together with what the block writes."""
        with transaction.atomic():
            hold_users([self.run.user_id])
            yield
            self.run.stage = stage
            self.run.steps = [*self.run.steps, {**record, "at": utcnow(self.clock).isoformat()}]
            # None where no model was asked, or the price is unknown, which the record says.
            self.run.cost_usd += Decimal(record.get("by_model", {}).get("model", {}).get("cost_usd") or 0)
            self.run.save(update_fields=["stage", "steps", "model", "cost_usd"])

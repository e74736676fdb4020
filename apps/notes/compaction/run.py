"""Asking for a compaction, and one in the worker: reads MEMORY.md, asks the model, and records the draft.

No lock and no transaction is held while the model works. A run that is killed is begun again with the text as it is
then; what was paid for and not recorded is paid for once more, and nothing is applied twice.
"""

import time
import zlib
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django_q.tasks import async_task

from apps.core.db.session_locks import try_session_lock
from apps.core.db.user_locks import UserLockedError, hold_users
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import MemoryHubError
from apps.core.domain.randomness import RNG, SYSTEM_RNG
from apps.core.steps import Step, no_step
from apps.llm.domain.chat import ChatProvider
from apps.notes.compaction.decide import NEWER_DETAIL, STALE, compaction_apply
from apps.notes.domain.compaction.draft import (
    Draft,
    DraftAnswer,
    FactAction,
    LastCompaction,
    choose_facts,
    count_facts,
    draft_request,
    make_draft,
    should_compact,
)
from apps.notes.domain.places import MAIN
from apps.notes.domain.text import digest
from apps.notes.files.changes import note_read, require_utf8
from apps.notes.files.config import config_of
from apps.notes.gateway.ask import Asking, ModelUse, ask_model
from apps.notes.metrics import COMPACTIONS
from apps.notes.models import Compaction, CompactionState

TASK = "apps.notes.tasks.compact"
# A task that has not ended after so long was lost; longer than django-q2 waits before it begins one again.
LOST_AFTER = timedelta(minutes=20)
PURPOSE = "compact"
MAX_TRIES = 3
DEADLINE_MS = 300_000
NO_FACTS, NOTHING_SHORTER, INTERRUPTED, ERROR = "no_facts", "nothing_shorter", "interrupted", "error"
# Where a kill may interrupt a run.
RUN_STEPS = ("read", "answered", "recorded")
_LOCK = 0x6E_6F74


@transaction.atomic
def compaction_request(user_id: str, *, actor: str, automatic: bool = False, clock: Clock = SYSTEM_CLOCK) -> Compaction:
    """Enqueue a compaction of a user's MEMORY.md, and return it; one that is under way is returned instead.

    Raises UserLockedError.
    """
    hold_users([user_id])
    now = utcnow(clock)
    compaction, is_new = Compaction.objects.get_or_create(
        user_id=user_id,
        state=CompactionState.ASKED,
        defaults={"actor": actor, "automatic": automatic, "created_at": now},
    )
    if is_new or compaction.created_at < now - LOST_AFTER:
        async_task(TASK, str(compaction.uuid), task_name="notes: compact", save=False)
    return compaction


def compaction_request_due(user_id: str, *, actor: str, clock: Clock = SYSTEM_CLOCK) -> Compaction | None:
    """Enqueue a compaction if the user has turned it on and MEMORY.md is long enough (spec 001, compaction trigger).

    Called after an extraction. Returns None where none is due. Raises UserLockedError, ConflictError, UnavailableError.
    """
    config = config_of(user_id)
    if not config.llm_compaction_enabled:
        return None
    note = note_read(user_id, MAIN, clock=clock)
    # The last one that has read the text.
    row = Compaction.objects.filter(user_id=user_id).exclude(base_sha256="").newest_first().first()
    last = None
    if row is not None:
        facts = row.facts_after if row.state == CompactionState.APPLIED else row.facts_before
        last = LastCompaction(frozenset({row.base_sha256, row.draft_sha256}), facts)
    if not should_compact(config, note.text or b"", note.sha256, last):
        return None
    return compaction_request(user_id, actor=actor, automatic=True, clock=clock)


def compaction_run(
    uuid: UUID,
    *,
    providers: Sequence[ChatProvider] | None = None,
    clock: Clock = SYSTEM_CLOCK,
    rng: RNG = SYSTEM_RNG,
    sleep: Callable[[float], None] = time.sleep,
    step: Step = no_step,
) -> Compaction | None:
    """Draft a compaction that was asked for, and apply it where the user's settings say so. Return it as it is then.

    None where there is nothing to do: it has ended, another process is at it, or its user is being forgotten. Call it
    outside a transaction. providers: None for the configured ones.
    """
    row = Compaction.objects.filter(uuid=uuid).first()
    if row is None or row.state not in (CompactionState.ASKED, CompactionState.DRAFTED):
        return None
    if row.state == CompactionState.ASKED:
        with try_session_lock(_LOCK, row.pk) as is_ours:
            if not is_ours:
                return None
            asking = Asking(row.user_id, row.actor, DEADLINE_MS, providers, clock, rng, sleep)
            try:
                draft_compaction(row, asking, step)
            except UserLockedError:
                return None
            except Exception:
                end(
                    row, CompactionState.FAILED, asking, code=ERROR, detail="A fault of the hub: its log has the cause."
                )
                raise
        step("recorded")
        row = Compaction.objects.filter(pk=row.pk).first()
    return None if row is None else apply_by_setting(row, clock)


def draft_compaction(row: Compaction, asking: Asking, step: Step) -> None:
    """Read MEMORY.md, ask the model, and record what came of it. Raises UserLockedError."""
    if row.tries >= MAX_TRIES:
        end(row, CompactionState.FAILED, asking, code=INTERRUPTED, detail="The compaction was interrupted each time.")
        return
    try:
        note = note_read(row.user_id, MAIN, clock=asking.clock)
        require_utf8(note)
        name = config_of(row.user_id).llm_compaction_model
    except UserLockedError:
        raise
    except MemoryHubError as error:
        end(row, CompactionState.FAILED, asking, code=error.code, detail=error.detail)
        return
    text = note.text or b""
    facts, before = choose_facts(text), count_facts(text)
    update(row, base_sha256=note.sha256, facts_before=before, facts_after=before, tries=row.tries + 1)
    if not facts:
        end(row, CompactionState.UNCHANGED, asking, code=NO_FACTS, detail="MEMORY.md has no fact that can be shorter.")
        return
    step("read")
    answer, use = ask_model(asking, ModelUse(name), PURPOSE, draft_request(facts, asking.rng), DraftAnswer)
    step("answered")
    if answer is None:
        end(row, CompactionState.FAILED, asking, use, code=use.code, detail=use.detail)
        return
    draft = make_draft(text, facts, answer)
    if draft.text == text:
        code, detail = NOTHING_SHORTER, "Nothing of the model's answer makes MEMORY.md shorter."
        end(row, CompactionState.UNCHANGED, asking, use, draft, code=code, detail=detail)
    else:
        end(row, CompactionState.DRAFTED, asking, use, draft)


def end(
    row: Compaction,
    state: CompactionState,
    asking: Asking,
    use: ModelUse | None = None,
    draft: Draft | None = None,
    **fields: Any,
) -> None:
    """Record how a run ended. Raises UserLockedError."""
    if draft is not None:
        fields["facts"] = [change.as_json() for change in draft.changes]
    if draft is not None and state == CompactionState.DRAFTED:
        fields["draft"] = zlib.compress(draft.text)
        fields["draft_sha256"] = digest(draft.text)
        fields["facts_after"] = count_facts(draft.text)
    fields["model_use"] = {} if use is None else use.as_json()
    update(row, state=state, drafted_at=utcnow(asking.clock), **fields)
    COMPACTIONS.labels(state.value).inc()


@transaction.atomic
def update(row: Compaction, **fields: Any) -> None:
    """Write fields of a compaction that is under way. Of a user who was forgotten there is no row, and none is made.

    A new draft takes the place of those that wait. Raises UserLockedError.
    """
    hold_users([row.user_id])
    is_there = Compaction.objects.filter(pk=row.pk, state=CompactionState.ASKED).update(**fields)
    if is_there and fields.get("state") == CompactionState.DRAFTED:
        former = Compaction.objects.filter(user_id=row.user_id, state=CompactionState.DRAFTED).exclude(pk=row.pk)
        former.update(state=CompactionState.STALE, code=STALE, detail=NEWER_DETAIL)


def apply_by_setting(row: Compaction, clock: Clock) -> Compaction:
    """Apply a new draft where the user's settings say so, and nothing is dropped by it: that is for a person.

    What keeps it from being applied is in its `code`; the draft waits.
    """
    if row.state != CompactionState.DRAFTED or any(fact["action"] == FactAction.DROPPED for fact in row.facts):
        return row
    try:
        if config_of(row.user_id).llm_compaction_auto_apply:
            return compaction_apply(row.uuid, actor=row.actor, clock=clock)
    except MemoryHubError as error:
        Compaction.objects.filter(pk=row.pk).update(code=error.code, detail=error.detail[:500])
        row.refresh_from_db()
    return row

"""When facts are extracted from a conversation, and when they are kept before its context is compacted (spec 001)."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from apps.notes.domain.settings import MemoryConfig


class EventType(StrEnum):
    """What a chat application says of a conversation."""

    IDLE = "stream:idle"
    USAGE = "session.usage_info"
    COMPACTION_START = "session.compaction_start"
    COMPACTION_END = "session.compaction_end"
    END = "session.end"


class SkipReason(StrEnum):
    """Why nothing is extracted from a conversation now."""

    DISABLED = "disabled"
    AUTO_EXTRACT_OFF = "auto_extract_off"
    NOTHING_NEW = "nothing_new"
    TOO_FEW_MESSAGES = "too_few_messages"
    TOO_SOON = "too_soon"
    BELOW_THRESHOLD = "below_threshold"
    ALREADY_FLUSHED = "already_flushed"


@dataclass(frozen=True, slots=True)
class ConversationState:
    """What is known of a conversation when an event comes in.

    new_messages: from which nothing was extracted yet. context_use: as a share, None where nothing is known.
    """

    new_messages: int
    last_extraction_at: datetime | None
    context_use: float | None
    is_flushed: bool


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether facts are extracted now; if not, why, from when on, and how many messages are missing."""

    reason: SkipReason | None = None
    next_at: datetime | None = None
    missing_messages: int = 0

    @property
    def is_extracted(self) -> bool:
        """Return whether a run begins."""
        return self.reason is None


def decide_turn(config: MemoryConfig, state: ConversationState, now: datetime) -> Decision:
    """Decide about the end of a turn: throttled by time and by new messages."""
    if off := decide_switch(config):
        return off
    next_at = None
    if state.last_extraction_at is not None:
        allowed_at = state.last_extraction_at + timedelta(seconds=config.extract_interval_seconds)
        next_at = allowed_at if allowed_at > now else None
    missing = max(config.min_new_messages, 1) - state.new_messages
    if missing > 0:
        reason = SkipReason.TOO_FEW_MESSAGES if state.new_messages else SkipReason.NOTHING_NEW
        return Decision(reason, next_at, missing)
    return Decision(SkipReason.TOO_SOON, next_at) if next_at is not None else Decision()


def decide_end(config: MemoryConfig, state: ConversationState) -> Decision:
    """Decide about the end of a conversation: what is left is extracted, without throttle."""
    return decide_switch(config) or decide_left(state)


def decide_flush(config: MemoryConfig, state: ConversationState, *, is_last_chance: bool) -> Decision:
    """Decide about a flush: once in each cycle of compaction, from a use of the context on or as a last chance.

    Where nothing is new nothing is flushed, and a later event of the same cycle may flush what came in since.
    """
    if off := decide_switch(config):
        return off
    if state.is_flushed:
        return Decision(SkipReason.ALREADY_FLUSHED)
    is_full = state.context_use is not None and state.context_use >= config.flush_threshold
    return decide_left(state) if is_last_chance or is_full else Decision(SkipReason.BELOW_THRESHOLD)


def begins_cycle(config: MemoryConfig, context_use: float | None) -> bool:
    """Return whether the use of a context that was flushed says that it was compacted: less than half of the threshold.

    So a `session.compaction_end` that never comes does not end the flushes of a conversation.
    """
    return context_use is not None and context_use < config.flush_threshold / 2


def decide_switch(config: MemoryConfig) -> Decision | None:
    """Return the refusal of a person who has switched memory or its extraction off; None where both are on."""
    if not config.enabled:
        return Decision(SkipReason.DISABLED)
    return None if config.auto_extract else Decision(SkipReason.AUTO_EXTRACT_OFF)


def decide_left(state: ConversationState) -> Decision:
    """Decide by whether there are messages from which nothing was extracted."""
    return Decision() if state.new_messages else Decision(SkipReason.NOTHING_NEW, missing_messages=1)

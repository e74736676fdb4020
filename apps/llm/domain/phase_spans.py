"""The phases of a circuit breaker over a span of time."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from apps.llm.domain.breaker import Phase


@dataclass(frozen=True)
class PhaseChange:
    """A change of phase at a moment."""

    at: datetime
    phase: Phase
    previous: Phase


@dataclass(frozen=True)
class PhaseSpan:
    """A phase from one moment to another."""

    phase: Phase
    start: datetime
    end: datetime


def phase_spans(changes: Sequence[PhaseChange], current: Phase, start: datetime, end: datetime) -> list[PhaseSpan]:
    """Return the phases between two moments, without gaps. changes: within them, the oldest first. current: at the end.

    Before the first change it had that change's previous phase; without a change it was always as it is.
    """
    moments = [start, *(change.at for change in changes), end]
    phases = [changes[0].previous if changes else current, *(change.phase for change in changes)]
    spans = (PhaseSpan(phase, moments[place], moments[place + 1]) for place, phase in enumerate(phases))
    return [span for span in spans if span.start < span.end]

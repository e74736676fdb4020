"""What the benchmark measures of the timeline: recording in batches, archiving, and windows of one user."""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any
from uuid import uuid4

import psutil

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Scope, system_access
from apps.episodic.domain.event import EventDraft
from apps.episodic.domain.window import EventQuery
from apps.episodic.selectors import events_query, timeline_figures
from apps.episodic.services import events_record, timeline_maintain
from apps.episodic.store.file_cache import archive_cache
from benchmarks.api import Figures, HubClient, Say, bench_key
from benchmarks.texts import synthetic_texts

USERS = 1_000
YEAR = timedelta(days=365)
WEEK = timedelta(days=7)
BATCH = 1_000
EVENT_TYPES = ("message", "visit", "call", "purchase", "walk")
WARM_UP = 20
_MAINTENANCES = 10_000


@dataclass
class TimelineMeasurement:
    """One run against a running hub: `events` of USERS users, spread evenly over the last year.

    They belong to users of their own and stay: for a hub that is made to be measured.
    """

    url: str
    events: int
    calls: int
    say: Say

    def run(self) -> dict[str, Any]:
        """Return all figures of the timeline."""
        household = f"bench-{uuid4()}"
        self._now = utcnow(SYSTEM_CLOCK)
        return {
            "events": self.events,
            "users": USERS,
            "record": self._record(household),
            "archive": self.archive(),
            "late": self.record_late(household),
            "week_in_process": self._windows(household),
            "week_http": self.windows_over_http(household),
        }

    def _record(self, household: str) -> dict[str, float]:
        self.say(f"Recording {self.events} events in batches of {BATCH}")
        times = [timed(batch) for batch in _batches(self.drafts(household))]
        return {
            "per_second": round(self.events / sum(times), 1),
            "batch_p50_ms": round(sorted(times)[len(times) // 2] * 1000, 1),
            "batch_max_ms": round(max(times) * 1000, 1),
        }

    def drafts(self, household: str) -> Iterator[EventDraft]:
        """Yield events in the order of time, one user after the other."""
        texts = synthetic_texts(5_000, seed=22)
        step = YEAR / self.events
        for number in range(self.events):
            yield self.draft(household, number, self._now - YEAR + number * step, texts[number % len(texts)])

    def draft(self, household: str, number: int, moment: datetime, text: str) -> EventDraft:
        return EventDraft(
            timestamp=moment,
            event_type=EVENT_TYPES[number % len(EVENT_TYPES)],
            content=text,
            scope=Scope(f"{household}-{number % USERS}", household),
        )

    def archive(self) -> dict[str, float]:
        """Archive all that may be archived; return how long it takes, and the memory that its index needs."""
        self.say("Archiving what may be archived")
        started = time.perf_counter()
        for _ in range(_MAINTENANCES):
            report = timeline_maintain(wait_seconds=600)
            if report.finished and not (report.sealed or report.archived or report.merged):
                break
        seconds = time.perf_counter() - started
        before = psutil.Process().memory_info().rss
        loading = _seconds(lambda: archive_cache().refresh(wait=True))
        figures = timeline_figures()
        return {
            "seconds": round(seconds, 1),
            "archived_share": round(figures.archived / max(figures.archived + figures.hot, 1), 4),
            "bytes_per_event": round(figures.archive_bytes / max(figures.archived, 1), 1),
            "index_bytes": archive_cache().nbytes,
            "index_bytes_per_event": round(archive_cache().nbytes / max(figures.archived, 1), 2),
            "load_ms": round(loading * 1000, 1),
            "resident_growth_mb": round((psutil.Process().memory_info().rss - before) / 1e6, 1),
        }

    def record_late(self, household: str) -> dict[str, float]:
        """Record events of a year ago, half of them recorded before: each is searched for among the archived ones."""
        self.say("Recording late events")
        texts = synthetic_texts(5_000, seed=22)
        step = YEAR / self.events
        drafts = [
            self.draft(household, n, self._now - YEAR + n * step, texts[n % len(texts)] if n % 2 else "a late one")
            for n in range(min(BATCH * 10, self.events))
        ]
        times = [timed(batch) for batch in _batches(iter(drafts))]
        return {"per_second": round(len(drafts) / sum(times), 1)}

    def queries(self, household: str) -> Iterator[tuple[str, datetime]]:
        """Yield users and the beginnings of weeks, the same in every run."""
        chance = random.Random(23)  # noqa: S311
        for _ in range(self.calls + WARM_UP):
            yield f"{household}-{chance.randrange(USERS)}", self._now - WEEK - chance.random() * (YEAR - WEEK)

    def _windows(self, household: str) -> dict[str, float]:
        self.say("Asking for a week of one user, in process")
        access = system_access("bench")
        queries = [
            EventQuery(scope=Scope(user), start=start, end=start + WEEK) for user, start in self.queries(household)
        ]
        times = [_seconds(lambda query=query: events_query(access, query)) for query in queries]  # type: ignore[misc]
        return Figures(times[WARM_UP:]).as_json()

    def windows_over_http(self, household: str) -> dict[str, float]:
        self.say("The same over HTTP")
        with bench_key() as key:
            client = HubClient(self.url, key)
            bodies = [
                {"user_id": user, "from": start.isoformat(), "to": (start + WEEK).isoformat()}
                for user, start in self.queries(household)
            ]
            times = [client.post("/api/episodic/query", body) for body in bodies]
        return Figures(times[WARM_UP:]).as_json()


def _batches(drafts: Iterator[EventDraft]) -> Iterator[Sequence[EventDraft]]:
    while batch := list(islice(drafts, BATCH)):
        yield batch


def timed(batch: Sequence[EventDraft]) -> float:
    return _seconds(lambda: events_record(access=system_access("bench"), drafts=batch))


def _seconds(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started

"""The sources of the stream, each read in windows of a known size, so that no page walks through a whole table."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import TruncMinute
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django_q.models import Task

from apps.audit.selectors import entries
from apps.cockpit.activity import outbox
from apps.cockpit.activity.phrases import ACT
from apps.cockpit.domain.activity import Entry, Places
from apps.core.domain.scope import Access
from apps.core.pages.lists import listed
from apps.events.selectors import Event
from apps.llm.selectors import ModelCall
from apps.notes.selectors import NoteVersion

# What hub events, versions of notes and their own tables say already.
SAID_ELSEWHERE = (
    "memory.", "memories.", "conflict.", "conflicts.", "decisions.", "rule.", "rules.", "merge_rule.", "event.",
    "events.", "timeline_event.", "note.", "notes.", "note_version.", "sync.", "model_call.",
)  # fmt: skip
TONES = {"refused": "warn", "failed": "bad"}
# So many rows of a source are searched for a page, and so many of them are read at most.
WINDOW = 20_000
LIMIT = 1_000
# So many of the newest rows of a source are counted for the histogram.
COUNTED = 100_000
MAX_NEW = 100
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


def audit_rows(access: Access) -> QuerySet[Any]:
    """Return the entries that the viewer may see, and that nothing else says."""
    said = Q()
    for prefix in SAID_ELSEWHERE:
        said |= Q(action__startswith=prefix)
    return entries(access).exclude(said)


def audit_entries(rows: QuerySet[Any]) -> Iterable[Entry]:
    """Return entries of the audit as entries of the stream; details stay on the pages of the audit."""
    for row in rows.values("id", "at", "actor_kind", "actor", "action", "outcome", "user_id"):
        yield Entry(
            at=row["at"],
            source="audit",
            position=row["id"],
            kind="access",
            verb=f"{ACT}{row['outcome']}",
            actor="" if row["actor_kind"] == "hub" else f"{row['actor_kind']}:{row['actor'].removeprefix('person:')}",
            person=row["user_id"],
            words=row["action"],
            tone=TONES.get(row["outcome"], ""),
        )


NOTE_WORDS = {
    "append": _("added to a note"),
    "edit": _("edited the note"),
    "restore": _("restored a note"),
    "found": _("changed a note on disk"),
    "kept": _("lost text in a note to another change"),
    "delete": _("deleted a note"),
    "rename": _("renamed a note"),
}


@dataclass(frozen=True, kw_only=True)
class AskedEntries:
    """What is asked for. kinds: that the viewer may see. actors: as they are stored. start, end: the span of time."""

    access: Access
    kinds: frozenset[str]
    start: datetime
    end: datetime
    actors: tuple[str, ...] = ()
    person: str = ""


@dataclass(frozen=True)
class SourceEntries:
    """Entries of a source, the latest first.

    reached: how far back it was read, None to its end. floor: the position that it continues below when all entries
    are taken; None when it continues below the last of them.
    """

    entries: list[Entry] = field(default_factory=list)
    reached: datetime | None = None
    floor: int | None = None


@dataclass(frozen=True, kw_only=True)
class Source:
    """A table. rows: what the viewer may see of it, unless it is nothing. at: the column of the time.

    position: the column that rises with arrival. narrow: keeps the rows that were asked for. entries: makes them.
    """

    name: str
    rows: Callable[[AskedEntries], QuerySet[Any] | None]
    narrow: Callable[[QuerySet[Any], AskedEntries], QuerySet[Any]]
    entries: Callable[[QuerySet[Any]], Iterable[Entry]]
    at: str
    position: str = "id"

    def spanned(self, asked: AskedEntries) -> QuerySet[Any] | None:
        """Return the rows of the span of time, the latest first; None where the viewer may see none."""
        rows = self.rows(asked)
        if rows is None:
            return None
        span = {f"{self.at}__gte": asked.start, f"{self.at}__lt": asked.end}
        return rows.filter(**span).order_by(f"-{self.position}")

    def edge(self, rows: QuerySet[Any], size: int) -> tuple[Any, datetime] | None:
        """Return position and time of the row below a window of the newest rows; None when it holds them all."""
        found: tuple[Any, datetime] | None = rows.values_list(self.position, self.at)[size : size + 1].first()
        return found

    def read(self, asked: AskedEntries, before: int | None) -> SourceEntries:
        """Return the entries below a position."""
        rows = self.spanned(asked)
        if rows is None:
            return SourceEntries()
        if before is not None:
            rows = rows.filter(**{f"{self.position}__lt": self.stored(before)})
        edge = self.edge(rows, WINDOW)
        wanted = self.narrow(rows, asked)
        if edge is not None:
            wanted = wanted.filter(**{f"{self.position}__gt": edge[0]})
        entries = list(self.entries(wanted[: LIMIT + 1]))
        if len(entries) > LIMIT:
            return SourceEntries(entries[:LIMIT], entries[LIMIT - 1].at)
        return SourceEntries(entries) if edge is None else SourceEntries(entries, edge[1], self.shown(edge[0]) + 1)

    def count_by_minute(self, asked: AskedEntries) -> tuple[Counter[datetime], datetime | None]:
        """Return how many rows there are in each minute, and since when they are counted; None for all."""
        rows = self.spanned(asked)
        if rows is None:
            return Counter(), None
        edge = self.edge(rows, COUNTED)
        wanted = self.narrow(rows, asked)
        if edge is not None:
            wanted = wanted.filter(**{f"{self.position}__gt": edge[0]})
        minutes = wanted.order_by().annotate(minute=TruncMinute(self.at)).values_list("minute").annotate(Count("pk"))
        return Counter(dict(minutes)), edge[1] if edge else None

    def count_new(self, asked: AskedEntries, after: int) -> int:
        """Return how many rows came after a position, at most MAX_NEW."""
        rows = self.rows(asked)
        if rows is None:
            return 0
        newer = rows.filter(**{f"{self.position}__gt": self.stored(after)}).order_by(self.position)
        window = newer.values_list(self.position, flat=True)[COUNTED : COUNTED + 1].first()
        wanted = self.narrow(newer, asked)
        if window is not None:
            wanted = wanted.filter(**{f"{self.position}__lt": window})
        return wanted.order_by().values("pk")[:MAX_NEW].count()

    def newest(self, asked: AskedEntries) -> int | None:
        """Return the position of the newest row; None where the viewer may see none."""
        rows = self.rows(asked)
        if rows is None:
            return None
        found = rows.order_by(f"-{self.position}").values_list(self.position, flat=True).first()
        return 0 if found is None else self.shown(found)

    def stored(self, position: int) -> Any:
        """Return a position as the column has it."""
        return position if self.position == "id" else EPOCH + position * MICROSECOND

    def shown(self, position: Any) -> int:
        """Return a position as an address has it: an id, or microseconds since 1970."""
        return int(position) if self.position == "id" else (position - EPOCH) // MICROSECOND


def outbox_rows(asked: AskedEntries) -> QuerySet[Any] | None:
    """Return the hub events inside the bound of the viewer; those without a scope are for the others."""
    if not outbox.names_of(asked.kinds):
        return None
    return Event.objects.filter(**{f"payload__{name}": value for name, value in asked.access.bound.named().items()})


def narrow_outbox(rows: QuerySet[Any], asked: AskedEntries) -> QuerySet[Any]:
    """Keep the hub events of these kinds, actors and persons."""
    rows = rows.filter(name__in=outbox.names_of(asked.kinds))
    if asked.person:
        rows = rows.filter(payload__user_id=asked.person)
    return rows.filter(payload__actor__in=asked.actors) if asked.actors else rows


def outbox_entries(rows: QuerySet[Any]) -> Iterable[Entry]:
    """Return hub events as entries, without what a person wrote."""
    fields = {f"p_{name}": KeyTextTransform(name, "payload") for name in outbox.FIELDS}
    return map(outbox.entry_of, rows.values("id", "name", "created_at", **fields))


def note_rows(asked: AskedEntries) -> QuerySet[Any] | None:
    """Return the versions of notes that the viewer may see: notes belong to a person as a whole."""
    bound = asked.access.bound
    if "notes" not in asked.kinds or bound.household_id is not None or bound.persona_id is not None:
        return None
    return NoteVersion.objects.all().visible_to(asked.access)


def note_entries(rows: QuerySet[Any]) -> Iterable[Entry]:
    """Return versions of notes as entries."""
    for row in rows.values("id", "at", "kind", "author", "user_id"):
        yield Entry(
            at=row["at"],
            source="notes",
            position=row["id"],
            kind="notes",
            verb="note",
            actor=row["author"],
            person=row["user_id"],
            subject=str(row["id"]),
            words=str(NOTE_WORDS.get(row["kind"]) or gettext("changed a note")),
        )


def by_columns(actor: str, person: str) -> Callable[[QuerySet[Any], AskedEntries], QuerySet[Any]]:
    """Return how rows with columns of these names are narrowed."""

    def narrow(rows: QuerySet[Any], asked: AskedEntries) -> QuerySet[Any]:
        if asked.person:
            rows = rows.filter(**{person: asked.person})
        return rows.filter(**{f"{actor}__in": asked.actors}) if asked.actors else rows

    return narrow


def call_entries(rows: QuerySet[Any]) -> Iterable[Entry]:
    """Return calls of chat models as entries."""
    columns = ("id", "started_at", "outcome", "guard", "reason", "actor", "user_id", "purpose", "uuid")
    for row in rows.values(*columns):
        why = outbox.words_of(row["guard"] or row["reason"])
        details = listed(filter(None, (outbox.words_of(row["purpose"]), why)))
        said = gettext("had a model call %(outcome)s (%(details)s)")
        yield Entry(
            at=row["started_at"],
            source="calls",
            position=row["id"],
            kind="models",
            verb="called",
            actor=row["actor"],
            person=row["user_id"],
            subject=str(row["id"]),
            words=said % {"outcome": outbox.words_of(row["outcome"]), "details": details},
            tone="warn" if row["outcome"] == "refused" else "bad",
        )


def job_entries(rows: QuerySet[Any]) -> Iterable[Entry]:
    """Return failed jobs as entries, named by what they do."""
    for row in rows.values("id", "stopped", "func"):
        yield Entry(
            at=row["stopped"],
            source="jobs",
            position=(row["stopped"] - EPOCH) // MICROSECOND,
            kind="jobs",
            verb="failed",
            subject=row["id"],
            words=row["func"].removeprefix("apps.").replace(".tasks.", ": ").replace("_", " "),
            tone="bad",
        )


SOURCES = (
    Source(name="outbox", rows=outbox_rows, narrow=narrow_outbox, entries=outbox_entries, at="created_at"),
    Source(name="notes", rows=note_rows, narrow=by_columns("author", "user_id"), entries=note_entries, at="at"),
    Source(
        name="calls",
        rows=lambda asked: ModelCall.objects.exclude(outcome="succeeded") if "models" in asked.kinds else None,
        narrow=by_columns("actor", "user_id"),
        entries=call_entries,
        at="started_at",
    ),
    Source(
        name="audit",
        rows=lambda asked: audit_rows(asked.access) if "access" in asked.kinds else None,
        narrow=by_columns("actor", "user_id"),
        entries=audit_entries,
        at="at",
    ),
    # A job has neither an actor nor a person.
    Source(
        name="jobs",
        rows=lambda asked: Task.objects.filter(success=False) if "jobs" in asked.kinds else None,
        narrow=lambda rows, asked: rows.none() if asked.actors or asked.person else rows,
        entries=job_entries,
        at="stopped",
        position="stopped",
    ),
)


def count_new(asked: AskedEntries, places: Places) -> int:
    """Return how many rows are newer than these places; more than MAX_NEW are not counted."""
    counts = (source.count_new(asked, after) for source in SOURCES if (after := places.before(source.name)) is not None)
    return min(sum(counts), MAX_NEW)

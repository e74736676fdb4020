"""What the entries of a page are about: the first words of each object that the viewer may open, and where it is."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from urllib.parse import urlencode
from uuid import UUID

from django.db.models.functions import Left
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.cockpit.domain.activity import Group
from apps.core.admin.kit import operator_access
from apps.core.words import Words
from apps.episodic.selectors import event_beginnings
from apps.semantic.selectors import Conflict, Memory, MemoryStatus, ReviewState

CHARS = 90
# What reverting a decision would change; the page of the receipt says what.
NOT_UNDONE = {"noticed", "reverted"}


@dataclass(frozen=True)
class Object:
    """An object of an entry. undo: where it can be undone, empty for nowhere. status: when it is not the usual one."""

    words: str
    url: str
    undo: str = ""
    status: str = ""


Objects = dict[tuple[str, str], Object]


def objects_of(request: HttpRequest, groups: Iterable[Group]) -> Objects:
    """Return the objects that the entries name, by kind and subject: one query for each kind of row."""
    named = [entry for group in groups for entry in group.named]
    found: Objects = {}
    for kind, find in FINDERS.items():
        if subjects := list(dict.fromkeys(entry.subject for entry in named if entry.kind == kind)):
            found |= {(kind, subject): one for subject, one in find(request, subjects)}
    return found


def memories(request: HttpRequest, subjects: list[str]) -> Iterable[tuple[str, Object]]:
    """Yield the memories of these ids."""
    rows = Memory.objects.all().visible_to(operator_access(request)).filter(uuid__in=ids(subjects))
    for uuid, pk, words, status in rows.values_list("uuid", "pk", Left("content", CHARS), "status"):
        status = "" if status == "active" else gettext(MemoryStatus(status).label).lower()
        yield str(uuid), Object(shorten(words), reverse("admin:semantic_memory_change", args=[pk]), status=status)


def decisions(request: HttpRequest, subjects: list[str]) -> Iterable[tuple[str, Object]]:
    """Yield the receipts of these ids; the words of memories are for those who may see memories."""
    may_read = request.user.has_perm("semantic.view_memory")
    may_undo = request.user.has_perm("semantic.change_conflict")
    rows = Conflict.objects.all().visible_to(operator_access(request)).filter(uuid__in=ids(subjects))
    columns = ("uuid", "outcome", "state", Left("candidate__content", CHARS))
    for uuid, outcome, state, words in rows.values_list(*columns):
        url = reverse("admin:semantic_conflict_change", args=[uuid])
        is_undone = not may_undo or outcome in NOT_UNDONE or state not in ("open", "accepted")
        status = "" if state == "open" else gettext(ReviewState(state).label).lower()
        yield (
            str(uuid),
            Object(shorten(words) if may_read else gettext("Receipt"), url, "" if is_undone else url, status),
        )


def events(request: HttpRequest, subjects: list[str]) -> Iterable[tuple[str, Object]]:
    """Yield the events of these ids that are rows still."""
    for one in event_beginnings(operator_access(request), ids(subjects), CHARS):
        yield (
            str(one.uuid),
            Object(shorten(one.beginning), reverse("admin:episodic_timelineevent_change", args=[one.pk])),
        )


def by_key(page: str, words: Words) -> Callable[[HttpRequest, list[str]], Iterable[tuple[str, Object]]]:
    """Return how objects are found whose key is known: without a query."""

    def find(request: HttpRequest, subjects: list[str]) -> Iterable[tuple[str, Object]]:
        return [(subject, Object(str(words), reverse(page, args=[subject]))) for subject in subjects]

    return find


def by_search(page: str, words: Words) -> Callable[[HttpRequest, list[str]], Iterable[tuple[str, Object]]]:
    """Return how objects are found by searching their list."""

    def find(request: HttpRequest, subjects: list[str]) -> Iterable[tuple[str, Object]]:
        return [(subject, Object(str(words), f"{reverse(page)}?{urlencode({'q': subject})}")) for subject in subjects]

    return find


FINDERS: dict[str, Callable[[HttpRequest, list[str]], Iterable[tuple[str, Object]]]] = {
    "memories": memories,
    "decisions": decisions,
    "timeline": events,
    "notes": by_key("admin:notes_noteversion_change", _("Version")),
    "models": by_key("admin:llm_modelcall_change", _("Call")),
    "jobs": by_key("admin:django_q_failure_change", _("Report")),
    "rules": by_search("admin:rules_mergerule_changelist", _("Rule")),
    "knowledge": by_search("admin:sync_syncrun_changelist", _("Syncs")),
}


def ids(subjects: Iterable[str]) -> list[UUID]:
    """Return those subjects that are ids."""
    found = []
    for subject in subjects:
        try:
            found.append(UUID(subject))
        except ValueError:
            continue
    return found


def shorten(words: str) -> str:
    """Return the first words of a text on one line."""
    line = " ".join(words.split())
    return f"{line}…" if len(words) == CHARS else line or gettext("no words")

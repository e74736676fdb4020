"""The store of what keys received: the answers with something of a person in them."""

from collections.abc import Iterator, Sequence
from uuid import NAMESPACE_URL, UUID, uuid5

from django.db.models import Q, QuerySet

from apps.core.db.user_locks import hold_users
from apps.core.personal.columns import Columns
from apps.core.personal.erase import names_user, naming
from apps.core.personal.registry import register_stores
from apps.core.personal.store import ExportRequest, Line, LineError, UserTable
from apps.given.domain.given import AnswerKind
from apps.given.models import GivenAnswer
from apps.given.recording import given_answers

GIVEN, COUNTED = "given_answer", "memory_use"


class GivenStore(UserTable):
    """What keys received of a person; and of others, by a key or in a run that has the person's name."""

    name = "given_answers"
    order = 22
    models = (GivenAnswer,)
    # The second is in exports of hubs that only counted.
    kinds = (GIVEN, COUNTED)

    def export(self, asked: ExportRequest) -> Iterator[Line]:
        """Yield what was given of the scope, the oldest first; nothing where a filter is given."""
        if asked.filters:
            return
        columns = Columns(GivenAnswer)
        for row in GivenAnswer.objects.all().in_scope(asked.scope).order_by("at", "uuid", "pk").iterator(1_000):
            yield {"kind": GIVEN, **columns.values(row)}

    def load(self, lines: Sequence[Line]) -> int:
        """Write what the hub does not have. Raises LineError."""
        columns = Columns(GivenAnswer)
        rows = [
            last_use(place, line) if line["kind"] == COUNTED else GivenAnswer(**columns.read_at(place, line))
            for place, line in enumerate(lines)
        ]
        hold_users({row.user_id for row in rows})
        before = GivenAnswer.objects.count()
        GivenAnswer.objects.bulk_create(rows, ignore_conflicts=True)
        return GivenAnswer.objects.count() - before

    def rows_of(self, user_id: str) -> Iterator[QuerySet[GivenAnswer]]:
        """Yield those with something of the user, or with their name."""
        yield GivenAnswer.objects.filter(Q(user_id=user_id) | Q(pk__in=named_elsewhere(user_id)))

    def drop_caches(self) -> None:
        """Drop what waits to be written."""
        given_answers().drop()


def last_use(place: int, line: Line) -> GivenAnswer:
    """Return the last answer with a memory, of an export that only counted them. Raises LineError."""
    columns = Columns(GivenAnswer)
    try:
        memory, app, at = UUID(line["memory"]), line["app"], line["last_at"]
        uuid = uuid5(NAMESPACE_URL, f"{memory} {app} {at}")
    except (KeyError, ValueError, TypeError, AttributeError):
        raise LineError(place, "memory, app and last_at are needed") from None
    made = {"uuid": str(uuid), "user_id": line.get("user_id"), "app": app, "asked": AnswerKind.SEARCH.value, "at": at}
    return GivenAnswer(**columns.read_at(place, {**made, "memories": [str(memory)]}))


def named_elsewhere(user_id: str) -> list[int]:
    """Return the keys of rows of others whose application or run has a user's name in its own."""
    pattern = naming(user_id)
    others = GivenAnswer.objects.exclude(user_id=user_id).filter(Q(app__regex=pattern) | Q(run_id__regex=pattern))
    named = others.values_list("pk", "app", "run_id")
    return [pk for pk, *texts in named if names_user(texts, user_id)]


register_stores((GivenStore(),))

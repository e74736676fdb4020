"""What every store of personal data can do (DESIGN D16)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from django.db.models import Model, QuerySet

from apps.core.domain.filters.expression import EVERYTHING, Expression
from apps.core.domain.filters.parse import Fields
from apps.core.domain.scope import Scope
from apps.core.personal.erase import delete_in_parts
from apps.core.steps import Step, no_step

# A line of an export: JSON values, and what it is in `kind`.
Line = dict[str, Any]


@dataclass(frozen=True)
class ExportRequest:
    """What an export holds. scope: whose data, everything when it names nothing. filters: by the name of a store.

    written: the filters as the caller wrote them. with_vectors: memories come with the vectors of the active embedding
    space. is_operator: what only operators see is included.
    """

    scope: Scope = field(default_factory=Scope)
    filters: Mapping[str, Expression] = field(default_factory=dict)
    written: Mapping[str, Any] = field(default_factory=dict)
    with_vectors: bool = False
    is_operator: bool = False

    @property
    def is_everything(self) -> bool:
        """Return whether it is about the hub as a whole rather than about some of its people."""
        return self.is_operator and self.scope.is_everything and not self.filters

    @property
    def is_of_whole_people(self) -> bool:
        """Return whether it asks for people as a whole: for no part of one, and without a filter."""
        return self.scope.household_id is None and self.scope.persona_id is None and not self.filters

    def where(self, store: str) -> Expression:
        """Return the filter of a store."""
        return self.filters.get(store, EVERYTHING)


class PersonalStore:
    """A place where the hub keeps data of people. Register one instance in `ready` of its app.

    name: unique, for filters, progress and certificates. models: the tables that it answers for. kinds: of the lines
    that it exports and loads, in this order. order: stores are exported and loaded by it, those that others refer to
    first, and forgotten from the last to the first. filter_fields: by which an export can narrow it. is_settings: what
    operators have configured; it is part of an export of everything, and is loaded into an empty hub only.
    """

    name: ClassVar[str]
    order: ClassVar[int]
    models: ClassVar[tuple[type[Model], ...]] = ()
    kinds: ClassVar[tuple[str, ...]] = ()
    filter_fields: ClassVar[Fields | None] = None
    is_settings: ClassVar[bool] = False

    def export(self, asked: ExportRequest) -> Iterator[Line]:
        """Return lines in the order of arrival, in which they are loaded again, so that equal hubs have equal lines.

        It is called inside the transaction of the export, before the first line of any store is taken, and takes
        bounded memory. A store that keeps nothing worth moving to another hub, such as what is only on its way, has
        none. Raises SnapshotBrokenError, also while lines are taken.
        """
        return iter(())

    def count_damaged(self, asked: ExportRequest) -> int:
        """Return how many of its files cannot be read, so that lines may be missing."""
        return 0

    def load(self, lines: Sequence[Line]) -> int:
        """Write lines of one kind, in the caller's transaction, and return how many were new.

        A line that is in the hub already changes nothing. Raises LineError for a line that cannot be written.
        """
        raise NotImplementedError(f"{self.name} loads no lines.")

    def is_empty(self) -> bool:
        """Return whether it holds nothing of anybody."""
        return not any(model._default_manager.exists() for model in self.models)

    def count(self, user_id: str) -> int:
        """Return how many rows, lines or files of a user it holds."""
        raise NotImplementedError(f"{self.name} does not count yet.")

    def obstacles(self, user_id: str, *, full: bool) -> Iterator[str]:
        """Yield what is in the way of forgetting a user, such as a damaged file that may hide something of theirs.

        full: read whole files to find out.
        """
        return iter(())

    def forget(self, user_id: str, step: Step = no_step) -> Iterator[int]:
        """Remove everything of a locked user in committed steps, and yield how much each removed.

        Can be stopped after any step and begun again. step: called with the names of steps inside, for tests.
        """
        raise NotImplementedError(f"{self.name} does not forget yet.")

    def find(self, user_id: str) -> Iterator[str]:
        """Yield where something of a user is left, without any content. Looks at data itself, not at indexes."""
        raise NotImplementedError(f"{self.name} does not search for leftovers yet.")

    def drop_caches(self) -> None:
        """Drop what this process still holds in its memory of people who were forgotten."""


class UserTable(PersonalStore):
    """Tables whose rows name a user in `user_id`, and that no other rows refer to: these rows are what it holds."""

    def rows_of(self, user_id: str) -> Iterator[QuerySet[Any]]:
        """Yield the rows of a user, of each table."""
        return (model._default_manager.filter(user_id=user_id) for model in self.models)

    def count(self, user_id: str) -> int:
        return sum(rows.count() for rows in self.rows_of(user_id))

    def forget(self, user_id: str, step: Step = no_step) -> Iterator[int]:
        for rows in self.rows_of(user_id):
            step(self.name)
            yield from delete_in_parts(rows)

    def find(self, user_id: str) -> Iterator[str]:
        return (rows.model._meta.db_table for rows in self.rows_of(user_id) if rows.exists())


class LineError(Exception):
    """A line that cannot be loaded. place: its place among the lines given to `load`, from 0."""

    def __init__(self, place: int, problem: str) -> None:
        super().__init__(problem)
        self.place = place
        self.problem = problem


class SnapshotBrokenError(Exception):
    """What a snapshot needs cannot be read. settle: what to do once its transaction is over, so that the next can."""

    def __init__(self, settle: Callable[[], None]) -> None:
        super().__init__()
        self.settle = settle

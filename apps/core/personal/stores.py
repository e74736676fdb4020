"""The personal data that `core` keeps."""

from collections.abc import Iterator, Sequence

from apps.core.db.memberships import ties_forget
from apps.core.db.scoped import scope_filter
from apps.core.db.user_locks import hold_users
from apps.core.models import ApiKey, KeyDay, LockedUser, Membership, Pause
from apps.core.personal.admin_log import AdminStore
from apps.core.personal.columns import Columns
from apps.core.personal.keys import KeyErasure
from apps.core.personal.store import ExportRequest, Line, LineError, PersonalStore
from apps.core.steps import Step, no_step


class KeyStore(KeyErasure):
    """Keys bound to a user or granted one. They are not exported: their secrets are not known."""

    name = "keys"
    order = 90
    models = (ApiKey, KeyDay, LockedUser)


class PauseStore(PersonalStore):
    """Pauses of saving: a hub that a person moves to listens no more than the one that they come from."""

    name = "pauses"
    order = 4
    models = (Pause,)
    kinds = ("pause",)

    def export(self, asked: ExportRequest) -> Iterator[Line]:
        """Yield the pauses in scope; none where a part of a person is asked for, or a filter is given."""
        scope, columns = asked.scope, Columns(Pause)
        if scope.household_id is not None or scope.persona_id is not None or asked.filters:
            return
        for row in Pause.objects.filter(scope_filter(scope)).order_by("user_id").iterator():
            yield {"kind": "pause", **columns.values(row)}

    def load(self, lines: Sequence[Line]) -> int:
        """Write those of users who have none. Raises LineError."""
        columns, rows = Columns(Pause), dict[str, Pause]()
        for number, line in enumerate(lines):
            try:
                row = Pause(**columns.read(line))
            except ValueError as error:
                raise LineError(number, str(error)) from error
            rows[row.user_id] = row
        for known in Pause.objects.filter(user_id__in=rows).values_list("user_id", flat=True):
            del rows[known]
        hold_users(rows)
        return len(Pause.objects.bulk_create(rows.values()))

    def count(self, user_id: str) -> int:
        """Return whether there is one, as a number."""
        return Pause.objects.filter(user_id=user_id).count()

    def forget(self, user_id: str, step: Step = no_step) -> Iterator[int]:
        """Delete it."""
        step("pauses")
        if deleted := Pause.objects.filter(user_id=user_id).delete()[0]:
            yield deleted

    def find(self, user_id: str) -> Iterator[str]:
        """Yield where one is left."""
        if self.count(user_id):
            yield "core_pause"


class MembershipStore(PersonalStore):
    """Who belongs to which household and persona."""

    name = "memberships"
    order = 3
    models = (Membership,)
    kinds = ("membership",)

    def export(self, asked: ExportRequest) -> Iterator[Line]:
        """Yield the memberships in scope; none where a filter is given."""
        if asked.filters:
            return
        rows, columns = Membership.objects.in_scope(asked.scope), Columns(Membership)
        for row in rows.order_by("user_id", "household_id", "persona_id").iterator():
            yield {"kind": "membership", **columns.values(row)}

    def load(self, lines: Sequence[Line]) -> int:
        """Write those of which the hub knows nothing yet. Raises LineError."""
        columns, rows = Columns(Membership), list[Membership]()
        for number, line in enumerate(lines):
            try:
                rows.append(Membership(**columns.read(line)))
            except ValueError as error:
                raise LineError(number, str(error)) from error
            if bool(rows[-1].household_id) == bool(rows[-1].persona_id):
                raise LineError(number, "it names neither a household nor a persona, or both")
        hold_users({row.user_id for row in rows})
        before = Membership.objects.count()
        Membership.objects.bulk_create(rows, ignore_conflicts=True)
        return Membership.objects.count() - before

    def count(self, user_id: str) -> int:
        """Return how many there are of a user."""
        return Membership.objects.filter(user_id=user_id).count()

    def forget(self, user_id: str, step: Step = no_step) -> Iterator[int]:
        """Delete them."""
        step("memberships")
        if deleted := ties_forget(user_id):
            yield deleted

    def find(self, user_id: str) -> Iterator[str]:
        """Yield where one is left."""
        if self.count(user_id):
            yield "core_membership"


STORES = (KeyStore(), AdminStore(), PauseStore(), MembershipStore())

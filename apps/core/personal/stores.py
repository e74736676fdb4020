"""The personal data that `core` keeps."""

from collections.abc import Iterator, Sequence

from django.db import transaction
from django.db.models import F, Func, Q, Value

from apps.core.db.scoped import scope_filter
from apps.core.db.user_locks import hold_users
from apps.core.models import ApiKey, KeyDay, LockedUser, Membership, Pause
from apps.core.personal.admin_log import AdminStore
from apps.core.personal.columns import Columns
from apps.core.personal.registry import register_stores
from apps.core.personal.store import ExportRequest, Line, LineError, PersonalStore, UserTable
from apps.core.steps import Step, no_step


class KeyStore(PersonalStore):
    """Keys that name a user: as their bound, among what they may read, or who stopped them.

    Keys that were granted a user go on without the grant, so that it means nothing for one who has the id later. They
    are not exported: their secrets are not known.
    """

    name = "keys"
    order = 90
    models = (ApiKey, KeyDay, LockedUser)

    def count(self, user_id: str) -> int:
        named = Q(user_id=user_id) | Q(reads__contains=[user_id]) | Q(stopped_by__contains=[user_id])
        return ApiKey.objects.filter(named).count()

    def forget(self, user_id: str, step: Step = no_step) -> Iterator[int]:
        with transaction.atomic():
            # Locked, so that no process adds a count of their use between the two deletions.
            keys = list(ApiKey.objects.select_for_update().filter(user_id=user_id).values_list("pk", flat=True))
            KeyDay.objects.filter(key_id__in=keys).delete()
            ApiKey.objects.filter(pk__in=keys).delete()
        if keys:
            yield len(keys)
        for name in ("reads", "stopped_by"):
            naming = ApiKey.objects.filter(**{f"{name}__contains": [user_id]})
            ended = naming.update(**{name: Func(F(name), Value(user_id), function="array_remove")})
            if ended:
                yield ended

    def find(self, user_id: str) -> Iterator[str]:
        if self.count(user_id):
            yield "core_apikey"


class PauseStore(UserTable):
    """Pauses of saving: a hub that a person moves to listens no more than the one that they come from."""

    name = "pauses"
    order = 4
    models = (Pause,)
    kinds = ("pause",)

    def export(self, asked: ExportRequest) -> Iterator[Line]:
        """Yield the pauses in scope; none where a part of a person is asked for, or a filter is given."""
        if asked.is_of_whole_people:
            columns = Columns(Pause)
            for row in Pause.objects.filter(scope_filter(asked.scope)).order_by("user_id").iterator():
                yield {"kind": "pause", **columns.values(row)}

    def load(self, lines: Sequence[Line]) -> int:
        """Write those of users who have none. Raises LineError."""
        columns = Columns(Pause)
        read = [Pause(**columns.read_at(place, line)) for place, line in enumerate(lines)]
        rows = {row.user_id: row for row in read}
        for known in Pause.objects.filter(user_id__in=rows).values_list("user_id", flat=True):
            del rows[known]
        hold_users(rows)
        return len(Pause.objects.bulk_create(rows.values()))


class MembershipStore(UserTable):
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
        for place, line in enumerate(lines):
            rows.append(Membership(**columns.read_at(place, line)))
            if bool(rows[-1].household_id) == bool(rows[-1].persona_id):
                raise LineError(place, "it names neither a household nor a persona, or both")
        hold_users({row.user_id for row in rows})
        before = Membership.objects.count()
        Membership.objects.bulk_create(rows, ignore_conflicts=True)
        return Membership.objects.count() - before


register_stores((KeyStore(), AdminStore(), PauseStore(), MembershipStore()))

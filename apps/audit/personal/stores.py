"""The store of the audit: the entries about a user."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast

from apps.audit.models import ActorKind, AuditEntry
from apps.audit.retention import allow_changes
from apps.core.pauses import PERSON
from apps.core.personal.admin_log import models_of_users
from apps.core.personal.columns import Columns
from apps.core.personal.erase import ROWS_AT_ONCE, names_user, naming
from apps.core.personal.registry import register_stores
from apps.core.personal.store import ExportRequest, Line, PersonalStore
from apps.core.steps import Step, no_step

# What is left of the name of a key that names a person who was forgotten.
FORGOTTEN_KEY = "key of a forgotten user"
# And of one who acted on their own pages.
FORGOTTEN_PERSON = "a forgotten user"
# And of the name of an account that is removed with its person.
FORGOTTEN_ACCOUNT = "account of a forgotten user"
EMPTY: dict[str, Any] = {"user_id": "", "household_id": "", "persona_id": "", "object_id": "", "detail": {}}
# By these an import recognises an entry that is there already.
IDENTITY = ("at", "actor_kind", "actor", "action", "object_type", "object_id", "outcome", "request_id")


class AuditStore(PersonalStore):
    """Entries are only added: of a person who is forgotten they keep what was done, and not to whom."""

    name = "audit"
    # Emptied first: entries name rows that are still there.
    order = 110
    models = (AuditEntry,)
    kinds = ("audit_entry",)

    def export(self, asked: ExportRequest) -> Iterator[Line]:
        """Yield the entries about those in scope, the oldest first. Only operators see from where they acted."""
        if asked.filters:
            return
        columns = Columns(AuditEntry)
        hidden = {} if asked.is_operator else {"address": None, "request_id": ""}
        for entry in AuditEntry.objects.in_scope(asked.scope).order_by("at", "pk").iterator(1_000):
            yield {"kind": self.kinds[0], **columns.values(entry), **hidden}

    def load(self, lines: Sequence[Line]) -> int:
        """Add the entries that the hub does not have."""
        columns = Columns(AuditEntry)
        rows = [AuditEntry(**columns.read_at(place, line)) for place, line in enumerate(lines)]
        known = set(AuditEntry.objects.filter(at__in=[row.at for row in rows]).values_list(*IDENTITY))
        new = [row for row in rows if tuple(getattr(row, name) for name in IDENTITY) not in known]
        AuditEntry.objects.bulk_create(new)
        return len(new)

    def is_empty(self) -> bool:
        """Return True: entries alone, such as that of a first sign-in, are nothing that a hub holds of people."""
        return True

    def count(self, user_id: str) -> int:
        return entries_about(user_id).count() + len(mentions(user_id)) + acts_of(user_id).count()

    def forget(self, user_id: str, step: Step = no_step) -> Iterator[int]:
        """Empty who entries were about, in parts, each in a transaction of its own."""
        named = mentions(user_id)
        for keys in (named[n : n + ROWS_AT_ONCE] for n in range(0, len(named), ROWS_AT_ONCE)):
            step("audit mentions")
            with allow_changes("forgetting"):
                empty(AuditEntry.objects.filter(pk__in=keys), user_id)
            yield len(keys)
        for name, rows_of in (("audit acts", acts_of), ("audit entries", entries_about)):
            while True:
                with allow_changes("forgetting"):
                    keys = list(rows_of(user_id).order_by("pk").values_list("pk", flat=True)[:ROWS_AT_ONCE])
                    part = AuditEntry.objects.filter(pk__in=keys)
                    if rows_of is acts_of:
                        part.update(**EMPTY, actor=FORGOTTEN_ACCOUNT)
                    else:
                        empty(part, user_id)
                if not keys:
                    break
                step(name)
                yield len(keys)

    def find(self, user_id: str) -> Iterator[str]:
        if AuditEntry.objects.filter(user_id=user_id).exists() or mentions(user_id) or acts_of(user_id).exists():
            yield "audit_auditentry"


def entries_about(user_id: str) -> QuerySet[AuditEntry]:
    """Return the entries that name a user as whose data it was, or that are about a row of theirs."""
    about = Q(user_id=user_id)
    for model in models_of_users():
        if model is AuditEntry:
            continue
        rows = model._default_manager.filter(user_id=user_id)
        keys = rows.annotate(key_as_text=Cast("pk", TextField())).values("key_as_text")
        about |= Q(object_type=model._meta.label_lower, object_id__in=keys)
        if any(field.name == "uuid" for field in model._meta.fields):
            uuids = rows.annotate(id_as_text=Cast("uuid", TextField())).values("id_as_text")
            about |= Q(object_id__in=uuids)
    return AuditEntry.objects.filter(about)


def acts_of(user_id: str) -> QuerySet[AuditEntry]:
    """Return what accounts have done that are bound to a user, and are removed with that person."""
    names = get_user_model().objects.filter(account__user_id=user_id).values("username")
    return AuditEntry.objects.filter(actor_kind=ActorKind.PERSON, actor__in=names)


def mentions(user_id: str) -> list[int]:
    """Return the keys of entries in which a text names a user: their object, what changed, or a key."""
    pattern = naming(user_id)
    found = (
        AuditEntry.objects.exclude(user_id=user_id)
        .annotate(detail_as_text=Cast("detail", TextField()))
        .filter(
            Q(object_id__regex=pattern)
            | Q(detail_as_text__regex=pattern)
            | Q(actor_kind=ActorKind.KEY, actor__regex=pattern)
            | Q(actor=f"{PERSON}{user_id}")
        )
        .order_by("pk")
    )
    own = f"{PERSON}{user_id}"
    return [one.pk for one in found.iterator() if one.actor == own or names_user(texts_of(one), user_id)]


def texts_of(entry: AuditEntry) -> list[Any]:
    """Return what of an entry may name a person besides the columns of its scope."""
    return [entry.object_id, entry.detail, entry.actor if entry.actor_kind == ActorKind.KEY else ""]


def empty(entries: QuerySet[AuditEntry], user_id: str) -> None:
    """Empty whose data entries were about, which object, and what changed of it. What was done stays."""
    keys = [one.pk for one in entries.filter(actor_kind=ActorKind.KEY) if names_user(one.actor, user_id)]
    own = list(entries.filter(actor=f"{PERSON}{user_id}").values_list("pk", flat=True))
    entries.update(**EMPTY)
    if keys:
        AuditEntry.objects.filter(pk__in=keys).update(actor=FORGOTTEN_KEY)
    if own:
        AuditEntry.objects.filter(pk__in=own).update(actor=FORGOTTEN_PERSON)


register_stores((AuditStore(),))

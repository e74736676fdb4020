"""Entries of the audit in the stream: what no hub event says, such as sign-ins, keys, accounts and exports."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Q, QuerySet
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.audit.selectors import VERBS, entries, noun_of
from apps.cockpit.domain.activity import Entry
from apps.core.domain.scope import Access

# What hub events, versions of notes and their own tables say already.
SAID_ELSEWHERE = (
    "memory.", "memories.", "conflict.", "conflicts.", "decisions.", "rule.", "rules.", "merge_rule.", "event.",
    "events.", "timeline_event.", "note.", "notes.", "note_version.", "sync.", "model_call.",
)  # fmt: skip
PAST = {
    "accept": _("accepted %(thing)s"),
    "add": _("added %(thing)s"),
    "apply": _("applied %(thing)s"),
    "change": _("changed %(thing)s"),
    "create": _("created %(thing)s"),
    "delete": _("deleted %(thing)s"),
    "dismiss": _("dismissed %(thing)s"),
    "execute": _("ran %(thing)s"),
    "export": _("exported %(thing)s"),
    "import": _("imported %(thing)s"),
    "load": _("loaded %(thing)s"),
    "open": _("opened %(thing)s"),
    "override": _("overrode %(thing)s"),
    "pause": _("paused %(thing)s"),
    "replace": _("replaced %(thing)s"),
    "resolve": _("resolved %(thing)s"),
    "restore": _("restored %(thing)s"),
    "resume": _("resumed %(thing)s"),
    "revert": _("reverted %(thing)s"),
    "revoke": _("revoked %(thing)s"),
    "rotate": _("rotated %(thing)s"),
    "run": _("ran %(thing)s"),
    "undo": _("undid %(thing)s"),
}
SIGNS = {"session.sign_in": _("signed in"), "session.sign_out": _("signed out")}
OUTCOMES = {"refused": _("refused"), "failed": _("failed")}
TONES = {"refused": "warn", "failed": "bad"}


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
            verb="audit",
            actor="" if row["actor_kind"] == "hub" else f"{row['actor_kind']}:{row['actor']}",
            person=row["user_id"],
            words=described(row["action"], row["outcome"]),
            tone=TONES.get(row["outcome"], ""),
        )


def described(action: str, outcome: str) -> str:
    """Return an act as the rest of a sentence, with how it ended where that was not well."""
    said = describe(action)
    if outcome == "done":
        return said
    return gettext("%(act)s (%(outcome)s)") % {"act": said, "outcome": OUTCOMES.get(outcome, outcome)}


def describe(action: str) -> str:
    """Return an act as the rest of a sentence: `api_key.rotate` is "rotated an API key"."""
    if action in SIGNS:
        return str(SIGNS[action])
    what, _dot, verb = action.partition(".")
    noun = noun_of(what).replace("api key", "API key")
    if verb not in PAST:
        act = VERBS.get(verb, verb.replace("_", " "))
        return gettext("%(thing)s: %(act)s") % {"thing": noun, "act": act} if verb else noun
    thing = gettext("an %(thing)s") if what[:1] in "aeiou" else gettext("a %(thing)s")
    return PAST[verb] % {"thing": thing % {"thing": noun}}

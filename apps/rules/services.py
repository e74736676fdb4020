"""Writes of the registry of rules; nothing else changes a rule.

Each runs in one transaction that locks the registry's version first, so concurrent edits run one after another and
none is lost. After it every rule resolves, or nothing has changed.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import uuid4

from django.db import transaction

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import ConflictError, NotFoundError
from apps.events.services import emit_many
from apps.rules.domain.documents.inheritance import check_resolvable, resolve
from apps.rules.domain.documents.problems import InvalidRuleError, RuleProblem
from apps.rules.domain.documents.rule import BUILT_IN, Document, RuleConfig, with_built_in
from apps.rules.domain.documents.validate import changed_document, validate_document
from apps.rules.evaluate import evaluate, evaluate_rule
from apps.rules.events import RuleChange, RuleDeleted, RuleRegistered, RuleUpdated
from apps.rules.figures import DecisionFigures, register_figures
from apps.rules.forms import (
    EDIT_AGAIN,
    NEEDED_TO_REHEARSE,
    REHEARSE,
    REHEARSED,
    TRIAL,
    RuleForm,
    setting_name,
)
from apps.rules.models import MergeRule, MergeRuleVersion, RegistryVersion, RuleAction
from apps.rules.selectors import NO_SUCH_RULE

__all__ = [
    "EDIT_AGAIN",
    "MAX_LOADED",
    "NEEDED_TO_REHEARSE",
    "REHEARSE",
    "REHEARSED",
    "TRIAL",
    "DecisionFigures",
    "RuleForm",
    "RuleOutcome",
    "evaluate",
    "evaluate_rule",
    "register_figures",
    "rule_delete",
    "rule_register",
    "rule_replace",
    "rule_restore",
    "rule_update",
    "rules_load",
    "setting_name",
]

MAX_LOADED = 1_000
EVENTS: dict[RuleAction, type[RuleChange]] = {
    RuleAction.REGISTERED: RuleRegistered,
    RuleAction.UPDATED: RuleUpdated,
    RuleAction.DELETED: RuleDeleted,
}


@dataclass(frozen=True)
class RuleOutcome:
    """A rule after a change: as stored, with all settings that it inherits, and the registry's version."""

    document: Document
    rule: RuleConfig
    version: int


def rule_register(*, document: Any, actor: str, clock: Clock = SYSTEM_CLOCK) -> RuleOutcome:
    """Add a rule. Raises InvalidRuleError, or ConflictError when a rule of this name exists."""
    checked = validate_document(document)
    name: str = checked["name"]
    with edit_registry(actor, clock) as edit:
        if name in edit.documents:
            raise ConflictError(f"There is a rule {name!r} already.", attr="name", code="exists")
        edit.put(checked, RuleAction.REGISTERED)
    return edit.outcome(name)


def rule_update(
    *, name: str, changes: Any, actor: str, expected_version: int | None = None, clock: Clock = SYSTEM_CLOCK
) -> RuleOutcome:
    """Change some settings of a rule; objects are merged member by member, and null makes a setting inherit again.

    expected_version: the rule's version that the caller has seen. Raises NotFoundError, InvalidRuleError, or
    ConflictError when the rule has changed since.
    """
    with edit_registry(actor, clock) as edit:
        before = edit.current(name, expected_version)
        edit.put(changed_document(name, before, changes), RuleAction.UPDATED)
    return edit.outcome(name)


def rule_replace(
    *, document: Any, actor: str, expected_version: int | None = None, clock: Clock = SYSTEM_CLOCK
) -> RuleOutcome:
    """Replace the whole document of a rule. Raises as `rule_update` does."""
    checked = validate_document(document)
    with edit_registry(actor, clock) as edit:
        edit.current(checked["name"], expected_version)
        edit.put(checked, RuleAction.UPDATED)
    return edit.outcome(checked["name"])


def rule_delete(*, name: str, actor: str, expected_version: int | None = None, clock: Clock = SYSTEM_CLOCK) -> None:
    """Delete a rule; its history stays.

    Raises NotFoundError, or ConflictError for a built-in rule, one that others extend, or one that has changed.
    """
    with edit_registry(actor, clock) as edit:
        edit.current(name, expected_version)
        if name in BUILT_IN:
            raise ConflictError("This rule is built in: it can be edited, but not deleted.", code="built_in")
        heirs = sorted(heir for heir, document in edit.documents.items() if document.get("extends") == name)
        if heirs:
            detail = f"Other rules extend this one: {', '.join(heirs[:10])}."
            raise ConflictError(detail, code="extended")
        edit.remove(name)


def rules_load(*, documents: Sequence[Any], actor: str, clock: Clock = SYSTEM_CLOCK) -> list[RuleOutcome]:
    """Register many rules, all or none; one that exists is replaced. They may extend each other in any order.

    Raises InvalidRuleError, with paths such as `rules.3.arbitration.merge_threshold`.
    """
    checked = []
    for number, document in enumerate(documents):
        with error_paths_below(f"rules.{number}"):
            checked.append(validate_document(document))
    names = [document["name"] for document in checked]
    for number, name in enumerate(names):
        if names.index(name) < number:
            raise InvalidRuleError([RuleProblem(f"rules.{number}.name", f"{name!r} occurs more than once.")])
    with edit_registry(actor, clock, names) as edit:
        for document in checked:
            known = document["name"] in edit.documents
            edit.put(document, RuleAction.UPDATED if known else RuleAction.REGISTERED)
    return [edit.outcome(name) for name in names]


def rule_restore(*, version: int, actor: str, clock: Clock = SYSTEM_CLOCK) -> RuleOutcome:
    """Restore a rule as it was after the change with this version; of a deletion, as it was before.

    Raises NotFoundError, or InvalidRuleError when the document does not fit the other rules any more.
    """
    change = MergeRuleVersion.objects.filter(version=version).first()
    if change is None:
        raise NotFoundError("There is no such change.")
    document = change.before if change.after is None else change.after
    with edit_registry(actor, clock) as edit:
        edit.put(validate_document(document), RuleAction.RESTORED)
    return edit.outcome(change.rule_name)


@dataclass
class RegistryEdit:
    """The changes of one transaction to the registry."""

    version: int
    documents: dict[str, Document]
    versions: dict[str, int]
    actor: str
    now: datetime
    history: list[MergeRuleVersion] = field(default_factory=list)
    events: list[RuleChange] = field(default_factory=list)

    def current(self, name: str, expected_version: int | None) -> Document:
        """Return the current document. Raises NotFoundError, or ConflictError when it has changed since."""
        if name not in self.documents:
            raise NotFoundError(NO_SUCH_RULE)
        version = self.versions.get(name, 0)
        if expected_version is not None and expected_version != version:
            detail = f"The rule has changed since: it is at version {version}."
            raise ConflictError(detail, attr="expected_version", code="version")
        return self.documents[name]

    def put(self, document: Document, action: RuleAction) -> None:
        """Add or replace a rule."""
        name = document["name"]
        before = self.documents.get(name)
        self.documents[name] = document
        self._record(name, action, before, document)

    def remove(self, name: str) -> None:
        """Delete a rule."""
        self._record(name, RuleAction.DELETED, self.documents.pop(name), None)

    def outcome(self, name: str) -> RuleOutcome:
        """Return a rule after the changes."""
        return RuleOutcome(self.documents[name], resolve(name, self.documents), self.version)

    def _record(self, name: str, action: RuleAction, before: Document | None, after: Document | None) -> None:
        """Add a change to the history and to the hub events."""
        self.version += 1
        change = MergeRuleVersion(
            version=self.version,
            rule_name=name,
            action=action,
            before=before,
            after=after,
            actor=self.actor,
            at=self.now,
        )
        self.history.append(change)
        event_class = EVENTS.get(action) or (RuleRegistered if before is None else RuleUpdated)
        configuration = json.dumps(before if after is None else after, ensure_ascii=False, sort_keys=True)
        event = event_class(
            rule_name=name, configuration=configuration, version=self.version, actor=self.actor, at=self.now
        )
        self.events.append(event)

    def check(self, loaded: Sequence[str]) -> None:
        """Raise InvalidRuleError unless every rule resolves; about loaded rules with their place in the list."""
        for number, name in enumerate(loaded):
            with error_paths_below(f"rules.{number}"):
                check_resolvable([name], self.documents)
        check_resolvable({change.rule_name for change in self.history}, self.documents)

    def write(self) -> None:
        """Write rules, history and the registry's version."""
        for change in self.history:
            if change.after is None:
                MergeRule.objects.filter(name=change.rule_name).delete()
                continue
            values = {
                "document": change.after,
                "version": change.version,
                "updated_at": self.now,
                "updated_by": self.actor,
            }
            MergeRule.objects.update_or_create(
                name=change.rule_name, defaults=values, create_defaults={**values, "created_at": self.now}
            )
        MergeRuleVersion.objects.bulk_create(self.history)
        RegistryVersion.objects.filter(pk=1).update(version=self.version, stamp=uuid4())


@contextmanager
def edit_registry(actor: str, clock: Clock, loaded: Sequence[str] = ()) -> Iterator[RegistryEdit]:
    """Lock the registry and yield it for changes; check and write them at the end."""
    with transaction.atomic():
        RegistryVersion.objects.get_or_create(pk=1)
        registry = RegistryVersion.objects.select_for_update().get(pk=1)
        rows = MergeRule.objects.in_bulk(field_name="name")
        versions = {name: row.version for name, row in rows.items()}
        documents = with_built_in({name: row.document for name, row in rows.items()}, versions)
        edit = RegistryEdit(registry.version, documents, versions, actor, utcnow(clock))
        yield edit
        edit.check(loaded)
        edit.write()
        emit_many(edit.events, clock=clock)


@contextmanager
def error_paths_below(prefix: str) -> Iterator[None]:
    """Put a prefix before the paths of an InvalidRuleError."""
    try:
        yield
    except InvalidRuleError as error:
        raise error.below(prefix) from None

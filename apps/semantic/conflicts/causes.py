"""Rehearse edits of a rule that are not saved, in bounded time, and find which of them makes which difference."""

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings

from apps.core.domain.scope import Access
from apps.rules.domain.documents.differences import setting_changes, with_setting
from apps.rules.domain.documents.problems import InvalidRuleError
from apps.rules.domain.documents.rule import Document
from apps.rules.selectors import RuleSet
from apps.semantic.conflicts.rehearsal import Difference, Rehearsal, rehearse_document, with_document
from apps.semantic.domain.rehearsal import replay

EDIT_DECISIONS = 300
# Of a web process, for one answer; what is not done then is left out, and the answer says so.
SECONDS = 2.5
# Edits whose share is looked for one by one.
MAX_EDITS = 12


@dataclass(frozen=True)
class EditRehearsal:
    """What edits would do. due: the decisions that they change, the newest first.

    causes: path of a setting -> how many decisions it changes alone. together: how many no edit changes alone. paths:
    of a receipt, by its number: the settings that change it alone. is_explained: False when there was no time for it.
    """

    rehearsal: Rehearsal
    due: list[Difference]
    causes: Mapping[str, int] = field(default_factory=dict)
    together: int = 0
    paths: Mapping[int, list[str]] = field(default_factory=dict)
    is_explained: bool = True


def rehearse_edits(access: Access, before: Document, document: Any, *, seconds: float = SECONDS) -> EditRehearsal:
    """Replay the newest EDIT_DECISIONS with a document in the place of `before`, which is empty for a new rule.

    Raises InvalidRuleError as saving the document would.
    """
    ends_at = time.monotonic() + seconds
    rehearsal = rehearse_document(access, document, limit=EDIT_DECISIONS, may_be_new=True, ends_at=ends_at)
    due = [difference for difference in rehearsal.decisions.differences if difference.is_due_to_change]
    if not before:
        return EditRehearsal(rehearsal, due)
    return explain(access, EditRehearsal(rehearsal, due), before, document, ends_at)


def explain(
    access: Access, found: EditRehearsal, before: Document, document: Document, ends_at: float
) -> EditRehearsal:
    """Return the rehearsal with what each edit changes alone."""
    edits, current = setting_changes(before, document), found.rehearsal.current
    paths: dict[int, list[str]] = {key_of(difference): [] for difference in found.due}
    if len(edits) == 1:
        paths = {key: [edits[0].path] for key in paths}
        edits = []
    for edit in edits[:MAX_EDITS]:
        rules = rules_with(access, current, with_setting(before, edit.path, edit.after))
        for difference in found.due if rules else ():
            if time.monotonic() > ends_at:
                return EditRehearsal(found.rehearsal, found.due, is_explained=False)
            if rules and differs_under(difference, rules):
                paths[key_of(difference)].append(edit.path)
    causes = Counter(path for named in paths.values() for path in named)
    together = sum(not named for named in paths.values())
    return EditRehearsal(found.rehearsal, found.due, dict(causes.most_common()), together, paths)


def rules_with(access: Access, current: RuleSet, document: Document) -> RuleSet | None:
    """Return the rules with one edit of a document alone; None where that alone cannot be."""
    try:
        return with_document(access, current, document)
    except InvalidRuleError:
        return None


def differs_under(difference: Difference, rules: RuleSet) -> bool:
    """Return whether a decision would be another one under these rules than it would be now."""
    rule = rules.matching(difference.case.candidate)
    outcome = replay(difference.case, rule, settings.MEMORYHUB.max_content_chars)
    return outcome.effect != difference.current.effect


def key_of(difference: Difference) -> int:
    """Return the number of the receipt that a difference is about."""
    return difference.receipt.pk if difference.receipt else 0

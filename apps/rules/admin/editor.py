"""What the editor of a rule shows: settings that differ from the parent, all others, and what the edits change."""

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.rules.admin.words import describe_change
from apps.rules.domain.documents.differences import diff_lines, setting_changes, with_changes
from apps.rules.domain.documents.rule import BUILT_IN, Document
from apps.rules.forms import (
    ANY,
    SEEN,
    SEPARATOR,
    SETTINGS,
    BaseRuleForm,
    RuleForm,
    document_texts,
    value_at,
    value_words,
)
from apps.rules.models import MergeRule, MergeRuleVersion

# Shown whether they differ or not.
ALWAYS = ("description",)
# The values of a condition that is none.
NO_CONDITION: tuple[Any, ...] = (None, [])
GENERAL = _("Order")


@dataclass(frozen=True)
class SettingRow:
    """One setting in the editor. own: it differs from the parent. search: the words by which it is found."""

    name: str
    label: str
    section: str
    help: str
    field: Any
    any_field: Any
    value: str
    inherited: str
    saved: str
    was_any: bool
    has_any: bool
    is_own: bool
    is_changed: bool
    is_fixed: bool

    @property
    def search(self) -> str:
        """Return what the search of settings looks through."""
        name = self.name.replace(SEPARATOR, " ").replace("_", " ")
        return f"{self.section} {self.label} {name} {self.help}".casefold()


def setting_row(form: BaseRuleForm, name: str, inherited: Document) -> SettingRow:
    """Return the row of a setting."""
    field, any_name = form[name], f"{ANY}{name}"
    any_field = form[any_name] if any_name in form.fields else None
    text = str(field.value() if field.value() is not None else "")
    is_any = any_field is not None and bool(any_field.value())
    was_any = bool(form.saved.get(any_name))
    is_changed = text != form.saved[name] or is_any != was_any
    section = gettext(name.partition(SEPARATOR)[0].capitalize()) if SEPARATOR in name else str(GENERAL)
    return SettingRow(
        name=name,
        label=str(field.label),
        section=section,
        help=str(field.help_text),
        field=field,
        any_field=any_field,
        value=gettext("any") if is_any else value_words(name, value_at(form.before, name)),
        inherited=value_words(name, value_at(inherited, name)),
        saved=form.saved[name],
        was_any=was_any,
        has_any=any_field is not None and (is_any or was_any or value_at(inherited, name) not in NO_CONDITION),
        is_own=bool(text) or is_any or is_changed or bool(field.errors),
        is_changed=is_changed,
        is_fixed=form.fields[name].disabled,
    )


def editor_context(form: BaseRuleForm) -> dict[str, Any]:
    """Return the parts of the editor: the settings that differ, and all others by section."""
    inherited = form.inherited_document()
    rows = [setting_row(form, name, inherited) for name in SETTINGS]
    others: dict[str, list[SettingRow]] = {}
    for row in rows:
        if not row.is_own and row.name not in ALWAYS and not row.is_fixed:
            others.setdefault(row.section, []).append(row)
    return {
        "rule_form": form,
        "always": [row for row in rows if row.name in ALWAYS],
        "own": [row for row in rows if row.is_own and row.name not in ALWAYS],
        "others": others,
        "other_count": sum(map(len, others.values())),
        "parent": form.parent_name,
    }


def preview_context(form: BaseRuleForm) -> dict[str, Any]:
    """Return what the edits of a form change, in words and as lines of the document; or what is wrong with them."""
    inherited = form.inherited_document()
    parents = {
        "name": form.parent_name,
        "any": gettext("any"),
        "values": {name: value_words(name, value_at(inherited, name)) for name in SETTINGS},
    }
    is_valid = form.is_valid()
    before = form.before or None
    changes = setting_changes(before, form.document) if is_valid else []
    return {
        "parents": parents,
        "is_valid": is_valid,
        "sentences": [describe_change(change, form.parent_name, inherited) for change in changes],
        "lines": list(diff_lines(before, form.document)) if changes else [],
    }


def saved_context(form: BaseRuleForm) -> dict[str, Any]:
    """Return what `preview_context` does for a form that nothing was entered into, or that shows what was entered."""
    values = {name: form.get_initial_for_field(field, name) for name, field in form.fields.items()}
    shown = {name: value for name, value in values.items() if value not in (None, False, "")}
    instance = form.instance if form.instance.name else None
    return preview_context(RuleForm(form.data if form.is_bound else shown, instance=instance, is_draft=True))


def seen_document(rule: MergeRule, version: int) -> Document | None:
    """Return a rule as it was at the version that an editor has seen; None where that is not known."""
    if version == 0:
        return dict(BUILT_IN[rule.name]) if rule.name in BUILT_IN else None
    change = MergeRuleVersion.objects.filter(rule_name=rule.name, version=version).first()
    document: Document | None = change.after if change else None
    return document


def others_change(form: BaseRuleForm) -> dict[str, Any] | None:
    """Return who has changed the rule since the form was opened, when, and what; None where no one did."""
    name, seen = form.instance.name, str(form.data.get(SEEN, ""))
    newest = MergeRuleVersion.objects.filter(rule_name=name).first() if name else None
    if newest is None or not seen.isdigit() or len(seen) > 18 or int(seen) == newest.version:
        return None
    before = seen_document(form.instance, int(seen))
    changes = setting_changes(before, newest.after)
    inherited = form.inherited_document()
    sentences = [] if before is None else [describe_change(one, form.parent_name, inherited) for one in changes]
    return {"change": newest, "sentences": sentences, "can_rebase": before is not None}


def rebase(form: BaseRuleForm) -> dict[str, str] | None:
    """Return the fields of a form with its edits on top of the rule as it is now; None where that cannot be done."""
    seen = str(form.data.get(SEEN, ""))
    if not form.is_valid() or not seen.isdigit() or len(seen) > 18:
        return None
    base = seen_document(form.instance, int(seen))
    if base is None:
        return None
    merged = with_changes(form.before, setting_changes(base, form.document))
    texts = {field: text for field, text in document_texts(merged).items() if text or not field.startswith(ANY)}
    return {**texts, SEEN: str(form.known.versions.get(form.instance.name, 0))}

"""A rule as a form: one field for each setting of its document, empty where the rule inherits."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS
from unfold import widgets

from apps.rules.domain.documents.help import help_for
from apps.rules.domain.documents.problems import InvalidRuleError
from apps.rules.domain.documents.rule import (
    DEFAULT_RULE,
    MAX_NAME_CHARS,
    SHAPE,
    Document,
    RuleConfig,
    check_resolvable,
    resolve,
)
from apps.rules.domain.documents.shape import Setting
from apps.rules.domain.documents.validate import validate_document
from apps.rules.models import MergeRule
from apps.rules.registry import active_rules

SEPARATOR = "__"
SEEN = "seen_version"
SECTIONS = ("conditions", "detection", "arbitration", "merge")
# The button of a rehearsal's page that leads back to the form of the rule.
EDIT_AGAIN = "_edit_again"
# A rehearsal shows receipts and the contents of memories.
NEEDED_TO_REHEARSE = ("semantic.view_conflict", "semantic.view_memory")
YES_OR_NO = (("true", "Yes"), ("false", "No"))
SETTINGS = {
    setting.path.replace(".", SEPARATOR): setting
    for setting in SHAPE.settings()
    if setting.path not in {"name", "extends"}
}


def field_name(path: str) -> str:
    """The form field for a path of the document; a section's problem is shown at its first setting."""
    name = path.replace(".", SEPARATOR)
    if name in SETTINGS or name in {"name", "extends"}:
        return name
    return next((field for field in SETTINGS if field.startswith(f"{name}{SEPARATOR}")), NON_FIELD_ERRORS)


def _form_field(setting: Setting) -> forms.Field:
    common: dict[str, Any] = {"required": False, "help_text": setting.help, "label": _label(setting.path)}
    match setting.kind:
        case "boolean":
            return forms.ChoiceField(choices=YES_OR_NO, widget=widgets.UnfoldAdminSelectWidget, **common)
        case "choice":
            choices = [(choice, choice.capitalize()) for choice in setting.choices]
            return forms.ChoiceField(choices=choices, widget=widgets.UnfoldAdminSelectWidget, **common)
        case "integer":
            common |= {"min_value": int(setting.minimum), "max_value": int(setting.maximum)}
            return forms.IntegerField(widget=widgets.UnfoldAdminIntegerFieldWidget, **common)
        case "number":
            common |= {"min_value": setting.minimum, "max_value": setting.maximum}
            widget = widgets.UnfoldAdminDecimalFieldWidget(attrs={"step": "any"})
            return forms.FloatField(widget=widget, **common)
        case "words":
            help_text = f"{setting.help} Separate several by commas."
            return forms.CharField(widget=widgets.UnfoldAdminTextInputWidget, **{**common, "help_text": help_text})
    long = setting.path == "description"
    widget = widgets.UnfoldAdminTextareaWidget({"rows": 2}) if long else widgets.UnfoldAdminTextInputWidget()
    return forms.CharField(widget=widget, max_length=int(setting.maximum), strip=False, **common)


def _label(path: str) -> str:
    """What a setting is called below the heading of its section."""
    *groups, name = path.split(".")
    words = [*(group for group in groups[1:] if group != "metadata_strategy"), name]
    return " ".join(words).replace("_", " ").capitalize()


class _BaseRuleForm(forms.ModelForm):
    """What does not depend on the settings. entered: values to show in the place of the rule's own, unsaved ones."""

    entered: Mapping[str, str] | None = None
    name = forms.CharField(
        max_length=MAX_NAME_CHARS,
        help_text=help_for("name"),
        widget=widgets.UnfoldAdminTextInputWidget,
    )
    extends = forms.ChoiceField(
        required=False,
        help_text=help_for("extends"),
        widget=widgets.UnfoldAdminSelectWidget,
    )
    seen_version = forms.IntegerField(required=False, widget=forms.HiddenInput)

    class Meta:
        model = MergeRule
        fields: list[str] = []

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.known = active_rules()
        name = self.instance.name
        self.before: Document = dict(self.known.documents.get(name, {})) if name else {}
        inherited = self._inherited(name)
        others = sorted(other for other in self.known.documents if other != name)
        self.fields["extends"].choices = [("", "no rule: the defaults"), *((other, other) for other in others)]  # type: ignore[attr-defined]
        for field, setting in SETTINGS.items():
            if field in self.fields:
                self._show(field, setting, inherited)
        if name:
            self.initial.update({"name": name, "extends": self.before.get("extends", ""), SEEN: self.instance.version})
            self.fields["name"].disabled = True
        if name == DEFAULT_RULE:
            for field in ("extends", "enabled", *(field for field in SETTINGS if field.startswith("conditions"))):
                self.fields[field].disabled = True
        for field in self.fields.keys() & (self.entered or {}).keys():
            if self.entered is not None and not self.fields[field].disabled:
                self.initial[field] = self.entered[field]

    def _inherited(self, name: str) -> Document:
        """What applies where the rule says nothing."""
        base = self.before.get("extends")
        rule = self.known.rules.get(base) if base else None
        return (rule or RuleConfig(name or "new")).to_document()

    def _show(self, field: str, setting: Setting, inherited: Document) -> None:
        """The rule's own value, or none, and what applies then."""
        form_field = self.fields[field]
        value, fallback = _shown(_at(self.before, setting.path)), _shown(_at(inherited, setting.path))
        self.initial[field] = value
        if isinstance(form_field, forms.ChoiceField):
            names = dict(form_field.choices)  # type: ignore[arg-type]
            form_field.choices = [("", f"Inherited: {names.get(fallback, fallback)}"), *names.items()]
        else:
            form_field.widget.attrs["placeholder"] = f"Inherited: {fallback}" if fallback != "" else "Inherited"

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if self.errors:
            return cleaned
        try:
            self.document = validate_document(self._document(cleaned))
            documents = {**self.known.documents, self.document["name"]: self.document}
            check_resolvable([self.document["name"]], documents)
            resolve(self.document["name"], documents)
        except InvalidRuleError as error:
            for path, message in error.problems:
                name = field_name(path)
                self.add_error(name if name in self.fields else None, message)
        self._check_versions(cleaned)
        return cleaned

    def _check_versions(self, cleaned: dict[str, Any]) -> None:
        name = cleaned["name"]
        if not self.instance.name and name in self.known.documents:
            self.add_error("name", "There is a rule of this name already.")
        seen = cleaned.get(SEEN)
        if self.instance.name and seen is not None and seen != self.known.versions.get(self.instance.name, 0):
            self.add_error(
                None, "Somebody else changed this rule meanwhile. Load the page again to see what it is now."
            )

    def _document(self, cleaned: dict[str, Any]) -> Document:
        """The document that the form describes. An inherited condition that was taken away stays taken away."""
        document: Document = {"name": cleaned["name"]}
        if cleaned.get("extends"):
            document["extends"] = cleaned["extends"]
        for field, setting in SETTINGS.items():
            value = _value(setting, cleaned.get(field))
            if value is not None or _is_taken_away(self.before, setting.path):
                _put(document, setting.path, value)
        return document


def _shown(value: Any) -> str:
    """A value of a document as the form shows it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list):
        return ", ".join(value)
    return "" if value is None else str(value)


def _value(setting: Setting, given: Any) -> Any:
    """What was entered, as a value of a document; None for nothing."""
    if given in (None, ""):
        return None
    if setting.kind == "boolean":
        return given == "true"
    if setting.kind == "words":
        words = [word.strip() for word in given.split(",") if word.strip()]
        return words[0] if len(words) == 1 else words or None
    return given


def _at(document: Any, path: str) -> Any:
    for name in path.split("."):
        document = document.get(name) if isinstance(document, dict) else None
    return document


def _is_taken_away(document: Document, path: str) -> bool:
    group, _, name = path.rpartition(".")
    place = _at(document, group) if group else None
    return path.startswith("conditions") and isinstance(place, dict) and name in place and place[name] is None


def _put(document: Document, path: str, value: Any) -> None:
    *groups, name = path.split(".")
    for group in groups:
        document = document.setdefault(group, {})
    document[name] = value


RuleForm: type[_BaseRuleForm] = type(
    "RuleForm", (_BaseRuleForm,), {field: _form_field(setting) for field, setting in SETTINGS.items()}
)


def _decimal(label: str, help_text: str = "", **options: Any) -> forms.FloatField:
    widget = widgets.UnfoldAdminDecimalFieldWidget({"step": "any"})
    return forms.FloatField(label=label, help_text=help_text, widget=widget, **options)


def _text(label: str) -> forms.CharField:
    return forms.CharField(label=label, widget=widgets.UnfoldAdminTextareaWidget({"rows": 3}))


def _source(label: str) -> forms.CharField:
    return forms.CharField(label=label, initial="user", max_length=64, widget=widgets.UnfoldAdminTextInputWidget())


class TrialForm(forms.Form):
    """Two memories to try a rule on."""

    existing = _text("The stored memory")
    candidate = _text("The new memory")
    existing_importance = _decimal("Importance of the stored one", initial=0.5, min_value=0, max_value=1)
    candidate_importance = _decimal("Importance of the new one", initial=0.5, min_value=0, max_value=1)
    existing_source = _source("Source of the stored one")
    candidate_source = _source("Source of the new one")
    hours = _decimal(
        "Hours between them",
        "Negative: the new one tells of something earlier.",
        initial=24,
        min_value=-876_000,
        max_value=876_000,
    )

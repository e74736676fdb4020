"""A rule as a form: one field for each setting of its document, empty where the rule inherits."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS
from unfold import widgets

from apps.rules.domain.documents.inheritance import check_resolvable
from apps.rules.domain.documents.json_schema import Schema, setting_schemas
from apps.rules.domain.documents.problems import InvalidRuleError
from apps.rules.domain.documents.rule import DEFAULT_RULE, MAX_NAME_CHARS, Document, RuleConfig
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
# Form field -> schema of its setting.
SETTINGS = {path.replace(".", SEPARATOR): schema for path, schema in setting_schemas().items()}
HELP = {name: SETTINGS.pop(name)["description"] for name in ("name", "extends")}


def field_name(path: str) -> str:
    """Return the form field for a path of the document; for a section its first setting."""
    name = path.replace(".", SEPARATOR)
    if name in SETTINGS or name in HELP:
        return name
    return next((field for field in SETTINGS if field.startswith(f"{name}{SEPARATOR}")), NON_FIELD_ERRORS)


def build_field(name: str, schema: Schema) -> forms.Field:
    """Build the form field for a setting."""
    *groups, last = name.split(SEPARATOR)
    label = " ".join([*(group for group in groups[1:] if group != "metadata_strategy"), last])
    common: dict[str, Any] = {
        "required": False,
        "help_text": schema["description"],
        "label": label.replace("_", " ").capitalize(),
    }
    if "oneOf" in schema:
        common["help_text"] += " Separate several by commas."
        return forms.CharField(widget=widgets.UnfoldAdminTextInputWidget, **common)
    if "enum" in schema:
        choices = [(choice, choice.capitalize()) for choice in schema["enum"] if choice is not None]
        return forms.ChoiceField(choices=choices, widget=widgets.UnfoldAdminSelectWidget, **common)
    match schema["type"]:
        case "boolean":
            return forms.ChoiceField(choices=YES_OR_NO, widget=widgets.UnfoldAdminSelectWidget, **common)
        case "integer":
            common |= {"min_value": schema["minimum"], "max_value": schema["maximum"]}
            return forms.IntegerField(widget=widgets.UnfoldAdminIntegerFieldWidget, **common)
        case "number":
            common |= {"min_value": schema["minimum"], "max_value": schema["maximum"]}
            widget = widgets.UnfoldAdminDecimalFieldWidget(attrs={"step": "any"})
            return forms.FloatField(widget=widget, **common)
    is_long = name == "description"
    widget = widgets.UnfoldAdminTextareaWidget({"rows": 2}) if is_long else widgets.UnfoldAdminTextInputWidget()
    return forms.CharField(widget=widget, max_length=schema["maxLength"], strip=False, **common)


class BaseRuleForm(forms.ModelForm):
    """The part of the form that does not depend on the settings.

    entered: unsaved values to show instead of the rule's own.
    """

    entered: Mapping[str, str] | None = None
    name = forms.CharField(
        max_length=MAX_NAME_CHARS,
        help_text=HELP["name"],
        widget=widgets.UnfoldAdminTextInputWidget,
    )
    extends = forms.ChoiceField(
        required=False,
        help_text=HELP["extends"],
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
        others = sorted(other for other in self.known.documents if other != name)
        self.fields["extends"].choices = [("", "no rule: the defaults"), *((other, other) for other in others)]  # type: ignore[attr-defined]
        base = self.known.rules.get(self.before.get("extends", ""))
        inherited = (base or RuleConfig(name=name or "new")).to_document()
        for field in SETTINGS.keys() & self.fields.keys():
            self.show_setting(field, inherited)
        if name:
            self.initial.update({"name": name, "extends": self.before.get("extends", ""), SEEN: self.instance.version})
            self.fields["name"].disabled = True
        if name == DEFAULT_RULE:
            for field in ("extends", "enabled", *(field for field in SETTINGS if field.startswith("conditions"))):
                self.fields[field].disabled = True
        if self.entered is not None:
            shown = (field for field in self.fields.keys() & self.entered.keys() if not self.fields[field].disabled)
            self.initial.update({field: self.entered[field] for field in shown})

    def show_setting(self, field: str, inherited: Document) -> None:
        """Show the rule's own value of a setting, or none, and the value that applies then."""
        form_field = self.fields[field]
        self.initial[field] = as_text(value_at(self.before, field))
        fallback = as_text(value_at(inherited, field))
        if isinstance(form_field, forms.ChoiceField):
            names = dict(form_field.choices)  # type: ignore[arg-type]
            form_field.choices = [("", f"Inherited: {names.get(fallback, fallback)}"), *names.items()]
        else:
            form_field.widget.attrs["placeholder"] = f"Inherited: {fallback}" if fallback != "" else "Inherited"

    def clean(self) -> dict[str, Any]:
        """Check the document that the form describes, and that the rule has not changed since the form was loaded."""
        cleaned = super().clean() or self.cleaned_data
        if self.errors:
            return cleaned
        name = cleaned["name"]
        try:
            self.document = validate_document(self.build_document(cleaned))
            check_resolvable([name], {**self.known.documents, name: self.document})
        except InvalidRuleError as error:
            for path, message in error.problems:
                field = field_name(path)
                self.add_error(field if field in self.fields else None, message)
        if not self.instance.name and name in self.known.documents:
            self.add_error("name", "There is a rule of this name already.")
        seen = cleaned.get(SEEN)
        if self.instance.name and seen is not None and seen != self.known.versions.get(self.instance.name, 0):
            self.add_error(None, "Another user changed this rule. Load the page again to see its current state.")
        return cleaned

    def build_document(self, cleaned: dict[str, Any]) -> Document:
        """Build the document that the form describes. An inherited condition that was removed stays removed."""
        document: Document = {"name": cleaned["name"]}
        if cleaned.get("extends"):
            document["extends"] = cleaned["extends"]
        for field, schema in SETTINGS.items():
            value = cleaned.get(field)
            if value in (None, ""):
                value = None
            elif schema.get("type") == "boolean":
                value = value == "true"
            elif "oneOf" in schema:
                words = [word.strip() for word in value.split(",") if word.strip()]
                value = words[0] if len(words) == 1 else words or None
            *groups, last = field.split(SEPARATOR)
            removed = groups[:1] == ["conditions"] and last in (value_at(self.before, SEPARATOR.join(groups)) or {})
            if value is not None or (removed and value_at(self.before, field) is None):
                section = document
                for group in groups:
                    section = section.setdefault(group, {})
                section[last] = value
        return document


RuleForm: type[BaseRuleForm] = type(
    "RuleForm", (BaseRuleForm,), {name: build_field(name, schema) for name, schema in SETTINGS.items()}
)


def value_at(document: Any, field: str) -> Any:
    """Return the value of a setting in a document; None where it is missing."""
    for name in field.split(SEPARATOR):
        document = document.get(name) if isinstance(document, dict) else None
    return document


def as_text(value: Any) -> str:
    """Return a value of a document as the form shows it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list):
        return ", ".join(value)
    return "" if value is None else str(value)


def decimal_field(label: str, help_text: str = "", **options: Any) -> forms.FloatField:
    """Build a field for a number."""
    widget = widgets.UnfoldAdminDecimalFieldWidget({"step": "any"})
    return forms.FloatField(label=label, help_text=help_text, widget=widget, **options)


def text_field(label: str) -> forms.CharField:
    """Build a field for the content of a memory."""
    return forms.CharField(label=label, widget=widgets.UnfoldAdminTextareaWidget({"rows": 3}))


def source_field(label: str) -> forms.CharField:
    """Build a field for the source of a memory."""
    return forms.CharField(label=label, initial="user", max_length=64, widget=widgets.UnfoldAdminTextInputWidget())


class TrialForm(forms.Form):
    """Two memories to try a rule on."""

    existing = text_field("The stored memory")
    candidate = text_field("The new memory")
    existing_importance = decimal_field("Importance of the stored one", initial=0.5, min_value=0, max_value=1)
    candidate_importance = decimal_field("Importance of the new one", initial=0.5, min_value=0, max_value=1)
    existing_source = source_field("Source of the stored one")
    candidate_source = source_field("Source of the new one")
    hours = decimal_field(
        "Hours between them",
        "Negative: the new one is about something earlier.",
        initial=24,
        min_value=-876_000,
        max_value=876_000,
    )

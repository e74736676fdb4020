"""A rule as a form: one field for each setting of its document, empty where the rule inherits."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS
from django.utils.text import format_lazy
from django.utils.translation import gettext, gettext_lazy
from django.utils.translation import gettext_lazy as _
from unfold import widgets

from apps.core.pages.sayings import say
from apps.rules.domain.documents.inheritance import check_resolvable
from apps.rules.domain.documents.json_schema import IDENTITY, Schema, setting_label, setting_schemas
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
# The button beside those that save, by the name that the theme has for it, and the field that says what was rehearsed.
REHEARSE = "rules_mergerule_rehearse"
REHEARSED = "rehearsed"
# The prefix of the fields of a trial, which are sent together with those of the rule.
TRIAL = "trial"
# A rehearsal shows receipts and the contents of memories.
NEEDED_TO_REHEARSE = ("semantic.view_conflict", "semantic.view_memory")
YES_OR_NO = (("true", _("Yes")), ("false", _("No")))
# A field beside each condition: the one of the parent does not hold here. A document says it with null.
ANY = f"any{SEPARATOR}"
TICKED = "on"
ANY_LABEL = _("Any: the condition of the parent does not hold here")
# Form field -> schema of its setting.
SETTINGS = {path.replace(".", SEPARATOR): schema for path, schema in setting_schemas().items()}
HELP = {name: SETTINGS.pop(name)["description"] for name in IDENTITY}
CONDITIONS = tuple(name for name in SETTINGS if name.startswith(f"conditions{SEPARATOR}"))
RANGE = "importance_range"
DEFAULTS = _("the defaults")
CHANGED_MEANWHILE = _("This rule was changed after you opened it, so nothing was saved. Your edits are kept below.")


def field_name(path: str) -> str:
    """Return the form field for a path of the document; for a section its first setting."""
    name = path.replace(".", SEPARATOR)
    if name in SETTINGS or name in HELP:
        return name
    return next((field for field in SETTINGS if field.startswith(f"{name}{SEPARATOR}")), NON_FIELD_ERRORS)


def setting_name(path: str) -> str:
    """Return the name of a setting as sentences use it, with its section: `Merge, boost amount`."""
    section, __, rest = path.partition(".")
    label = gettext(setting_label(path))
    if not rest:
        return label
    words = {"section": gettext(section.capitalize()), "setting": f"{label[:1].lower()}{label[1:]}"}
    return gettext("%(section)s, %(setting)s") % words


def build_field(name: str, schema: Schema) -> forms.Field:
    """Build the form field for a setting."""
    common: dict[str, Any] = {
        "required": False,
        "help_text": gettext_lazy(schema["description"]),
        "label": gettext_lazy(setting_label(name.replace(SEPARATOR, "."))),
    }
    if "oneOf" in schema:
        common["help_text"] = format_lazy(
            "{help} {several}", help=common["help_text"], several=_("Separate several by commas.")
        )
        return forms.CharField(widget=widgets.UnfoldAdminTextInputWidget, **common)
    if "enum" in schema:
        choices = [(choice, gettext_lazy(choice.capitalize())) for choice in schema["enum"] if choice is not None]
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

    entered: unsaved values to show instead of the rule's own. is_draft: to be shown, not saved, so that it does
    not matter whether the rule has changed since. saved: the text of every field as the rule is stored. parent_name:
    what it inherits from, in words. document: what the form describes, once it is valid.
    """

    entered: Mapping[str, str] | None = None
    name = forms.CharField(
        max_length=MAX_NAME_CHARS,
        help_text=gettext_lazy(HELP["name"]),
        widget=widgets.UnfoldAdminTextInputWidget,
    )
    extends = forms.ChoiceField(
        required=False,
        help_text=gettext_lazy(HELP["extends"]),
        widget=widgets.UnfoldAdminSelectWidget,
    )
    seen_version = forms.IntegerField(required=False, widget=forms.HiddenInput)

    class Meta:
        model = MergeRule
        fields: ClassVar[list[str]] = ["name"]

    def __init__(self, *args: Any, is_draft: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.is_draft, self.known = is_draft, active_rules()
        name = self.instance.name
        self.before: Document = dict(self.known.documents.get(name, {})) if name else {}
        others = sorted(other for other in self.known.documents if other != name)
        self.fields["extends"].choices = [  # type: ignore[attr-defined]
            ("", gettext("no rule: %(defaults)s") % {"defaults": DEFAULTS}),
            *((other, other) for other in others),
        ]
        self.saved = document_texts(self.before)
        self.initial.update(
            {field: text == TICKED if field.startswith(ANY) else text for field, text in self.saved.items()}
        )
        if name:
            self.initial.update({"name": name, SEEN: self.known.versions.get(name, 0)})
            self.fields["name"].disabled = True
        if name == DEFAULT_RULE:
            for field in ("extends", "enabled", *CONDITIONS, *(f"{ANY}{field}" for field in CONDITIONS)):
                self.fields[field].disabled = True
        if self.entered is not None:
            self.initial.update(self.entered_values(self.entered))
        self.parent_name = str(self["extends"].value() or DEFAULTS)
        inherited = self.inherited_document()
        for field in SETTINGS.keys() & self.fields.keys():
            self.show_inherited(field, inherited)

    def entered_values(self, entered: Mapping[str, str]) -> dict[str, Any]:
        """Return the values to show of those that were entered before. A box that is not there was not ticked."""
        shown: dict[str, Any] = {
            name: entered[name] for name, field in self.fields.items() if name in entered and not field.disabled
        }
        return shown | {name: name in entered for name in self.fields if name.startswith(ANY)}

    def inherited_document(self) -> Document:
        """Return every setting as the rule that the form names as the parent has it, else the defaults."""
        parent = self.known.rules.get(str(self["extends"].value() or ""))
        return (parent or RuleConfig(name=self.instance.name or "new")).to_document()

    def show_inherited(self, field: str, inherited: Document) -> None:
        """Show the value that applies where the field is empty."""
        form_field = self.fields[field]
        words = gettext("As in %(parent)s: %(value)s")
        words %= {"parent": self.parent_name, "value": value_words(field, value_at(inherited, field))}
        if isinstance(form_field, forms.ChoiceField):
            form_field.choices = [("", words), *dict(form_field.choices).items()]  # type: ignore[arg-type]
        else:
            form_field.widget.attrs["placeholder"] = words

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
                self.add_error(field if field in self.fields else None, say(message))
        if not self.instance.name and name in self.known.documents:
            self.add_error("name", gettext("There is already a rule with this name."))
        seen = cleaned.get(SEEN)
        if not self.is_draft and seen is not None and seen != self.known.versions.get(self.instance.name, 0):
            self.add_error(None, CHANGED_MEANWHILE)
        return cleaned

    def problems(self) -> list[str]:
        """Return what is wrong, each with the name of its field."""
        found = []
        for name, messages in self.errors.items():
            label = f"{self.fields[name].label or name.capitalize()}: " if name in self.fields else ""
            found += [f"{label}{message}" for message in messages]
        return found

    def build_document(self, cleaned: dict[str, Any]) -> Document:
        """Build the document that the form describes. An inherited condition that was removed stays removed."""
        document: Document = {"name": cleaned["name"]}
        if cleaned.get("extends"):
            document["extends"] = cleaned["extends"]
        for field, schema in SETTINGS.items():
            value = value_of(cleaned.get(field), schema)
            if value is not None or cleaned.get(f"{ANY}{field}"):
                *groups, last = field.split(SEPARATOR)
                section = document
                for group in groups:
                    section = section.setdefault(group, {})
                section[last] = value
        conditions = document.get("conditions", {})
        if conditions.get(RANGE) == {"min": None, "max": None} and is_null(self.before.get("conditions"), RANGE):
            conditions[RANGE] = None  # as it was written
        return document


RuleForm: type[BaseRuleForm] = type(
    "RuleForm",
    (BaseRuleForm,),
    {
        **{name: build_field(name, schema) for name, schema in SETTINGS.items()},
        **{f"{ANY}{name}": forms.BooleanField(required=False, label=ANY_LABEL) for name in CONDITIONS},
    },
)


def document_texts(document: Mapping[str, Any]) -> dict[str, str]:
    """Return a document as the texts of the fields of the form."""
    texts = {field: as_text(value_at(document, field)) for field in SETTINGS}
    ticked = {f"{ANY}{field}": TICKED if is_removed(document, field) else "" for field in CONDITIONS}
    return {**texts, **ticked, "name": document.get("name", ""), "extends": document.get("extends", "")}


def value_of(text: Any, schema: Schema) -> Any:
    """Return the value of a document for what a field says; None for an empty one."""
    if text in (None, ""):
        return None
    if schema.get("type") == "boolean":
        return text == "true"
    if "oneOf" in schema:
        words = [word.strip() for word in text.split(",") if word.strip()]
        return words[0] if len(words) == 1 else words or None
    return text


def is_null(section: Any, name: str) -> bool:
    """Return whether a section of a document has null for a member, which is more than not having it."""
    return isinstance(section, dict) and name in section and section[name] is None


def is_removed(document: Mapping[str, Any], field: str) -> bool:
    """Return whether a document removes the condition of a field that its parent has, alone or with its group."""
    *groups, last = field.split(SEPARATOR)
    section = document
    for group in groups:
        if is_null(section, group):
            return True
        section = section.get(group, {})
    return is_null(section, last)


def value_words(field: str, value: Any) -> str:
    """Return a value of a setting as people read it."""
    if value is None or value == []:
        return gettext("any") if field.startswith("conditions") else gettext("none")
    if isinstance(value, bool):
        return gettext("Yes") if value else gettext("No")
    if "enum" in SETTINGS.get(field, {}):
        return gettext(as_text(value).capitalize())
    return as_text(value) or gettext("none")


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

"""The form of a source: every setting with what it means, checked as the service checks it."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy
from django.utils.translation import gettext_lazy as _
from unfold import widgets

from apps.core.admin.key_forms import IdentifierInput
from apps.core.admin.kit import LinesField
from apps.core.domain.errors import InvalidInputError, MemoryHubError
from apps.core.pages.sayings import say
from apps.sync.domain.plan import allowed_resolutions
from apps.sync.domain.state import ConflictType
from apps.sync.domain.triggers import format_duration, parse_duration
from apps.sync.models import ConflictTypeChoices, KnowledgeSource, ResolutionChoices
from apps.sync.repository.locations import parse_location
from apps.sync.sources.values import CHECKS

RESOLUTION = "resolution_"
LABELS = {
    "user_id": _("Owner"),
    "kind": _("What it is"),
    "location": _("Address or path"),
    "folder": _("Only below this folder"),
    "include": _("Only these files"),
    "exclude": _("Not these files"),
    "layer": _("Layer of items that name none"),
    "convention": _("How files are read"),
    "mapping": _("What its words mean"),
    "credentials": _("Secret for fetching"),
    "webhook_secret": _("Secret of the webhook"),
    "session_threshold": _("After this many sessions"),
    "daily_at": _("Every day at (UTC)"),
    "max_items": _("Maximum items in an incremental sync"),
    "enabled": _("Switched on"),
}
HELP = {
    "name": _("Every pointer ends with it, as in “Ref: platform/ADR-0012”, so a change rewrites them all."),
    "user_id": _(
        "Whose memories the pointers are: a team such as team:platform, or a person. Keys find them if they are "
        "bound to the owner or were granted access to it. It cannot be changed later."
    ),
    "project": _("Pointers carry it as a tag that searches can filter by. May be blank."),
    "kind": _("It cannot be changed later."),
    "location": _(
        "For a repository: https://, ssh:// or file://, without a password. A path on this machine must be inside a "
        "folder of MEMORYHUB_SYNC_ROOTS."
    ),
    "branch": _("Blank: the branch that a clone would check out."),
    "folder": _("Such as docs/adr. Blank: everything."),
    "include": _("Patterns such as docs/**/*.md, one per line. None: Markdown and reStructuredText."),
    "exclude": _("Patterns such as **/README.md, one per line."),
    "layer": _("Who the knowledge applies to. A file can override this in its front matter."),
    "convention": _("A dry run shows what each file would become."),
    "mapping": _(
        "A JSON object with the objects fields, statuses and kinds: what names, statuses and numbered folders mean. "
        "The guide has an example. May be blank."
    ),
    "credentials": _(
        "The name of the secret: the secret itself is in MEMORYHUB_SYNC_SECRET_ with this name, or in a file in the "
        "folder sync-secrets, and never in the database. Blank: none is needed."
    ),
    "webhook_secret": _("The name of the secret, as above. Blank: webhook calls are refused."),
    "session_threshold": _("Assistant sessions recorded since the last sync. Blank: they do not count."),
    "daily_at": _("Such as 03:30. Blank: at no fixed time."),
    "max_items": _("The rest follows in the next run. Blank: no limit."),
    "enabled": _("Off: nothing is synced, by hand or otherwise. What was synced stays as it is."),
}
STALENESS_HELP = _("Such as 6h, 30m or 1d12h since the last sync. Blank: age does not start one.")


class SpanField(forms.CharField):
    """A span of time such as `1d12h`, kept in seconds."""

    def prepare_value(self, value: Any) -> Any:
        return format_duration(value) if isinstance(value, int) else value

    def to_python(self, value: Any) -> Any:
        text = "".join(str(super().to_python(value)).split())
        if not text:
            return None
        try:
            return parse_duration(text)
        except InvalidInputError as error:
            raise ValidationError(say(str(error.detail))) from error

    def has_changed(self, initial: Any, data: Any) -> bool:
        try:
            return bool(self.to_python(data) != initial)
        except ValidationError:
            return True


def resolution_field(kind: ConflictType) -> forms.ChoiceField:
    """Return the field for what is done about conflicts of a type."""
    default, *others = (ResolutionChoices(one) for one in allowed_resolutions(kind))
    return forms.ChoiceField(
        label=gettext_lazy(ConflictTypeChoices(kind).label),
        required=False,
        choices=[
            ("", format_lazy("{label}{by_default}", label=gettext_lazy(default.label), by_default=_(", by default"))),
            *((str(one.value), gettext_lazy(one.label)) for one in others),
        ],
        widget=widgets.UnfoldAdminSelectWidget,
    )


class SourceForm(forms.ModelForm):
    """The settings of a source. Each field is checked as the service does it."""

    include = LinesField(
        required=False,
        label=LABELS["include"],
        help_text=HELP["include"],
        widget=widgets.UnfoldAdminTextareaWidget(attrs={"rows": 3}),
    )
    exclude = LinesField(
        required=False,
        label=LABELS["exclude"],
        help_text=HELP["exclude"],
        widget=widgets.UnfoldAdminTextareaWidget(attrs={"rows": 3}),
    )
    staleness_seconds = SpanField(
        required=False,
        label=_("When it is older than"),
        help_text=STALENESS_HELP,
        widget=widgets.UnfoldAdminTextInputWidget,
    )

    resolution_hash_mismatch = resolution_field(ConflictType.HASH_MISMATCH)
    resolution_orphaned_pointer = resolution_field(ConflictType.ORPHANED_POINTER)
    resolution_duplicate_pointer = resolution_field(ConflictType.DUPLICATE_POINTER)
    resolution_status_change = resolution_field(ConflictType.STATUS_CHANGE)
    resolution_layer_mismatch = resolution_field(ConflictType.LAYER_MISMATCH)

    class Meta:
        model = KnowledgeSource
        fields = [
            "name", "user_id", "project", "kind", "location", "branch", "folder", "include", "exclude", "layer",
            "convention", "mapping", "credentials", "webhook_secret", "staleness_seconds", "session_threshold",
            "daily_at", "max_items", "enabled",
        ]  # fmt: skip
        labels = LABELS
        help_texts = HELP
        widgets = {"user_id": IdentifierInput}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            if name.startswith(RESOLUTION):
                field.initial = self.instance.resolutions.get(name.removeprefix(RESOLUTION), "")

    def clean(self) -> dict[str, Any]:
        """Check each field as the service does, so that a refusal is shown beside its field."""
        data = super().clean() or self.cleaned_data
        for name in [name for name in CHECKS if name in data]:
            try:
                data[name] = CHECKS[name](name, data[name])
            except MemoryHubError as error:
                self.add_error(name, say(str(error.detail)))
        return data

    def clean_location(self) -> str:
        """Check that the address can be used for what the source is."""
        location, kind = self.cleaned_data["location"], self.cleaned_data.get("kind") or self.instance.kind
        try:
            parse_location(location, kind=kind)
        except InvalidInputError as error:
            raise ValidationError(say(str(error.detail))) from error
        return str(location)

    def values(self) -> dict[str, Any]:
        """Return the fields that differ from those of the page, as the services take them."""
        changed = [name for name in self.changed_data if name in self.cleaned_data]
        values = {name: self.cleaned_data[name] for name in changed if not name.startswith(RESOLUTION)}
        if any(name.startswith(RESOLUTION) for name in changed):
            # Without those that are left to the default.
            chosen = {name: one for name, one in self.cleaned_data.items() if name.startswith(RESOLUTION) and one}
            values["resolutions"] = {name.removeprefix(RESOLUTION): one for name, one in chosen.items()}
        return values

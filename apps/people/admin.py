"""Who belongs to which household and persona, in the admin; foreign writes among them."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.decorators import action, display
from unfold.widgets import UnfoldAdminTextInputWidget

from apps.core.admin.key_forms import IdentifierInput
from apps.core.admin.kit import NOTHING, badge_column, column, list_link, moment_column, operator_access, scope_in_words
from apps.core.admin.steps import copy_columns
from apps.core.db.memberships import named
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import IDENTIFIERS, Scope, system_access
from apps.core.models import DisplayName, Membership, MembershipState
from apps.core.services import membership_create, membership_end
from apps.episodic.selectors import event_counts
from apps.semantic.selectors import memory_counts

STATE_COLOURS: dict[str, str | None] = {MembershipState.MEMBER: "success", MembershipState.FOREIGN: "warning"}


class MembershipForm(forms.ModelForm):
    """A user, and the household or the persona that they belong to."""

    class Meta:
        model = Membership
        fields = ["user_id", "household_id", "persona_id"]
        widgets = dict.fromkeys(IDENTIFIERS, IdentifierInput)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        if bool(data.get("household_id")) is bool(data.get("persona_id")):
            self.add_error("household_id", _("Name either a household or a persona."))
        # To say again what is said already is no fault, and accepts what was foreign.
        self.instance = Membership.objects.filter(**data).first() or self.instance
        return data


@admin.register(Membership)
class MembershipAdmin(ModelAdmin):
    """Say who belongs where, accept foreign writes, and end memberships. No row is deleted: what was said is kept."""

    form = MembershipForm
    list_display = ["user_id", "belongs_to", "state_label", "there", "made_by", "made"]
    list_filter = ["state"]
    search_fields = ["user_id", "household_id", "persona_id"]
    search_help_text = _("The id of a user, household or persona")
    list_fullwidth = True
    actions = ["accept", "end"]

    state_label = badge_column("state", _("State"), STATE_COLOURS)
    made = moment_column("made_at", _("Said at"), ordering="made_at")

    @display(description=_("Belongs to"), ordering="household_id")
    def belongs_to(self, row: Membership) -> str:
        """Show the household or persona by its name, with its id."""
        [(kind, one)] = row.tie.ends().items()
        called: dict[str, Any] = {kind: named(one, getattr(row, "called", None))}
        return scope_in_words(Scope(**called))

    def get_queryset(self, request: HttpRequest) -> QuerySet[Membership]:
        ends = {name: OuterRef(name) for name in ("household_id", "persona_id")}
        names = DisplayName.objects.filter(**ends).values("name")
        return super().get_queryset(request).annotate(called=Subquery(names))

    @display(description=_("What is there"))
    def there(self, row: Membership) -> SafeString | str:
        """Show how much a user has there, where that is a question."""
        if row.state != MembershipState.FOREIGN:
            return NOTHING
        memories = sum(one.active for one in memory_counts(system_access(), row.tie, "user_id"))
        try:
            events = sum(one.events for one in event_counts(system_access(), row.tie, "user_id"))
        except MemoryHubError:  # files are being loaded
            events = 0
        said = [
            ngettext("%(n)s memory", "%(n)s memories", memories) % {"n": f"{memories:,}"},
            ngettext("%(n)s event", "%(n)s events", events) % {"n": f"{events:,}"},
        ]
        return list_link("admin:semantic_memory_changelist", ", ".join(said), user_id=row.user_id)

    @action(description=_("Make the selected users members"), icon="how_to_reg")
    def accept(self, request: HttpRequest, queryset: QuerySet[Membership]) -> None:
        """Make members of users with foreign writes: what they have there is found from now on."""
        for row in queryset.filter(state=MembershipState.FOREIGN):
            membership_create(access=operator_access(request), scope=row.tie)
            self.log_change(request, row, "Accepted.")
        messages.success(request, gettext("They are now members, and their data there can be found."))

    @action(description=_("End the selected memberships"), icon="person_remove")
    def end(self, request: HttpRequest, queryset: QuerySet[Membership]) -> None:
        """End memberships: what the users have there stays theirs, and is not found there any more."""
        for row in queryset.filter(state=MembershipState.MEMBER):
            membership_end(access=operator_access(request), uuid=row.uuid)
            self.log_change(request, row, "Ended.")
        messages.success(request, gettext("They are no longer members. Their data there is theirs alone."))

    def save_model(self, request: HttpRequest, obj: Membership, form: Any, change: bool) -> None:
        saved, _is_new = membership_create(access=operator_access(request), scope=obj.tie)
        copy_columns(saved, obj)

    def has_change_permission(self, request: HttpRequest, obj: Membership | None = None) -> bool:
        return obj is None and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Membership | None = None) -> bool:
        return False


class DisplayNameForm(forms.ModelForm):
    """A household or a persona, and what pages call it."""

    class Meta:
        model = DisplayName
        fields = ["household_id", "persona_id", "name"]
        widgets = {"household_id": IdentifierInput, "persona_id": IdentifierInput, "name": UnfoldAdminTextInputWidget}

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        ends = {"household_id": data.get("household_id", ""), "persona_id": data.get("persona_id", "")}
        if self.instance.pk is None and bool(ends["household_id"]) is bool(ends["persona_id"]):
            self.add_error("household_id", _("Name either a household or a persona."))
        elif self.instance.pk is None and DisplayName.objects.filter(**ends).exists():
            self.add_error("household_id", _("It has a name already: change that one."))
        return data


@admin.register(DisplayName)
class DisplayNameAdmin(ModelAdmin):
    """Say what pages call a household or a persona. Without a name they show its id."""

    form = DisplayNameForm
    list_display = ["name", "of", "named_by", "named"]
    search_fields = ["household_id", "persona_id", "name"]
    search_help_text = _("A name, or the id of a household or persona")

    of = column(_("Name of"), lambda row: scope_in_words(Scope(None, row.household_id or None, row.persona_id or None)))
    named = moment_column("named_at", _("Said at"), ordering="named_at")

    def get_readonly_fields(self, request: HttpRequest, obj: DisplayName | None = None) -> list[str]:
        return [] if obj is None else ["household_id", "persona_id"]

    def save_model(self, request: HttpRequest, obj: DisplayName, form: Any, change: bool) -> None:
        obj.named_by, obj.named_at = operator_access(request).actor[:200], utcnow(SYSTEM_CLOCK)
        super().save_model(request, obj, form, change)

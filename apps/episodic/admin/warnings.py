"""Active and past warnings of the timeline in the admin, with what to do about them."""

from typing import Any

from django.contrib import admin
from django.db.models import Case, F, QuerySet, Value, When
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.contrib.filters.admin import DropdownFilter, RangeDateTimeFilter
from unfold.decorators import display

from apps.core.admin.kit import ReadOnly, badge, column, excerpt, moment, moment_column, two_lines
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.pages.sayings import say
from apps.core.pages.times import in_words
from apps.episodic.admin.columns import TimelineTab, segment_link
from apps.episodic.domain.alarms import HINTS, Severity, WarningKind
from apps.episodic.models import TimelineWarning

SEVERITY_COLOURS = {Severity.NOTICE: "info", Severity.WARNING: "warning", Severity.CRITICAL: "danger"}
ACTIVE, OVER = "active", "over"
RANK = Case(*[When(severity=severity, then=Value(rank)) for rank, severity in enumerate(Severity)])


class ActiveFilter(DropdownFilter):
    """Filter active or past warnings."""

    title, parameter_name = _("state"), "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(ACTIVE, gettext("Active")), (OVER, gettext("Over"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[TimelineWarning]) -> QuerySet[TimelineWarning]:
        if self.value() not in (ACTIVE, OVER):
            return queryset
        return queryset.filter(ended_at__isnull=self.value() == ACTIVE)


@admin.register(TimelineWarning)
class TimelineWarningAdmin(TimelineTab, ReadOnly, ModelAdmin):
    """Warnings, to read: the hub begins and ends them."""

    list_display = ["what", "severity_now", "when", "advice"]
    list_display_links = ["what"]
    list_filter = [ActiveFilter, "severity", "kind", ("began_at", RangeDateTimeFilter)]
    list_filter_submit = True
    list_fullwidth = True
    list_select_related = ["segment"]
    list_per_page = 50
    ordering = [F("ended_at").desc(nulls_first=True), RANK.desc(), "-began_at"]
    empty_text = _("There has been no warning yet.")
    fieldsets = [
        (None, {"fields": ["kind_label", "severity_label", "said", "about", "advice", "consequence"]}),
        (_("Time"), {"fields": [("began", "last_seen"), "ended"]}),
    ]  # fmt: skip
    readonly_fields = [
        "kind_label", "severity_label", "said", "about", "advice", "consequence", "began", "last_seen", "ended",
    ]  # fmt: skip

    # Columns

    @display(description=_("Warning"))
    def what(self, warning: TimelineWarning) -> SafeString:
        return format_html('{}<span class="mh-sub">{}</span>', warning.get_kind_display(), excerpt(say(warning.detail)))

    @display(description=_("Severity"))
    def severity_now(self, warning: TimelineWarning) -> SafeString:
        return format_html('{}<span class="mh-sub">{}</span>', severity_badge(warning), state_of(warning))

    @display(description=_("Since"))
    def when(self, warning: TimelineWarning) -> SafeString:
        if warning.ended_at is None:
            return two_lines(
                moment(warning.began_at), gettext("last seen %(at)s") % {"at": moment(warning.last_seen_at)}
            )
        return two_lines(moment(warning.began_at), gettext("ended after %(time)s") % {"time": lasted(warning)})

    @display(description=_("What to do"))
    def advice(self, warning: TimelineWarning) -> SafeString | str:
        return say(HINTS[WarningKind(warning.kind)]) if warning.ended_at is None else gettext("Nothing: it has ended.")

    # The page of a warning

    kind_label = column(_("Warning"), lambda warning: warning.get_kind_display())

    @display(description=_("Severity"))
    def severity_label(self, warning: TimelineWarning) -> SafeString:
        return format_html("{} {}", severity_badge(warning), state_of(warning))

    said = column(_("Detail"), lambda warning: say(warning.detail))
    about = column(_("Segment"), lambda warning: segment_link(warning.segment, with_state=True))

    @display(description=_("Consequence"))
    def consequence(self, warning: TimelineWarning) -> str:
        if warning.ended_at is not None:
            return gettext("None: the warning has ended.")
        if warning.severity == Severity.NOTICE:
            return gettext("None yet.")
        return gettext("Events are recorded as usual; they become memories once the warning has ended.")

    began = moment_column("began_at", _("Since"))
    last_seen = moment_column("last_seen_at", _("Last seen at"))

    @display(description=_("Until"))
    def ended(self, warning: TimelineWarning) -> str:
        if warning.ended_at:
            words = gettext("%(at)s, after %(time)s")
            return words % {"at": moment(warning.ended_at), "time": lasted(warning)}
        return gettext("active for %(time)s") % {"time": lasted(warning)}


def severity_badge(warning: TimelineWarning) -> str:
    """Render the severity, with its colour while the warning is active."""
    colour = SEVERITY_COLOURS[Severity(warning.severity)] if warning.ended_at is None else None
    return badge(warning.get_severity_display(), colour)


def state_of(warning: TimelineWarning) -> str:
    """Return `active` or `over`."""
    return gettext("active") if warning.ended_at is None else gettext("over")


def lasted(warning: TimelineWarning) -> str:
    """Format how long a warning was active, or has been until now."""
    until = warning.ended_at or utcnow(SYSTEM_CLOCK)
    return in_words(until - warning.began_at)

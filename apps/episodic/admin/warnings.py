"""Active and past warnings of the timeline in the admin, with what to do about them."""

from typing import Any

from django.contrib import admin
from django.db.models import Case, F, QuerySet, Value, When
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.admin import ModelAdmin
from unfold.contrib.filters.admin import DropdownFilter, RangeDateTimeFilter
from unfold.decorators import display

from apps.core.admin.kit import ReadOnly, badge, column, excerpt, moment, moment_column, two_lines
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.pages.times import in_words
from apps.episodic.admin.columns import TimelineTab, segment_link
from apps.episodic.domain.warnings import HINTS, Severity, WarningKind
from apps.episodic.models import TimelineWarning

SEVERITY_COLOURS = {"Notice": "info", "Warning": "warning", "Critical": "danger"}
ACTIVE, OVER = "active", "over"
RANK = Case(*[When(severity=severity, then=Value(rank)) for rank, severity in enumerate(Severity)])


class ActiveFilter(DropdownFilter):
    """Filter active or past warnings."""

    title, parameter_name = "state", "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(ACTIVE, "Active"), (OVER, "Over")]

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
    empty_text = "There has been no warning yet."
    fieldsets = [
        (None, {"fields": ["kind_label", "severity_label", "detail", "about", "advice", "consequence"]}),
        ("Time", {"fields": [("began", "last_seen"), "ended"]}),
    ]  # fmt: skip
    readonly_fields = [
        "kind_label", "severity_label", "about", "advice", "consequence", "began", "last_seen", "ended",
    ]  # fmt: skip

    # Columns

    @display(description="Warning")
    def what(self, warning: TimelineWarning) -> SafeString:
        return format_html('{}<span class="mh-sub">{}</span>', warning.get_kind_display(), excerpt(warning.detail))

    @display(description="Severity")
    def severity_now(self, warning: TimelineWarning) -> SafeString:
        return format_html('{}<span class="mh-sub">{}</span>', severity_badge(warning), state_of(warning))

    @display(description="Since")
    def when(self, warning: TimelineWarning) -> SafeString:
        if warning.ended_at is None:
            return two_lines(moment(warning.began_at), f"last seen {moment(warning.last_seen_at)}")
        return two_lines(moment(warning.began_at), f"over after {lasted(warning)}")

    @display(description="What to do")
    def advice(self, warning: TimelineWarning) -> SafeString | str:
        return HINTS[WarningKind(warning.kind)] if warning.ended_at is None else "Nothing: it has ended."

    # The page of a warning

    kind_label = column("Warning", lambda warning: warning.get_kind_display())

    @display(description="Severity")
    def severity_label(self, warning: TimelineWarning) -> SafeString:
        return format_html("{} {}", severity_badge(warning), state_of(warning))

    about = column("Segment", lambda warning: segment_link(warning.segment, with_state=True))

    @display(description="Consequence")
    def consequence(self, warning: TimelineWarning) -> str:
        if warning.ended_at is not None:
            return "None: the warning has ended."
        if warning.severity == Severity.NOTICE:
            return "None yet."
        return "Events are recorded as usual; they are made into memories when the warning has ended."

    began = moment_column("began_at", "Since")
    last_seen = moment_column("last_seen_at", "Last seen at")

    @display(description="Until")
    def ended(self, warning: TimelineWarning) -> str:
        lasts = lasted(warning)
        return f"{moment(warning.ended_at)}, after {lasts}" if warning.ended_at else f"active for {lasts}"


def severity_badge(warning: TimelineWarning) -> str:
    """Render the severity, with its colour while the warning is active."""
    label = warning.get_severity_display()
    return badge(label, SEVERITY_COLOURS[label] if warning.ended_at is None else None)


def state_of(warning: TimelineWarning) -> str:
    """Return `active` or `over`."""
    return "active" if warning.ended_at is None else "over"


def lasted(warning: TimelineWarning) -> str:
    """Format how long a warning was active, or has been until now."""
    until = warning.ended_at or utcnow(SYSTEM_CLOCK)
    return in_words(until - warning.began_at)

"""Problems of the timeline and of sources of knowledge."""

from collections.abc import Iterator

from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from apps.core.domain.scope import system_access
from apps.core.pages.sayings import say
from apps.episodic.domain.alarms import HINTS, Severity, WarningKind
from apps.episodic.selectors import active_warnings
from apps.monitor.domain.problems import Problem, ProblemSeverity
from apps.sync.selectors import failing_sources
from memoryhub.problems.links import link, object_link

SENTENCES = {
    WarningKind.WRITE_LATENCY: _("Recording events of the timeline is slow."),
    WarningKind.SEGMENT_DAMAGED: _("A segment of the timeline is damaged: its events are missing from every answer."),
    WarningKind.DISK_NEARLY_FULL: _("The disk is too full to seal segments of the timeline."),
    WarningKind.CAPACITY: _("Too many events are waiting to be archived."),
    WarningKind.MAINTENANCE_FAILED: _("Timeline maintenance is failing."),
}
REWRITTEN = _(
    "The file of a segment of the timeline is damaged. Its events are still stored as rows, and the file "
    "is being rewritten."
)
SUSPENDED = _("Until it ends, events do not become memories.")
SEVERITIES = {
    Severity.NOTICE: ProblemSeverity.NOTICE,
    Severity.WARNING: ProblemSeverity.WARNING,
    Severity.CRITICAL: ProblemSeverity.CRITICAL,
}
MAX_SOURCES = 10


def timeline_problems() -> Iterator[Problem]:
    """Yield the active warnings of the timeline."""
    for warning in active_warnings():
        kind, severity = WarningKind(warning.kind), Severity(warning.severity)
        has_rows = kind is WarningKind.SEGMENT_DAMAGED and severity is Severity.NOTICE
        sentence = f"{REWRITTEN if has_rows else SENTENCES[kind]} {say(warning.detail)}".rstrip()
        remedy = link(gettext("See the warnings"), "admin:episodic_timelinewarning_changelist", more="?state=active")
        if warning.segment is not None:
            remedy = object_link(gettext("See the segment"), "admin:episodic_segment_change", warning.segment.pk)
        yield Problem(
            code=f"timeline_{kind.value}",
            severity=SEVERITIES[severity],
            sentence=sentence if severity is Severity.NOTICE else f"{sentence} {SUSPENDED}",
            advice=say(HINTS[kind]),
            permission="episodic.view_timelinewarning",
            subject=str(warning.segment.uuid) if warning.segment is not None else "",
            since=warning.began_at,
            remedy=remedy,
        )


def knowledge_problems() -> Iterator[Problem]:
    """Yield the sources of knowledge whose last sync failed or could not read some files; ten at most."""
    for source in failing_sources(system_access("monitor"))[:MAX_SOURCES]:
        is_failed = source.state == "failed"
        if is_failed:
            said = gettext("The last sync of “%(name)s” failed (%(code)s): its knowledge is unchanged.")
        else:
            said = ngettext(
                "The last sync of “%(name)s” left out %(n)s item that could not be read or saved.",
                "The last sync of “%(name)s” left out %(n)s items that could not be read or saved.",
                source.failed,
            )
        sentence = said % {"name": source.name, "code": source.code, "n": f"{source.failed:,}"}
        yield Problem(
            code="knowledge_failing" if is_failed else "knowledge_incomplete",
            severity=ProblemSeverity.WARNING if is_failed else ProblemSeverity.NOTICE,
            sentence=sentence,
            advice=gettext("The page of the source says what failed, and syncs again."),
            permission="sync.view_knowledgesource",
            subject=source.name,
            since=source.since,
            remedy=object_link(gettext("See the source"), "admin:sync_knowledgesource_change", source.pk),
        )

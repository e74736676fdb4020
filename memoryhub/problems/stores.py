"""Problems of the timeline and of sources of knowledge."""

from collections.abc import Iterator

from apps.core.domain.scope import system_access
from apps.episodic.domain.warnings import HINTS, Severity, WarningKind
from apps.episodic.selectors import active_warnings
from apps.monitor.domain.problems import Problem, ProblemSeverity
from apps.sync.selectors import failing_sources
from memoryhub.problems.jobs import counted
from memoryhub.problems.links import link, object_link

SENTENCES = {
    WarningKind.WRITE_LATENCY: "Recording events of the timeline is slow.",
    WarningKind.SEGMENT_DAMAGED: "A segment of the timeline is damaged: its events are missing in every answer.",
    WarningKind.DISK_NEARLY_FULL: "The disk is too full to seal segments of the timeline.",
    WarningKind.CAPACITY: "More events wait to be archived than should.",
    WarningKind.MAINTENANCE_FAILED: "The maintenance of the timeline fails.",
}
REWRITTEN = "The file of a segment of the timeline is damaged. Its events are still rows, and it is written again."
SUSPENDED = "Until it ends, events do not become memories."
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
        sentence = f"{REWRITTEN if has_rows else SENTENCES[kind]} {warning.detail}".rstrip()
        remedy = link("See the warnings", "admin:episodic_timelinewarning_changelist", more="?state=active")
        if warning.segment is not None:
            remedy = object_link("See the segment", "admin:episodic_segment_change", warning.segment.pk)
        yield Problem(
            code=f"timeline_{kind.value}",
            severity=SEVERITIES[severity],
            sentence=sentence if severity is Severity.NOTICE else f"{sentence} {SUSPENDED}",
            advice=HINTS[kind],
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
            sentence = f"The last sync of “{source.name}” failed ({source.code}): its knowledge is as it was before."
        else:
            files = counted(source.failed, "item", "items")
            sentence = f"The last sync of “{source.name}” left out {files} that could not be read or saved."
        yield Problem(
            code="knowledge_failing" if is_failed else "knowledge_incomplete",
            severity=ProblemSeverity.WARNING if is_failed else ProblemSeverity.NOTICE,
            sentence=sentence,
            advice="The page of the source says what failed, and syncs again.",
            permission="sync.view_knowledgesource",
            subject=source.name,
            since=source.since,
            remedy=object_link("See the source", "admin:sync_knowledgesource_change", source.pk),
        )

"""Whether files, indexes and rows agree. Findings count, and name nobody: neither users nor notes."""

from collections import defaultdict
from collections.abc import Iterator
from functools import partial

from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from apps.core.domain.errors import UnavailableError
from apps.core.file_roots import own_folder, roots
from apps.core.pages.sayings import say
from apps.core.processes import live_processes
from apps.core.words import Words
from apps.episodic.services import FindingKind, MaintenanceRunningError, timeline_examine
from apps.monitor.domain.problems import Problem, ProblemSeverity
from apps.notes.selectors import notes_examine
from apps.semantic.services import index_examine
from memoryhub.doctor.database import cut_names, finding

# For how long an examination waits for a maintenance of the timeline to end.
WAIT_SECONDS = 5.0
CRITICAL, WARNING, NOTICE = ProblemSeverity.CRITICAL, ProblemSeverity.WARNING, ProblemSeverity.NOTICE
REPAIR = _("Run `manage.py timeline doctor`, which says more of each; with --repair it repairs what it can.")
# How bad it is, what is wrong, and what to do. %(names)s: ids of segments or names of their files.
TIMELINE: dict[FindingKind, tuple[ProblemSeverity, Words, Words]] = {
    FindingKind.DAMAGED: (
        CRITICAL,
        _("Segments whose file is missing or damaged: %(names)s."),
        _("Copy the files back from a backup, or save what can be read: `manage.py timeline doctor --repair`."),
    ),
    FindingKind.ROWS_DIFFER: (WARNING, _("Segments that have other rows than their file: %(names)s."), REPAIR),
    FindingKind.RECORDED_TWICE: (
        WARNING,
        _("Segments with events that are there as rows, too: %(names)s."),
        REPAIR,
    ),
    FindingKind.UNKNOWN_FILE: (
        WARNING,
        _("Files of segments that the database does not know: %(names)s."),
        _("Keep them: their events may exist only there. `manage.py timeline doctor --repair` sets them aside."),
    ),
    FindingKind.LEFT_OVER: (NOTICE, _("Files that are needed no more: %(names)s."), _("The worker removes them.")),
    FindingKind.STRANGE_FILE: (
        NOTICE,
        _("Files in the folder of the timeline that are no segments: %(names)s."),
        _("Nothing reads them. Move them elsewhere."),
    ),
}


def folder_findings() -> Iterator[Problem]:
    """Yield the folders of files that are not there, or are those of another hub."""
    for root in roots():
        try:
            own_folder(root.place, root.what)
        except UnavailableError as error:
            yield finding(
                "files_elsewhere",
                CRITICAL,
                say(error.detail),
                gettext(
                    "Mount or copy the right folder, or check MEMORYHUB_FILES_URL and its store. Only if its files are "
                    "lost for good, run `manage.py prepare --adopt-files`."
                ),
            )


def segment_findings(*, thorough: bool = False) -> Iterator[Problem]:
    """Yield what differs between the catalogue of segments, their files and their rows, a finding for each kind."""
    try:
        report = timeline_examine(thorough=thorough, wait_seconds=WAIT_SECONDS)
    except MaintenanceRunningError:
        yield finding(
            "timeline_busy",
            NOTICE,
            gettext("The timeline is being maintained, so its files were not examined."),
            gettext("Run the doctor again in a minute."),
        )
        return
    except UnavailableError:  # the folder of another hub, which is said already
        return
    found = defaultdict(list)
    for one in report.findings:
        found[one.kind].append(one.subject)
    for kind, subjects in found.items():
        severity, sentence, advice = TIMELINE[kind]
        yield finding(f"segments_{kind.value}", severity, str(sentence) % {"names": cut_names(subjects)}, str(advice))
    if report.failures:
        said = ngettext(
            "%(n)s segment could not be examined.", "%(n)s segments could not be examined.", len(report.failures)
        )
        yield finding("segments_unread", WARNING, said % {"n": len(report.failures)}, str(REPAIR))


def counted(*kinds: tuple[str, int, ProblemSeverity, str, str]) -> Iterator[Problem]:
    """Yield a finding of each kind that there is any of: code, how many, how bad, the sentence with %(n)s, advice."""
    for code, count, severity, sentence, advice in kinds:
        if count:
            yield finding(code, severity, sentence % {"n": f"{count:,}"}, advice)


def note_findings(*, thorough: bool = False) -> Iterator[Problem]:
    """Yield how many notes differ from their versions."""
    try:
        found = notes_examine(thorough=thorough)
    except UnavailableError:  # as above
        return
    # While nothing runs nobody looks at the disk.
    unseen = WARNING if live_processes() else NOTICE
    yield from counted(
        (
            "notes_missing",
            found.missing,
            WARNING,
            ngettext("%(n)s note has versions, and no file.", "%(n)s notes have versions, and no file.", found.missing),
            gettext("They count as deleted once somebody looks. If they were lost, restore them from their versions."),
        ),
        (
            "notes_unrecorded",
            found.unrecorded,
            unseen,
            ngettext(
                "%(n)s note was changed on the disk, and no version has it.",
                "%(n)s notes were changed on the disk, and no version has them.",
                found.unrecorded,
            ),
            gettext("The worker records them within minutes. If this stays, read logs/worker.log."),
        ),
        (
            "notes_unfinished",
            found.unfinished,
            unseen,
            ngettext(
                "%(n)s change of a note was not finished.",
                "%(n)s changes of notes were not finished.",
                found.unfinished,
            ),
            gettext("They are finished when somebody opens the note."),
        ),
        (
            "notes_unreadable",
            found.unreadable,
            WARNING,
            ngettext("%(n)s note cannot be read.", "%(n)s notes cannot be read.", found.unreadable),
            gettext("Check who owns the files, their size (5 MB at most), and hard links to them."),
        ),
    )


def index_findings(*, thorough: bool = False) -> Iterator[Problem]:
    """Yield what searches lack of the memories."""
    found = index_examine(thorough=thorough)
    if found.other_space:
        stored, configured = found.other_space
        yield finding(
            "index_other_space",
            CRITICAL,
            gettext("The stored vectors are of %(stored)s, and the configured model makes those of %(configured)s.")
            % {"stored": stored, "configured": configured},
            gettext("Set MEMORYHUB_EMBEDDER to the model of the vectors, or run `manage.py reembed`."),
        )
    yield from counted(
        (
            "index_without_vector",
            found.without_vector,
            WARNING,
            ngettext(
                "%(n)s memory has no vector, so it is not found by meaning.",
                "%(n)s memories have no vector, so they are not found by meaning.",
                found.without_vector,
            ),
            gettext("Run `manage.py reembed`."),
        ),
        (
            "index_outdated_words",
            found.outdated_words,
            WARNING,
            ngettext(
                "The keyword document of %(n)s memory is of another version.",
                "The keyword documents of %(n)s memories are of another version.",
                found.outdated_words,
            ),
            gettext("Run `manage.py prepare`, which makes them again."),
        ),
        (
            "index_out_of_order",
            found.out_of_order,
            CRITICAL,
            ngettext(
                "%(n)s memory has a later version than its user, so indexes may miss it.",
                "%(n)s memories have later versions than their users, so indexes may miss them.",
                found.out_of_order,
            ),
            gettext("The database was changed past the hub, or partly restored: restore it whole."),
        ),
        (
            "index_bad_snapshots",
            found.bad_snapshots,
            NOTICE,
            ngettext(
                "%(n)s snapshot of an index is damaged, or of a later time than the database.",
                "%(n)s snapshots of indexes are damaged, or of a later time than the database.",
                found.bad_snapshots,
            ),
            gettext("They are not used, and made again. `manage.py build_index --rebuild` does so now."),
        ),
    )


# With every file read from end to end.
checksum_findings = partial(segment_findings, thorough=True)
note_text_findings = partial(note_findings, thorough=True)
snapshot_findings = partial(index_findings, thorough=True)

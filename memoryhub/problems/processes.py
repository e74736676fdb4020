"""Problems of processes, of what they are ready for, of the vector index, and of the disk."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from django.conf import settings
from django.db.models import Max
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.core.health import MB, OK, disk_space, run_checks
from apps.core.models import HubProcess, ProcessKind
from apps.core.pages.lists import listed
from apps.core.pages.sayings import say
from apps.core.processes import DEAD_SECONDS, ProcessState, heard_processes, is_worker_awaited, run_name
from apps.core.words import Words
from apps.monitor.domain.problems import Problem, ProblemSeverity, Remedy
from apps.monitor.services import HUB_PERMISSION
from apps.semantic.domain.index_health import HINTS, IndexLevel, IndexReason
from memoryhub.config.shared import differing
from memoryhub.problems.links import link

INDEX_PERMISSION = "llm.view_embeddingspace"
REASONS = {
    IndexReason.BACKLOG: _("many memories are not in a graph yet"),
    IndexReason.CAPACITY: _("the indexes need more memory than they are allowed"),
    IndexReason.WRITE_LATENCY: _("saves are slow"),
    IndexReason.EVICTIONS: _("indexes are being dropped and loaded again"),
}
# What a check is about, how bad it is while it does not pass, and what to do.
PROCESS_CHECKS: Mapping[str, tuple[ProblemSeverity, Words, Words]] = {
    "files": (
        ProblemSeverity.CRITICAL,
        _("The files of this hub are not there: %(answer)s. Nothing counts as lost, and nothing of them can be used."),
        _(
            "Mount the folder of this hub again, or check MEMORYHUB_FILES_URL and its store. Only if its files are "
            "lost for good, run `manage.py prepare --adopt-files`."
        ),
    ),
    "embedding": (
        ProblemSeverity.CRITICAL,
        _("The embedding model is not ready, so nothing can be saved or searched by meaning: %(answer)s."),
        _("Check MEMORYHUB_EMBEDDER and its server."),
    ),
    "index": (
        ProblemSeverity.NOTICE,
        _("The vector index is being loaded: %(answer)s."),
        _("Wait: searches work, and saves will as soon as one process has loaded it."),
    ),
    "timeline": (
        ProblemSeverity.NOTICE,
        _("The timeline is being loaded: %(answer)s."),
        _("Wait: queries will work once it is loaded."),
    ),
}


def process_problems() -> Iterator[Problem]:
    """Yield what is wrong with the processes of this run, by one read of their signs of life."""
    states = heard_processes()
    yield from gone_host_problems(states)
    yield from problems_of_run([state for state in states if state.is_alive], settings.MEMORYHUB.run)


def problems_of_run(states: Iterable[ProcessState], named: str | None) -> Iterator[Problem]:
    """Yield what is wrong with the processes of a run. named: its name; None for those of this machine."""
    states, run = list(states), named or run_name()
    web = [state for state in states if state.kind is ProcessKind.WEB and state.run == run]
    workers = [state for state in states if state.kind is ProcessKind.WORKER and (named is None or state.run == run)]
    if not workers and not is_worker_awaited(web):
        # None where that is longer ago than dead processes are remembered.
        seen = HubProcess.objects.filter(kind=ProcessKind.WORKER).aggregate(last=Max("seen_at"))
        yield worker_problem(seen["last"])
    if named and len(web) < settings.MEMORYHUB.web_processes:
        yield Problem(
            code="web_process_missing",
            severity=ProblemSeverity.WARNING,
            sentence=gettext("%(count)s of %(total)s web processes are running.")
            % {"count": len(web), "total": settings.MEMORYHUB.web_processes},
            advice=gettext("Another one is started within seconds. If it does not stay up, read logs/web.log."),
            permission=HUB_PERMISSION,
        )
    yield from host_problems(states)
    yield from session_problems(states)
    yield from readiness_problems(web)
    yield from index_problems(web)


def gone_host_problems(states: Iterable[ProcessState]) -> Iterator[Problem]:
    """Yield the hosts that gave signs of life beside others, and went silent without ending in order."""
    ages: dict[str, float] = {}
    for state in states:
        ages[state.host] = min(state.age, ages.get(state.host, state.age))
    alive = {state.host for state in states if state.is_alive}
    for host in sorted(ages.keys() - alive) if alive else ():
        yield Problem(
            code="host_gone",
            severity=ProblemSeverity.WARNING,
            sentence=gettext("The host %(host)s was last heard of %(seconds)s seconds ago; the others go on.")
            % {"host": host, "seconds": f"{ages[host]:.0f}"},
            advice=gettext("Start it again. If it was taken away for good, this goes away within ten minutes."),
            permission=HUB_PERMISSION,
        )


def host_problems(states: Iterable[ProcessState]) -> Iterator[Problem]:
    """Yield that hosts of this hub have different settings."""
    hosts = {state.host: state.facts["settings"] for state in states if "settings" in state.facts}
    if names := differing(hosts):
        yield Problem(
            code="hosts_differ",
            severity=ProblemSeverity.WARNING,
            sentence=gettext("The %(count)s hosts of this hub have different settings: %(names)s.")
            % {"count": len(hosts), "names": ", ".join(names)},
            advice=gettext("Set them to the same values on all hosts, and start those again."),
            permission=HUB_PERMISSION,
        )


def session_problems(states: Iterable[ProcessState]) -> Iterator[Problem]:
    """Yield that connections for sessions are none: live pages hear nothing, and locks of jobs do not hold."""
    faults = {state.host: fault for state in states if (fault := state.facts.get("sessions", {}).get("fault"))}
    if faults:
        yield Problem(
            code="sessions_missing",
            severity=ProblemSeverity.CRITICAL,
            sentence=gettext("On %(hosts)s, live pages hear of no changes and locks of jobs do not hold.")
            % {"hosts": listed(sorted(faults))},
            advice=say(next(iter(faults.values()))),
            permission=HUB_PERMISSION,
        )


def worker_problem(since: datetime | None) -> Problem:
    """Return the problem that no worker runs. Only the supervisor of `up` can start another one from a page."""
    advice = gettext("Start `manage.py qcluster` again with what keeps it running; its log says why it ended.")
    remedy = link(gettext("See what is waiting"), "cockpit_work", more="#work-queue")
    if settings.MEMORYHUB.is_supervised:
        advice = gettext("Restart it here. If it stops again, the last lines of logs/worker.log say why.")
        remedy = Remedy(
            label=gettext("Restart worker"),
            url=reverse("cockpit_work_restart"),
            is_post=True,
            permission="django_q.change_schedule",
        )
    return Problem(
        code="worker_stopped",
        severity=ProblemSeverity.CRITICAL,
        sentence=gettext(
            "The background worker has stopped: nothing is delivered, learnt, sealed or synced. It has not been "
            "heard from for %(seconds)s seconds."
        )
        % {"seconds": f"{DEAD_SECONDS[ProcessKind.WORKER]:.0f}"},
        advice=advice,
        permission=HUB_PERMISSION,
        since=since,
        remedy=remedy,
    )


def readiness_problems(web: list[ProcessState]) -> Iterator[Problem]:
    """Yield what web processes are not ready for, as they have published it: also of use in other processes."""
    for name, (severity, sentence, advice) in PROCESS_CHECKS.items():
        answers = [state.checks[name] for state in web if state.checks.get(name, OK) != OK]
        if not answers:
            continue
        answer = say(answers[0]).rstrip(".。")
        if len(answers) < len(web):
            values = {"answer": answer, "count": len(answers), "total": len(web)}
            answer = gettext("in %(count)s of %(total)s web processes: %(answer)s") % values
        yield Problem(
            code=f"{name}_not_ready",
            severity=severity,
            sentence=sentence % {"answer": answer},
            advice=str(advice),
            permission=HUB_PERMISSION,
        )


def index_problems(web: list[ProcessState]) -> Iterator[Problem]:
    """Yield that the vector index of a process is over a limit: the worst level of all."""
    facts = [state.facts["index"] for state in web if "index" in state.facts]
    levels = Counter(each.get("level", IndexLevel.OK) for each in facts)
    level = next((one for one in (IndexLevel.DEGRADED, IndexLevel.WARNING) if levels[one]), None)
    if level is None:
        return
    found = [IndexReason(name) for each in facts if each["level"] == level for name in each["reasons"]]
    reasons = list(dict.fromkeys(found))
    said = gettext("The vector index is overloaded (a limit is near): %(reasons)s.")
    if level is IndexLevel.DEGRADED:
        said = gettext(
            "The vector index is overloaded (searches are exact and slow, and saves are limited): %(reasons)s."
        )
    yield Problem(
        code=f"index_{level.value}",
        severity=ProblemSeverity.CRITICAL if level is IndexLevel.DEGRADED else ProblemSeverity.WARNING,
        sentence=said % {"reasons": listed(str(REASONS[reason]) for reason in reasons)},
        advice=" ".join(say(HINTS[reason]) for reason in reasons),
        permission=INDEX_PERMISSION,
        remedy=link(gettext("See the index"), "cockpit_index", "admin:llm_embeddingspace_changelist"),
    )


def migration_problems() -> Iterator[Problem]:
    """Yield that the tables are of another version."""
    answer = run_checks({"migrations": settings.READINESS_CHECKS["migrations"]})["migrations"]
    if answer != OK:
        yield Problem(
            code="migrations_missing",
            severity=ProblemSeverity.CRITICAL,
            sentence=gettext("The tables belong to another version of the hub: %(answer)s.") % {"answer": say(answer)},
            advice=gettext("Stop the hub and run `manage.py prepare`."),
            permission=HUB_PERMISSION,
        )


def disk_problems() -> Iterator[Problem]:
    """Yield that the disk of the data directory is nearly full."""
    space = disk_space()
    if space.free >= space.warning:
        return
    is_critical = space.free < space.critical
    said = gettext(
        "The disk of the data directory is nearly full: %(free)s MB are free, and there should be %(wanted)s MB."
    )
    if is_critical:
        said = gettext(
            "The disk of the data directory is full: %(free)s MB are free, and there should be %(wanted)s MB."
        )
    yield Problem(
        code="disk_full" if is_critical else "disk_nearly_full",
        severity=ProblemSeverity.CRITICAL if is_critical else ProblemSeverity.WARNING,
        sentence=said % {"free": f"{space.free // MB:,}", "wanted": f"{space.warning // MB:,}"},
        advice=gettext(
            "Free up space or enlarge the disk: if it fills up, the database stops and nothing can be saved."
        ),
        permission=HUB_PERMISSION,
        remedy=link(gettext("Prune the timeline"), "admin:episodic_retentionpolicy_changelist"),
    )

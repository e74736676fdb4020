"""Whether processes and background work are as they should be, where the hub runs at all."""

import socket
from collections.abc import Iterator

from django.conf import settings
from django.utils.translation import gettext, ngettext
from django_q.models import Schedule

from apps.core.processes import ProcessState, heard_processes, live_processes
from apps.monitor.domain.problems import Problem, ProblemSeverity
from memoryhub.doctor.database import cut_names, finding
from memoryhub.problems.jobs import delivery_problems, schedule_problems
from memoryhub.problems.processes import gone_host_problems, problems_of_run
from memoryhub.schedules import SCHEDULES


def process_findings() -> Iterator[Problem]:
    """Yield what is wrong with the processes of the hub; a hub that does not run is no fault."""
    heard = heard_processes()
    states = [state for state in heard if state.is_alive]
    if not states:
        yield finding(
            "hub_stopped",
            ProblemSeverity.NOTICE,
            gettext("The hub is not running, so nothing is known of its processes."),
            gettext("Start it with `manage.py up` and run the doctor again."),
        )
        return
    yield from gone_host_problems(heard)
    named = settings.MEMORYHUB.run
    for problem in problems_of_run(states, named or run_here(states)):
        # How many processes are wanted is a setting of the run, which another process need not know.
        if named or problem.code != "web_process_missing":
            yield problem


def run_here(states: list[ProcessState]) -> str:
    """Return the name of the run to which the newest process belongs: of this machine, where it has any."""
    here = [state for state in states if state.host == socket.gethostname()]
    return max(here or states, key=lambda state: state.started_at).run


def schedule_findings() -> Iterator[Problem]:
    """Yield that schedules are missing, and, where the hub runs, that they are overdue."""
    known = set(Schedule.objects.values_list("name", flat=True))
    if missing := [spec.name for spec in SCHEDULES if spec.name not in known]:
        said = ngettext(
            "%(n)s schedule is missing: %(names)s.", "%(n)s schedules are missing: %(names)s.", len(missing)
        )
        yield finding(
            "schedules_missing",
            ProblemSeverity.WARNING,
            said % {"n": len(missing), "names": cut_names(missing)},
            gettext("Run `manage.py prepare`, which makes those that are missing."),
        )
    if live_processes():
        yield from schedule_problems()


def outbox_findings() -> Iterator[Problem]:
    """Yield what is wrong with deliveries; while the hub does not run, none is late."""
    is_running = bool(live_processes())
    for problem in delivery_problems():
        if is_running or problem.code != "deliveries_overdue":
            yield problem

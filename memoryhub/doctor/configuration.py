"""Whether the settings make sense, here and on the hosts of this hub."""

from collections.abc import Iterator

from django.core import checks
from django.utils.translation import gettext

from apps.core.processes import live_processes
from apps.monitor.domain.problems import Problem, ProblemSeverity
from apps.monitor.services import HUB_PERMISSION
from memoryhub.config.shared import differing, settings_facts
from memoryhub.doctor.database import finding


def setting_findings() -> Iterator[Problem]:
    """Yield what `manage.py check` says."""
    for message in checks.run_checks():
        if message.is_silenced() or message.level < checks.WARNING:
            continue
        is_error = message.level >= checks.ERROR
        yield Problem(
            code=f"check_{(message.id or 'unnamed').replace('.', '_').lower()}",
            severity=ProblemSeverity.CRITICAL if is_error else ProblemSeverity.WARNING,
            sentence=str(message.msg),
            advice=str(message.hint or gettext("See the page on configuration.")),
            permission=HUB_PERMISSION,
        )


def command_findings() -> Iterator[Problem]:
    """Yield that this process has other settings than the hub that runs."""
    hosts = {state.host: state.facts["settings"] for state in live_processes() if "settings" in state.facts}
    mine = settings_facts()
    if names := sorted({name for theirs in hosts.values() for name in differing({"": mine, "hub": theirs})}):
        yield finding(
            "settings_differ",
            ProblemSeverity.WARNING,
            gettext("The hub runs with other settings than this command: %(names)s.") % {"names": ", ".join(names)},
            gettext("Run commands with the environment of the hub: they would work with other settings."),
        )

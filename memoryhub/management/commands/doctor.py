"""Examine the whole hub."""

import json
import sys
from collections.abc import Sequence
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from apps.core.db.watch import database_watch
from apps.core.management.subcommands import count_of
from apps.monitor.domain.examinations import Examined, Verdict, verdict_of
from apps.monitor.domain.problems import Problem
from apps.monitor.services import examine
from memoryhub.doctor.reach import reached_database

WORDS = {Verdict.SOUND: "sound", Verdict.WARNINGS: "warnings", Verdict.PROBLEMS: "problems"}
SKIPPED = "not examined"


class Command(BaseCommand):
    help = (
        "Examine database, files, notes, index, background work, hosts, disk and clock, and say what is wrong and what "
        "to do. Changes nothing. Exits with 0 for a sound hub, 1 for warnings, 2 for problems."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--files", action="store_true", help="Read every file completely, and compare it with its checksum."
        )
        parser.add_argument("--json", action="store_true", help="Print the result as JSON.")

    def run_from_argv(self, argv: list[str]) -> None:
        """Run the command line, and give up a server that hangs instead of waiting for it."""
        database_watch().begin()
        super().run_from_argv(argv)

    def handle(self, *args: Any, **options: Any) -> None:
        examined: list[Examined] = []
        with reached_database():
            for one in examine(thorough=options["files"]):
                examined.append(one)
                if not options["json"]:
                    self.print_examined(one)
        verdict = verdict_of(examined)
        if options["json"]:
            self.stdout.write(json.dumps(report_of(examined, verdict), indent=2, ensure_ascii=False))
        else:
            self.stdout.write(summary_of(examined, verdict))
        sys.exit(verdict)

    def print_examined(self, one: Examined) -> None:
        """Print what an examination found."""
        state = SKIPPED if one.findings is None else WORDS[one.verdict]
        self.stdout.write(f"{one.title:<24} {state}")
        for finding in one.findings or ():
            self.stdout.write(f"  {finding.severity.name.lower()}: {finding.sentence}")
            self.stdout.write(f"  {finding.advice}")
        self.stdout.flush()


def summary_of(examined: Sequence[Examined], verdict: Verdict) -> str:
    """Return the result in a line."""
    findings = count_of(sum(len(one.findings or ()) for one in examined), "finding")
    skipped = sum(one.findings is None for one in examined)
    rest = f", {count_of(skipped, 'examination')} left out" if skipped else ""
    return f"{WORDS[verdict].capitalize()}: {count_of(len(examined) - skipped, 'examination')}, {findings}{rest}."


def report_of(examined: Sequence[Examined], verdict: Verdict) -> dict[str, Any]:
    """Return the result as JSON shows it."""
    return {
        "verdict": WORDS[verdict],
        "exit_code": int(verdict),
        "examinations": [
            {
                "name": one.name,
                "title": one.title,
                "verdict": None if one.findings is None else WORDS[one.verdict],
                "seconds": round(one.seconds, 3),
                "findings": [describe(finding) for finding in one.findings or ()],
            }
            for one in examined
        ],
    }


def describe(finding: Problem) -> dict[str, Any]:
    """Return a finding as JSON shows it."""
    return {
        "code": finding.code,
        "severity": finding.severity.name.lower(),
        "sentence": finding.sentence,
        "remedy": finding.advice,
        "since": None if finding.since is None else finding.since.isoformat(),
    }

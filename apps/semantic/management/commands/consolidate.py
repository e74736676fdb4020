"""Look for conflicts among the memories that are stored already, now."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import Scope
from apps.core.terminal import progress_bar
from apps.semantic.consolidation.run import RunEnd, RunLimits, RunReport
from apps.semantic.consolidation.services import consolidation_for, consolidation_preview, consolidation_run
from apps.semantic.models import Consolidation, ConsolidationMode, Memory

GO_ON = "Repeat the command to go on."
ENDS = {
    RunEnd.COMPLETE: "All memories of the scope have been looked at.",
    RunEnd.NOTHING_NEW: "Nothing is new since the last time; reset it in the admin to look at everything again.",
    RunEnd.MEMORIES: GO_ON,
    RunEnd.DECISIONS: f"That is as many receipts as one run may write. Look at them; {GO_ON[0].lower()}{GO_ON[1:]}",
    RunEnd.TIME: GO_ON,
    RunEnd.STEPPED_ASIDE: "Another run is at work on it, or it was changed meanwhile.",
    RunEnd.WRITERS: f"Somebody is writing a lot of memories. {GO_ON}",
}


class Command(BaseCommand):
    help = (
        "Look for conflicts among the stored memories of a scope: receipts for what is found, and with --decide what "
        "the merge rules say is done, which can be reverted. A run that was cut off goes on where it stopped. With "
        "the name of a consolidation, one run of that, with its own settings."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", nargs="?", help="A consolidation that exists. Otherwise say the scope:")
        parser.add_argument("--user")
        parser.add_argument("--household")
        parser.add_argument("--persona")
        parser.add_argument("--everyone", action="store_true", help="The memories of all users.")
        parser.add_argument("--decide", action="store_true", help="Apply the rules; else conflicts are noticed.")
        parser.add_argument("--dry-run", action="store_true", help="Only count what deciding would come to.")
        parser.add_argument("--max-decisions", type=int, default=50, help="Receipts to write, at most (50).")

    def handle(self, *args: Any, **options: Any) -> None:
        scope, named = self._scope(options), self._named(options)
        if options["dry_run"]:
            self._preview(named.scope if named else scope)
            return
        if named is not None:
            self._run(named, RunLimits.of(named))
            return
        if options["max_decisions"] < 1:
            raise CommandError("--max-decisions must be at least 1.")
        mode = ConsolidationMode.DECIDE if options["decide"] else ConsolidationMode.NOTICE
        self._run(consolidation_for(scope=scope, mode=mode), RunLimits(None, options["max_decisions"], None))

    def _scope(self, options: Mapping[str, Any]) -> Scope:
        scope = Scope(options["user"] or None, options["household"] or None, options["persona"] or None)
        ways = sum((bool(options["name"]), bool(scope.named()), options["everyone"]))
        if ways != 1:
            raise CommandError("Say one of: a name, a scope (--user, --household, --persona), or --everyone.")
        if options["name"] and options["decide"]:
            raise CommandError("A consolidation that has a name has a mode of its own; change it in the admin.")
        return scope

    def _named(self, options: Mapping[str, Any]) -> Consolidation | None:
        if not options["name"]:
            return None
        found = Consolidation.objects.filter(name=options["name"]).first()
        if found is None:
            raise CommandError(f"There is no consolidation {options['name']!r}.")
        return found

    def _preview(self, scope: Scope) -> None:
        total = Memory.objects.in_scope(scope).active().count()
        try:
            with progress_bar("Looking", total, self.stderr) as advance:
                outcomes = consolidation_preview(scope=scope, progress=advance)
        except MemoryHubError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{total} memories looked at; deciding would come to: {_counts(outcomes)}. Nothing changed.")

    def _run(self, consolidation: Consolidation, bounds: RunLimits) -> None:
        total = Memory.objects.in_scope(consolidation.scope).active().count()
        with progress_bar("Looking", total, self.stderr) as advance:
            advance(_done_before(consolidation))
            report = consolidation_run(pk=consolidation.pk, limits=bounds, progress=advance)
        self._tell(report)

    def _tell(self, report: RunReport) -> None:
        self.stdout.write(f"{report.looked_at} memories looked at; receipts: {_counts(report.receipts)}.")
        if report.error:
            raise CommandError(report.error)
        self.stdout.write(ENDS[report.ended])


def _done_before(consolidation: Consolidation) -> int:
    """How many memories of the scope a run that was cut off has behind it."""
    if consolidation.is_complete:
        return 0
    return Memory.objects.in_scope(consolidation.scope).active().filter(pk__lte=consolidation.cursor).count()


def _counts(outcomes: Counter[str]) -> str:
    told = (f"{count} {outcome.replace('_', ' ')}" for outcome, count in sorted(outcomes.items()))
    return ", ".join(told) or "none"

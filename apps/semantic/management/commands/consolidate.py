"""Look for conflicts among stored memories now."""

from collections.abc import Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import Scope
from apps.core.terminal import progress_bar
from apps.semantic.consolidation.run import RunEnd, RunLimits
from apps.semantic.consolidation.services import consolidation_for, consolidation_preview, consolidation_run
from apps.semantic.domain.receipt_words import count_text
from apps.semantic.models import Consolidation, ConsolidationMode, Memory

CONTINUE = "Repeat the command to continue."
ENDS = {
    RunEnd.COMPLETE: "All memories of the scope have been compared.",
    RunEnd.NOTHING_NEW: "Nothing is new since the last run; reset it in the admin to compare everything again.",
    RunEnd.MEMORIES: CONTINUE,
    RunEnd.DECISIONS: "This run has written as many receipts as it may. Review them; "
    f"{CONTINUE[0].lower()}{CONTINUE[1:]}",
    RunEnd.TIME: CONTINUE,
    RunEnd.STEPPED_ASIDE: "Another run is active, or the consolidation was changed during this one.",
    RunEnd.WRITERS: f"Many memories are being saved right now. {CONTINUE}",
}


class Command(BaseCommand):
    help = (
        "Look for conflicts among the stored memories of a scope: each gets a receipt, and with --decide the merge "
        "rules are applied, which can be reverted. A run that was interrupted continues where it "
        "stopped. With the name of a consolidation, run that one once, with its own settings."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", nargs="?", help="An existing consolidation; otherwise name a scope:")
        parser.add_argument("--user")
        parser.add_argument("--household")
        parser.add_argument("--persona")
        parser.add_argument("--everyone", action="store_true", help="The memories of all users.")
        parser.add_argument(
            "--decide", action="store_true", help="Apply the rules; otherwise conflicts are only noticed."
        )
        parser.add_argument("--dry-run", action="store_true", help="Only show what would be decided.")
        parser.add_argument("--max-decisions", type=int, default=50, help="The most receipts to write (50).")

    def handle(self, *args: Any, **options: Any) -> None:
        scope, named = read_scope(options), None
        if options["name"]:
            named = Consolidation.objects.filter(name=options["name"]).first()
            if named is None:
                raise CommandError(f"There is no consolidation {options['name']!r}.")
        if options["dry_run"]:
            self.preview(named.scope if named else scope)
            return
        if named is not None:
            self.run(named, RunLimits.of(named))
            return
        if options["max_decisions"] < 1:
            raise CommandError("--max-decisions must be at least 1.")
        mode = ConsolidationMode.DECIDE if options["decide"] else ConsolidationMode.NOTICE
        self.run(consolidation_for(scope=scope, mode=mode), RunLimits(None, options["max_decisions"], None))

    def preview(self, scope: Scope) -> None:
        """Count what would be decided."""
        total = Memory.objects.in_scope(scope).active().unmanaged().count()
        try:
            with progress_bar("Comparing", total, self.stderr) as advance:
                outcomes = consolidation_preview(scope=scope, progress=advance)
        except MemoryHubError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{total} memories compared; it would decide: {count_text(outcomes)}. Nothing changed.")

    def run(self, consolidation: Consolidation, limits: RunLimits) -> None:
        """Run a consolidation once, and print the result."""
        memories = Memory.objects.in_scope(consolidation.scope).active().unmanaged()
        with progress_bar("Comparing", memories.count(), self.stderr) as advance:
            if not consolidation.is_complete:  # a run that was cut off continues behind these
                advance(memories.filter(pk__lte=consolidation.cursor).count())
            report = consolidation_run(pk=consolidation.pk, limits=limits, progress=advance)
        self.stdout.write(f"{report.looked_at} memories compared; receipts: {count_text(report.receipts)}.")
        if report.error:
            raise CommandError(report.error)
        self.stdout.write(ENDS[report.ended])


def read_scope(options: Mapping[str, Any]) -> Scope:
    """Return the scope that the options name. Raises CommandError for options that do not go together."""
    scope = Scope(options["user"] or None, options["household"] or None, options["persona"] or None)
    if sum((bool(options["name"]), bool(scope.named()), options["everyone"])) != 1:
        raise CommandError("Name one of: a consolidation, a scope (--user, --household, --persona), or --everyone.")
    if options["name"] and options["decide"]:
        raise CommandError("A named consolidation has its own mode; change it in the admin.")
    return scope

"""Put undecided pairs of memories to the chat model now."""

from collections.abc import Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.core.domain.scope import Scope
from apps.core.terminal import progress_bar
from apps.semantic.domain.receipt_words import count_text
from apps.semantic.judge.run import JudgeEnd
from apps.semantic.judge.services import judge_preview, judge_run, judge_status, judge_update

ENDS = {
    JudgeEnd.COMPLETE: "The model was asked about every undecided pair of the scope.",
    JudgeEnd.PAIRS: "Repeat the command to continue.",
    JudgeEnd.QUOTA: "The daily limit of pairs is reached; change it in the admin.",
    JudgeEnd.NO_MODEL: "No chat model is configured: nothing was asked.",
    JudgeEnd.BUDGET: "Today's budget for chat models is used up.",
    JudgeEnd.BREAKER: "The chat provider failed too often; calls are paused. Repeat the command later.",
    JudgeEnd.RATE: "The chat provider takes no more tokens for now. Repeat the command later.",
    JudgeEnd.PROVIDER: "The chat provider failed. Repeat the command to try again.",
    JudgeEnd.STEPPED_ASIDE: "Another run is active.",
}


class Command(BaseCommand):
    help = (
        "Ask the chat model about pairs of memories whose conflict was noticed but not decided, and "
        "decide by its verdict and the merge rules. Every decision can be reverted. Works even if the"
        " judge is off."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--user")
        parser.add_argument("--household")
        parser.add_argument("--persona")
        parser.add_argument("--everyone", action="store_true", help="The memories of all users.")
        parser.add_argument("--max-pairs", type=int, help="The most pairs to ask about; default: the daily limit.")
        parser.add_argument("--dry-run", action="store_true", help="Only count the pairs that would be asked about.")
        parser.add_argument(
            "--switch", choices=["on", "off"], help="Turn the scheduled runs on or off, without asking about any pair."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["switch"]:
            judge_update(settings={"enabled": options["switch"] == "on"})
            self.stdout.write(f"The judge: {judge_status().state.value.replace('_', ' ')}.")
            return
        scope = read_scope(options)
        if options["max_pairs"] is not None and options["max_pairs"] < 1:
            raise CommandError("--max-pairs must be at least 1.")
        preview = judge_preview(scope=scope)
        if options["dry_run"]:
            self.stdout.write(
                f"{preview.notices} undecided receipts; {preview.pairs} pairs would be asked about, "
                f"{preview.skipped.total()} not ({count_text(preview.skipped)}). Nothing was asked."
            )
            return
        with progress_bar("Asking", min(preview.pairs, options["max_pairs"] or preview.pairs), self.stderr) as advance:
            report = judge_run(scope=scope, max_pairs=options["max_pairs"], has_time_limit=False, progress=advance)
        self.stdout.write(
            f"{report.asked.total()} pairs asked about: {count_text(report.asked)}; "
            f"receipts: {count_text(report.receipts)}."
        )
        if report.error:
            raise CommandError(report.error)
        self.stdout.write(ENDS[report.ended])


def read_scope(options: Mapping[str, Any]) -> Scope:
    """Return the scope that the options name. Raises CommandError for options that do not go together."""
    scope = Scope(options["user"] or None, options["household"] or None, options["persona"] or None)
    if bool(scope.named()) == options["everyone"]:
        raise CommandError("Name a scope (--user, --household, --persona), or use --everyone.")
    return scope

"""Print what patterns find in conversations, to be read one by one: docs/explain/benchmarks.md."""

import time
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.semantic.domain.locomo import LocomoError
from benchmarks.facts import FoundFact, counts_of, facts_of, parse_conversations, sample_of, sessions_of


class Command(BaseCommand):
    help = (
        "Find facts in the conversations of a LoCoMo file by patterns, each speaker in turn as the user, and print a "
        "random sample of them with the turn that each was taken from. Stores nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--texts", type=Path, required=True, metavar="FILE", help="Conversations: LoCoMo.")
        parser.add_argument("--count", type=int, default=100, metavar="N", help="How many to print. Default: 100.")
        parser.add_argument(
            "--seed", type=int, default=1, metavar="N", help="Another seed, another sample. Default: 1."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            conversations = parse_conversations(options["texts"].read_text(encoding="utf-8"))
            began = time.perf_counter()
            found = [fact for conversation in conversations for fact in facts_of(conversation)]
            seconds = time.perf_counter() - began
            turns = sum(len(session) for conversation in conversations for session in sessions_of(conversation))
        except OSError as error:
            raise CommandError(f"{options['texts']}: {error.strerror}.") from error
        except (LocomoError, UnicodeDecodeError) as error:
            raise CommandError(f"{options['texts']}: {error}") from error
        self.stdout.write(f"{turns} turns, {len(found)} facts, {turns / max(seconds, 1e-9):,.0f} turns a second")
        self.stdout.write(", ".join(f"{name} {count}" for name, count in counts_of(found).items()))
        for number, one in enumerate(sample_of(found, max(0, options["count"]), options["seed"]), 1):
            self.stdout.write(describe(number, one))


def describe(number: int, found: FoundFact) -> str:
    """Return a fact of a sample with the turn that it was taken from."""
    fact = found.fact
    said = " ".join(found.said.split())
    return f"\n{number}. [{fact.category.value}, {fact.pattern}] {fact.content}\n   {found.speaker}: {said}"

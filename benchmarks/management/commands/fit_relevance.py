"""Fit the models of relevance on some conversations, and say what cuts do to others."""

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.retrieval.domain.query import SearchMode
from apps.retrieval.domain.relevance import MIN_RELEVANCE, MIN_RELEVANCE_UNASKED, Model
from apps.semantic.domain.locomo import LocomoError, is_locomo
from apps.semantic.store.background import measure_space
from benchmarks.relevance import AskedMemories, ask_all, ask_stories, fit, measure, read_conversation
from benchmarks.stories import parse_stories

CUTS = (0.05, MIN_RELEVANCE, 0.2, MIN_RELEVANCE_UNASKED, 0.4, 0.5)


class Command(BaseCommand):
    help = (
        "Fit relevance on the first conversations of a LoCoMo file, and measure cuts on the others: questions of one"
        " put to another must find nothing, their own evidence must stay. Nothing is stored."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--stories", type=Path, help="Notes: stories in JSON Lines, every second one to fit on.")
        parser.add_argument("--fit", type=int, default=3, help="On so many conversations. Default: %(default)s.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            document = json.loads(options["file"].read_text())
            if not is_locomo(document):
                raise CommandError("The file is not a LoCoMo file.")
            stories = parse_stories(options["stories"].read_text()) if options["stories"] else []
            conversations = [read_conversation(sample) for sample in document]
        except (OSError, ValueError, LocomoError) as error:
            raise CommandError(str(error)) from error
        background = measure_space()
        self.stdout.write(f"{background}")
        for mode in SearchMode:
            known = ask_all(conversations[: options["fit"]], mode, background)
            fresh = ask_all(conversations[options["fit"] :], mode, background)
            notes, others = (ask_stories(some, mode, background) for some in (stories[::2], stories[1::2]))
            model = fit(known, notes, mode)
            self.stdout.write(f"\n{mode}\n  {model.answered}\n  {model.fits}")
            for name, asked in (("fitted on", known + notes), ("others", fresh + others)):
                for scope in ("conversation", "part", "all", "note", "notes"):
                    some = [one for one in asked if one.scope == scope]
                    if not some:
                        continue
                    self.write_cuts(f"{name}, {scope}, as fitted", some, model)
                    self.write_cuts(f"{name}, {scope}, as searches judge", some, None)

    def write_cuts(self, title: str, asked: list[AskedMemories], model: Model | None) -> None:
        """Write what cuts do to questions. model: instead of that of searches."""
        self.stdout.write(f"  {title}: {len(asked)} questions")
        for cut in CUTS:
            said = measure(asked, cut, model)
            self.stdout.write(f"    {cut:.2f}: empty {said.empty:.3f}, kept {said.kept:.3f}, mean {said.mean:.2f}")

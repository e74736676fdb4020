"""Measure how well the rules decide labelled pairs: docs/explain/conflicts.md."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection
from rich.console import Console
from rich.table import Table

from apps.core.terminal import progress_bar
from apps.llm.domain.embedder import EmbeddingError
from apps.llm.embedding.embedder import get_embedder
from apps.rules.selectors import RegistryVersion, active_rules
from benchmarks.conflicts import (
    THRESHOLDS,
    RuleFor,
    built_in_rules,
    decide_pairs,
    embed_all,
    figures,
    texts_of,
)
from benchmarks.labelled_pairs import (
    Decision,
    Label,
    LabelledFileError,
    LabelledPair,
    Mistake,
    halves,
    mistake_of,
    neighbours,
    parse_pairs,
    read_labelled,
    unrelated,
)
from benchmarks.lives import decide_lives, has_lives, later_stories, life_rates, load_lives
from benchmarks.matters import OTHERS, decide_matters, draw_lives, draw_pairs
from benchmarks.stories import Story, has_stories, parse_stories
from benchmarks.story_decisions import decide_stories, story_figures
from benchmarks.story_tables import describe_story, mistakes_shown, story_table
from training.lives import Life, read_lives
from training.pairs import Pair

WIDTH = 140
SEALED = Path(__file__).parents[3] / "training" / "sealed"
MAX_SHOWN_CHARS = 300
RATES = (
    ("noticed", "noticed"),
    ("acted", "acted on"),
    ("false_merges", "false merges"),
    ("false_alarms", "false alarms"),
    ("missed", "missed"),
    ("silent_merges", "silent merges"),
    ("newer_won", "newer won"),
    ("newer_won_of_noticed", "of noticed"),
)
Files = Mapping[Path, Sequence[LabelledPair]]


class Command(BaseCommand):
    help = (
        "Decide labelled pairs of texts under the merge rules and print how often that is right: SICK, MRPC, pairs of "
        "conversation turns, knowledge updates, or JSON Lines with older, newer and label (same, apart, conflict). "
        "Stories are decided and searched too: JSON Lines with statements, label (update, coexist, same) and current. "
        "Of lives the statements that hold are saved one after another, and each later one after the one it is about. "
        "Each text counts as saved a day after the one before it. Stores nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", metavar="FILE", nargs="*", type=Path)
        parser.add_argument(
            "--sealed",
            action="store_true",
            help="Measure on the sealed stories and matters of the repository, which no rule and no training has seen.",
        )
        parser.add_argument(
            "--others", metavar="N", type=int, default=OTHERS, help="With --sealed: how many pairs of other matters."
        )
        parser.add_argument("--rule", metavar="NAME", help="Decide by this rule. Default: the rule that matches.")
        parser.add_argument(
            "--unrelated",
            action="store_true",
            help="Add pairs that must stay apart: the older text of each conflict with the newer ones of all others.",
        )
        parser.add_argument("--halves", action="store_true", help="Also the rates of two halves of each file.")
        parser.add_argument(
            "--thresholds", action="store_true", help="Also how many contradictions are how strong, by their reason."
        )
        parser.add_argument("--kinds", action="store_true", help="Also the rates of each kind of story.")
        parser.add_argument("--show", metavar="N", type=int, default=0, help="Print N examples of each mistake.")
        parser.add_argument("--json", metavar="FILE", type=Path, help="Also write all figures to this file.")

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["files"] and not options["sealed"]:
            raise CommandError("Name files, or give --sealed.")
        kinds = ("stories/*.jsonl", "conversations/*.txt") if options["sealed"] else ()
        sealed = [path for kind in kinds for path in sorted(SEALED.glob(kind))]
        files, stories, lives = self.read([*options["files"], *sealed])
        rule_for = self.rule_for(options["rule"])
        document: dict[str, Any] = {"rule": options["rule"], "embedder": str(get_embedder().space)}
        try:
            if files:
                document |= self.measure_pairs(files, rule_for, options)
            if stories:
                document["stories"] = self.measure_stories(stories, rule_for, options)
            if lives:
                document["conversations"] = self.measure_lives(lives, rule_for)
            contrasts = read_lives(SEALED.glob("contrasts/*.txt")) if options["sealed"] else []
            if later := later_stories([*lives, *contrasts]):
                title = "Later statements of lives, and what each is about: rates in percent"
                document["later"] = self.measure_stories(later, rule_for, options, title)
            if options["sealed"]:
                pairs = draw_pairs(SEALED.glob("matters/*.jsonl"), options["others"])
                document["matters"] = self.measure_drawn("matters", pairs, rule_for)
                document["lives"] = self.measure_drawn("lives and frames", draw_lives(SEALED), rule_for)
        except EmbeddingError as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.write(options["json"], document)

    def read(self, paths: Iterable[Path]) -> tuple[dict[Path, list[LabelledPair]], list[Story], list[Life]]:
        """Return the pairs of each file of pairs, and the stories and the lives of all files that have them."""
        files: dict[Path, list[LabelledPair]] = {}
        stories: list[Story] = []
        lives: list[Life] = []
        for path in paths:
            try:
                text = read_labelled(path)
                if has_stories(text):
                    stories += parse_stories(text)
                    continue
                if has_lives(text):
                    lives += load_lives(path)
                    continue
                files[path] = parse_pairs(text)
            except LabelledFileError as error:
                raise CommandError(f"{path}: {error}") from error
            except OSError as error:
                raise CommandError(f"{path}: {error.strerror}.") from error
            if not files[path]:
                raise CommandError(f"{path}: no labelled pairs in it.")
        return files, stories, lives

    def rule_for(self, name: str | None) -> RuleFor:
        """Return the rule of that name for every memory, else the one that matches a memory."""
        if RegistryVersion._meta.db_table not in connection.introspection.table_names():
            self.stderr.write("The database is not prepared (manage.py migrate), so the built-in rules decide.")
            rules = built_in_rules()
        else:
            rules = active_rules()
        if name is None:
            return rules.matching
        if name not in rules.rules:
            raise CommandError(rules.broken.get(name) or f"There is no rule {name!r}.")
        return lambda _: rules.rules[name]

    def measure_pairs(self, files: Files, rule_for: RuleFor, options: Mapping[str, Any]) -> dict[str, Any]:
        """Decide labelled pairs, and print their rates. Return them. Raises EmbeddingError."""
        parts = _parts(files, crossed=options["unrelated"], split=options["halves"])
        decided = self.decide(parts, rule_for)
        found = {name: figures(decisions) for name, decisions in decided.items()}
        self._print(found, thresholds=options["thresholds"])
        self.show(decided["all"], options["show"])
        return found

    def measure_stories(
        self,
        stories: Sequence[Story],
        rule_for: RuleFor,
        options: Mapping[str, Any],
        title: str = "Stories: rates in percent",
    ) -> dict[str, Any]:
        """Decide stories, and print their rates. Return them. Raises EmbeddingError."""
        with progress_bar("Deciding stories", len(stories), self.stderr) as advance:
            results = decide_stories(stories, rule_for, advance)
        found = story_figures(results)
        console = self.console()
        console.print(story_table(title, "language", [*found["all"], *found["languages"]]))
        if options["kinds"]:
            console.print(story_table(f"{title} by kind", "kind", found["kinds"]))
        for mistake, result in mistakes_shown(results, options["show"]):
            self.stdout.write(describe_story(mistake, result))
        return found

    def measure_lives(self, lives: Sequence[Life], rule_for: RuleFor) -> list[dict[str, Any]]:
        """Save the statements of lives one after another, and print what became of them. Return it."""
        with progress_bar("Saving lives", len(lives), self.stderr) as advance:
            rows = life_rates(decide_lives(lives, rule_for, advance))
        self.print_rows("Statements that all hold, saved one after another: rates in percent", rows)
        return rows

    def print_rows(self, title: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Print a table of rows that have the same columns."""
        table = Table(title=title)
        for name, value in rows[0].items():
            table.add_column(name, justify="left" if isinstance(value, str) else "right")
        for row in rows:
            table.add_row(*map(str, row.values()))
        self.console().print(table)

    def measure_drawn(self, name: str, pairs: Sequence[Pair], rule_for: RuleFor) -> list[dict[str, Any]]:
        """Decide pairs that were drawn, and print their rates. Return them. Raises EmbeddingError."""
        with progress_bar(f"Deciding pairs of {name}", len(pairs), self.stderr) as advance:
            rows = decide_matters(pairs, rule_for, advance)
        self.print_rows(f"Pairs of sealed {name}: rates in percent", rows)
        return rows

    def decide(self, parts: Mapping[str, list[LabelledPair]], rule_for: RuleFor) -> dict[str, list[Decision]]:
        texts = texts_of(pair for pairs in parts.values() for pair in pairs)
        with progress_bar("Embedding", len(texts), self.stderr) as advance:
            vectors = embed_all(texts, advance)
        with progress_bar("Deciding", sum(map(len, parts.values())), self.stderr) as advance:
            return {name: decide_pairs(pairs, vectors, rule_for, advance) for name, pairs in parts.items()}

    def console(self) -> Console:
        return Console(file=self.stdout, highlight=False, width=WIDTH)  # type: ignore[arg-type]

    def _print(self, found: Mapping[str, list[dict[str, Any]]], *, thresholds: bool) -> None:
        console = self.console()
        for name, rows in found.items():
            console.print(rates_table(f"Rates in percent: {name}", rows))
        console.print(decided_table(found["all"]))
        if thresholds:
            console.print(strengths_table(found["all"]))

    def show(self, decisions: Iterable[Decision], limit: int) -> None:
        left = dict.fromkeys(Mistake, max(0, limit))
        for decision in decisions:
            kind = mistake_of(decision)
            if kind and left[kind]:
                left[kind] -= 1
                self.stdout.write(_told(kind, decision))

    def write(self, path: Path, document: Mapping[str, Any]) -> None:
        try:
            path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}.") from error


def _parts(files: Files, *, crossed: bool, split: bool) -> dict[str, list[LabelledPair]]:
    """Yield the pairs to decide, by the group under which their rates are printed."""
    parts = {"all": files}
    if split:
        both = {path: halves(pairs) for path, pairs in files.items()}
        parts["first half"] = {path: first for path, (first, _) in both.items()}
        parts["second half"] = {path: second for path, (_, second) in both.items()}
    return {
        name: [pair for file in some.items() for pair in with_crossed(*file, crossed)] for name, some in parts.items()
    }


def with_crossed(path: Path, pairs: Sequence[LabelledPair], crossed: bool) -> list[LabelledPair]:
    if not crossed or any(pair.label is not Label.CONFLICT for pair in pairs):
        return list(pairs)
    apart = [replace(pair, group=f"{pair.group}: {path.stem}") for pair in [*unrelated(pairs), *neighbours(pairs)]]
    return [*pairs, *apart]


def rates_table(title: str, rows: Sequence[Mapping[str, Any]]) -> Table:
    table = Table(title=title)
    table.add_column("group", no_wrap=True)
    table.add_column("label", no_wrap=True)
    for title in ("pairs", *(title for _, title in RATES)):
        table.add_column(title, justify="right")
    for row in rows:
        table.add_row(row["group"], row["label"], str(row["pairs"]), *(_percent(row[name]) for name, _ in RATES))
    return table


def _percent(rate: float | None) -> str:
    return "" if rate is None else f"{100 * rate:.2f}"


def decided_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    table = Table(title="What decided the noticed pairs")
    table.add_column("group", no_wrap=True)
    for title in ("label", "signal", "reason of the contradiction"):
        table.add_column(title)
    for row in rows:
        table.add_row(row["group"], row["label"], counted(row["signals"]), counted(row["reasons"]))
    return table


def counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def strengths_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    table = Table(title="Contradictions at least this strong")
    table.add_column("group", no_wrap=True)
    for title in ("label", "reason"):
        table.add_column(title)
    for threshold in THRESHOLDS:
        table.add_column(f"{threshold:g}", justify="right")
    for row in rows:
        for reason, counts in row["strengths"].items():
            table.add_row(row["group"], row["label"], reason, *map(str, counts.values()))
    return table


def _told(kind: Mistake, decision: Decision) -> str:
    why = f"{decision.signal} {decision.reason} {decision.score:.2f}" if decision.reason else decision.signal
    older, newer = (text.replace("\n", " ")[:MAX_SHOWN_CHARS] for text in (decision.pair.older, decision.pair.newer))
    return f"\n{kind} ({decision.pair.group}{', ' if why else ''}{why})\n  older: {older}\n  newer: {newer}"

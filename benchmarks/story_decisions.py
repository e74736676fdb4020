"""Deciding labelled stories as saving their statements one day apart would, without a database.

The comparison, the decision and the search are the product's own: `neighbours`, `detect`, `decide`, `merge` and `rank`.
What they decide is applied here as `apps.semantic.conflicts.decisions` applies it to rows. In a script of your own:

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryhub.settings")
    django.setup()
    results = decide_stories(parse_stories(Path("stories.jsonl").read_text()))
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from apps.core.domain.scope import Scope
from apps.llm.domain.embedder import TextRole, Vectors
from apps.llm.embedding.embedder import current_scale, embed_texts, known_share
from apps.retrieval.domain.content import content_hash
from apps.retrieval.domain.query import SearchQuery
from apps.retrieval.domain.ranking import rank_by_score, terms_of
from apps.retrieval.domain.rows import IndexRow, RowStore
from apps.rules.domain.engine.arbitration import DetectedConflict
from apps.rules.domain.engine.detection import MAKE_A_CONFLICT, cosine_of, detect
from apps.rules.domain.engine.merge import merge
from apps.rules.domain.engine.record import MemoryRecord
from apps.rules.domain.engine.signals import Detection, SignalType
from apps.rules.domain.engine.verdict import Verdict, VerdictOutcome, decide
from apps.semantic.conflicts import neighbours
from apps.semantic.index.changes import CODED
from apps.semantic.search.search import order_hits
from apps.semantic.store.rows import word_columns
from benchmarks.conflicts import Progress, RuleFor, built_in_rules, embed_all
from benchmarks.stories import (
    ALL,
    ActiveMemory,
    FoundConflict,
    Story,
    StoryResult,
    rates_by,
    story_mistakes,
)

USER = "story"
SCOPE = Scope(USER, "", "")
# Any moment does: only the order of the statements matters.
_FIRST = datetime(2026, 1, 1, tzinfo=UTC)
_PAUSE = timedelta(days=1)
_CODED = {"source": "user", "is_global": "false", "decay_policy": "stable", "is_managed": "false"}

Embed = Callable[[str], Vectors]


@dataclass(eq=False)
class Saved:
    """A memory of a story. holds: see `ActiveMemory`. id: rises with each memory."""

    id: int
    record: MemoryRecord
    holds: set[int]


@dataclass(eq=False)
class Memories:
    """The active memories of one story while it is saved. conflicts: those found, with both memories."""

    rule_for: RuleFor
    embed: Embed
    active: dict[str, Saved] = field(default_factory=dict)
    conflicts: list[tuple[Saved, Saved, Detection]] = field(default_factory=list)
    made: int = 0

    def save(self, place: int, text: str) -> None:
        """Save the statement at a place: a duplicate is skipped, all else compared and decided."""
        if same := self.duplicate_of(text):
            same.holds.add(place)
            return
        candidate = self.new(text, _FIRST + place * _PAUSE, {place})
        rule = self.rule_for(candidate.record)
        conflicts = []
        for existing, is_read in self.near(candidate):
            detection = detect(candidate.record, existing.record, rule.detection, is_read=is_read)
            if detection.is_conflict:
                conflicts.append(DetectedConflict(existing.record, detection))
                self.conflicts.append((candidate, existing, detection))
        self.active[candidate.record.key] = candidate
        if verdict := decide(candidate.record, conflicts, rule.arbitration):
            self.apply(candidate, verdict)

    def duplicate_of(self, text: str) -> Saved | None:
        """Return the active memory that says the same but for case, spacing and closing punctuation."""
        wanted = content_hash(text)
        return next((one for one in self.active.values() if content_hash(one.record.content) == wanted), None)

    def new(self, text: str, moment: datetime, holds: set[int]) -> Saved:
        """Return a memory that is not active yet."""
        self.made += 1
        record = MemoryRecord(
            str(self.made), text, moment, user_id=USER, embedding=self.embed(text), known_share=known_share(text),
            curve=current_scale().statements,
        )  # fmt: skip
        return Saved(self.made, record, holds)

    def near(self, candidate: Saved) -> list[tuple[Saved, bool]]:
        """Return the active memories with which saving compares a candidate, and whether the judge reads them."""
        if not self.active or candidate.record.embedding is None:
            return []
        terms = neighbours.terms_of(candidate.record.content, ())
        probe = neighbours.Probe(candidate.record.embedding, terms, SCOPE)
        [found] = neighbours.neighbours(self.store(), [probe], candidate.record.timestamp)
        nearest = neighbours.nearest_of(found)
        return [(self.active[str(one.id)], one in nearest) for one in found]

    def store(self) -> RowStore:
        """Return the active memories as searches and comparisons read them."""
        rows = [row_of(memory) for memory in self.active.values()]
        store = RowStore(len(rows[0].vector) // 4, CODED, current_scale())
        store.apply(rows)
        return store

    def apply(self, candidate: Saved, verdict: Verdict) -> None:
        """Do what a verdict says."""
        existing = self.active[verdict.main.conflict.existing.key]
        if verdict.outcome in {VerdictOutcome.KEPT_EXISTING, VerdictOutcome.REJECTED}:
            del self.active[candidate.record.key]
        elif verdict.outcome in {VerdictOutcome.SUPERSEDED_EXISTING, VerdictOutcome.MERGED}:
            for one in (verdict.main, *verdict.also):
                del self.active[one.conflict.existing.key]
            if verdict.outcome is VerdictOutcome.MERGED:
                del self.active[candidate.record.key]
                self.merge(existing, candidate)

    def merge(self, existing: Saved, candidate: Saved) -> None:
        """Make one memory of two."""
        one, other = existing.record, candidate.record
        merged = merge(one, other, cosine_of(other, one), self.rule_for(other).merge)
        holds = existing.holds | candidate.holds
        if same := self.duplicate_of(merged.content):
            same.holds.update(holds)
            return
        memory = self.new(merged.content, merged.timestamp, holds)
        self.active[memory.record.key] = memory

    def search(self, query: str) -> list[Saved]:
        """Return the memories that a search finds, best first."""
        if not self.active:
            return []
        search = SearchQuery(scope=SCOPE, query=query, current_first=True)
        now = _FIRST + (self.made + 1) * _PAUSE
        [vector] = embed_texts([query], TextRole.QUERY)
        ranking = rank_by_score(search, SCOPE, vector, terms_of(search), [self.store()], now, {})
        contents = {memory.id: memory.record.content for memory in self.active.values()}
        in_conflict = [(candidate.id, existing.id) for candidate, existing, _ in self.conflicts]
        hits = order_hits(ranking, contents, in_conflict)[: search.top_k]
        return [self.active[str(hit.id)] for hit in hits]


def row_of(memory: Saved) -> IndexRow:
    """Return a memory as the index reads it from the database."""
    record, vector = memory.record, memory.record.embedding
    moment = record.timestamp.timestamp()
    words = word_columns(record.content, (), "", None)
    return IndexRow(
        id=memory.id,
        active=True,
        coded=tuple(_CODED.get(name, "") for name in CODED),
        happened=moment,
        anchor=moment,
        base_confidence=1.0,
        question_share=words["question_share"],
        fullness=words["fullness"],
        lexemes=words["lexemes"],
        vector=b"" if vector is None else vector.astype("float32").tobytes(),
    )


def decide_stories(
    stories: Sequence[Story], rule_for: RuleFor | None = None, progress: Progress = lambda _: None
) -> list[StoryResult]:
    """Decide what happens when the statements of each story are saved one day apart. Nothing is stored.

    rule_for: the rule that applies to a memory; the built-in rules by default. progress: receives how many stories were
    decided since its last call. Raises EmbeddingError.
    """
    texts = [text for story in stories for text in story.statements]
    vectors = embed_all(list(dict.fromkeys(texts)))
    rules = rule_for or built_in_rules().matching
    results = []
    for story in stories:
        results.append(decide_story(story, vectors, rules))
        progress(1)
    return results


def save_all(statements: Iterable[str], vectors: Mapping[str, Vectors], rule_for: RuleFor) -> Memories:
    """Save statements one day apart. vectors: theirs; what they are merged into is embedded here."""

    def embed(text: str) -> Vectors:
        return vectors[text] if text in vectors else embed_texts([text])[0]

    memories = Memories(rule_for, embed)
    for place, text in enumerate(statements):
        memories.save(place, text)
    return memories


def decide_story(story: Story, vectors: Mapping[str, Vectors], rule_for: RuleFor) -> StoryResult:
    """Decide one story. vectors: of its statements."""
    memories = save_all(story.statements, vectors, rule_for)
    found = memories.search(story.query) if story.query else []
    return StoryResult(
        story=story,
        active=tuple(map(active_memory, memories.active.values())),
        conflicts=tuple(found_conflict(*conflict) for conflict in memories.conflicts),
        found=tuple(map(active_memory, found)),
    )


def active_memory(memory: Saved) -> ActiveMemory:
    return ActiveMemory(memory.record.content, frozenset(memory.holds))


def found_conflict(candidate: Saved, existing: Saved, detection: Detection) -> FoundConflict:
    contradiction = detection.signal(SignalType.CONTRADICTION)
    made = [signal.type.value for signal in detection.signals if signal.type in MAKE_A_CONFLICT]
    return FoundConflict(
        candidate=frozenset(candidate.holds),
        existing=frozenset(existing.holds),
        is_decisive=detection.is_decisive,
        signal=contradiction.type.value if contradiction else next(iter(made), ""),
        reason=contradiction.evidence["reason"] if contradiction else "",
        score=contradiction.score if contradiction else 0.0,
    )


def story_figures(results: Iterable[StoryResult]) -> dict[str, Any]:
    """Return all figures of some stories as JSON: rates by label, by language and by kind, and every story."""
    results = list(results)
    groups = {"all": lambda _: ALL, "languages": lambda story: story.language, "kinds": lambda story: story.kind}
    rates = {name: [asdict(found) for found in rates_by(results, group)] for name, group in groups.items()}
    return {**rates, "stories": [story_as_json(result) for result in results]}


def memory_as_json(memory: ActiveMemory) -> dict[str, Any]:
    return {"text": memory.text, "holds": sorted(memory.holds)}


def story_as_json(result: StoryResult) -> dict[str, Any]:
    """Return a decided story as JSON."""
    story = result.story
    return {
        **asdict(story),
        "active": [memory_as_json(one) for one in result.active],
        "found": [memory_as_json(one) for one in result.found],
        "conflicts": [
            {**asdict(one), "candidate": sorted(one.candidate), "existing": sorted(one.existing)}
            for one in result.conflicts
        ],
        "mistakes": [mistake.value for mistake in story_mistakes(result)],
    }

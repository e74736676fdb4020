"""The merge of two memories: spec 000 "Memory Merging"."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from pydantic import Field

from apps.retrieval.domain.text.terms import query_terms
from apps.rules.domain.decimals import DIGITS, difference, exceeds
from apps.rules.domain.engine.record import MemoryRecord, higher_source
from apps.rules.domain.engine.sentences import deduplicate, sense_of, split_sentences
from apps.rules.domain.engine.sentences import likeness as shared_terms
from apps.rules.domain.section import Flag, SettingsGroup, Share

SMART_SIMILARITY = 0.7
# Sentences kept of each memory.
MAX_SENTENCES_EACH = 5
MAX_COMMON_KEYWORDS = 10


class ContentStrategy(StrEnum):
    """How two contents are merged. smart: summarize above a similarity of 0.7, else concatenate."""

    CONCATENATE = "concatenate"
    REPLACE = "replace"
    SUMMARIZE = "summarize"
    SMART = "smart"


class ImportanceStrategy(StrEnum):
    """How two importances are merged."""

    MAX = "max"
    BOOST = "boost"
    AVERAGE = "average"


class TimestampStrategy(StrEnum):
    """Which time the merged memory has."""

    MAX = "max"


class KeywordsStrategy(StrEnum):
    """Which keywords the merged memory has."""

    UNION = "union"
    INTERSECTION = "intersection"


class SourceStrategy(StrEnum):
    """Which source the merged memory has."""

    PREFER_HIGHER = "prefer-higher"


class MetadataStrategy(SettingsGroup):
    """How importance, time, keywords and source are merged."""

    importance: ImportanceStrategy = Field(
        default=ImportanceStrategy.MAX, description="Boost: maximum plus boost amount."
    )
    timestamp: TimestampStrategy = Field(default=TimestampStrategy.MAX, description="The later time.")
    keywords: KeywordsStrategy = Field(
        default=KeywordsStrategy.UNION, description="All keywords, or those that both have."
    )
    source: SourceStrategy = Field(default=SourceStrategy.PREFER_HIGHER, description="The more trusted source.")


class MergeConfig(SettingsGroup):
    """The `merge` section of a rule."""

    content_strategy: ContentStrategy = Field(
        default=ContentStrategy.SMART,
        description="How the contents become one. Smart: summarize above a similarity of 0.7, else concatenate.",
    )
    metadata_strategy: MetadataStrategy = Field(default_factory=MetadataStrategy)
    boost_amount: Share = Field(default=0.1, description="What the importance strategy `boost` adds.")
    deduplicate: Flag = Field(default=True, description="Leave out sentences that another one says too.")
    deduplicate_threshold: Share = Field(default=0.8, description="Share of common words of duplicates.")


@dataclass(frozen=True)
class MergeStatistics:
    """What merging changed.

    content_length: characters of the result. keywords_count: its keywords. importance_delta: its importance minus
    that of the first memory. deduplicated_count: sentences left out as duplicates.
    """

    content_length: int
    keywords_count: int
    importance_delta: float
    deduplicated_count: int


@dataclass(frozen=True)
class MergeResult:
    """The merged memory. strategy: how the contents were joined, where the rule says `smart`.

    common_keywords: the stemmed terms that both contents share.
    """

    content: str
    importance: float
    timestamp: datetime
    keywords: tuple[str, ...]
    source: str
    statistics: MergeStatistics
    strategy: ContentStrategy
    common_keywords: tuple[str, ...]


def merge(first: MemoryRecord, second: MemoryRecord, similarity: float | None, config: MergeConfig) -> MergeResult:
    """Merge two memories; `second` is added to the `first` or replaces it.

    similarity: the cosine of the two; None where it is not known, then their share of common terms is used instead.
    Two equal contents merge to that content, whatever the strategy.
    """
    strategy = config.content_strategy
    if strategy is ContentStrategy.SMART:
        if similarity is None:
            similarity = shared_terms(sense_of(first.content), sense_of(second.content))
        strategy = ContentStrategy.SUMMARIZE if exceeds(similarity, SMART_SIMILARITY) else ContentStrategy.CONCATENATE
    shared = common_keywords(first.content, second.content)
    content, removed = merge_contents(first.content, second.content, strategy, config, shared)
    importance = merge_importances(first.importance, second.importance, config)
    keywords = merge_keywords(first.keywords, second.keywords, config.metadata_strategy.keywords)
    return MergeResult(
        content=content,
        importance=importance,
        timestamp=max(first.timestamp, second.timestamp),
        keywords=keywords,
        source=higher_source(first.source, second.source),
        statistics=MergeStatistics(len(content), len(keywords), difference(importance, first.importance), removed),
        strategy=strategy,
        common_keywords=shared,
    )


def merge_importances(first: float, second: float, config: MergeConfig) -> float:
    """Return the merged importance, in [0, 1]."""
    match config.metadata_strategy.importance:
        case ImportanceStrategy.MAX:
            return max(first, second)
        case ImportanceStrategy.BOOST:
            return min(1.0, round(max(first, second) + config.boost_amount, DIGITS))
        case ImportanceStrategy.AVERAGE:
            return round(first / 2 + second / 2, DIGITS)


def merge_contents(
    first: str, second: str, strategy: ContentStrategy, config: MergeConfig, shared: tuple[str, ...]
) -> tuple[str, int]:
    """Return the merged content, and the number of duplicate sentences that were left out.

    shared: the common keywords of both contents.
    """
    if first == second:
        return first, len(split_sentences(first)) if config.deduplicate else 0
    threshold = config.deduplicate_threshold if config.deduplicate else None
    if strategy is ContentStrategy.SUMMARIZE:
        return summarize(first, second, threshold, shared)
    joined = second if strategy is ContentStrategy.REPLACE else f"{first}\n{second}"
    return (joined, 0) if threshold is None else deduplicate(joined, threshold)


def merge_keywords(first: tuple[str, ...], second: tuple[str, ...], strategy: KeywordsStrategy) -> tuple[str, ...]:
    """Return the merged keywords in order, each once: case and surrounding spaces make no difference."""
    merged: dict[str, str] = {}
    others = {normalise_keyword(keyword) for keyword in second}
    for keyword in first + second:
        if strategy is KeywordsStrategy.UNION or (keyword in first and normalise_keyword(keyword) in others):
            merged.setdefault(normalise_keyword(keyword), keyword)
    return tuple(merged.values())


def normalise_keyword(keyword: str) -> str:
    """Return the form by which keywords are known: without case and superfluous spaces."""
    return " ".join(keyword.casefold().split())


class Sentence(NamedTuple):
    """A sentence without the spaces around it. content: its content terms."""

    text: str
    content: frozenset[str]


def common_keywords(first: str, second: str) -> tuple[str, ...]:
    """Return the content terms (stemmed) that two texts share, in the order of the first text, at most ten."""
    others = set(query_terms(second))
    return tuple(term for term in query_terms(first) if term in others)[:MAX_COMMON_KEYWORDS]


def summarize(first: str, second: str, threshold: float | None, shared: Sequence[str]) -> tuple[str, int]:
    """Summarize two texts by their key sentences, in order. Return how many duplicates of these were left out as well.

    A sentence ranks higher, the more of its content terms occur in other sentences of both texts; common keywords count
    twice. At most five sentences of each text stay, and a sentence with a common keyword that no kept one has stays
    before others. threshold: of `deduplicate`; None keeps duplicates. shared: the common keywords of the texts.
    """
    texts = []
    for whole in (first, second):
        stripped = [sentence.strip() for sentence in split_sentences(whole)]
        texts.append([Sentence(sentence, sense_of(sentence).content) for sentence in stripped if sentence])
    counts = Counter(term for sentences in texts for sentence in sentences for term in sentence.content)
    weights = {term: count * (2.0 if term in shared else 1.0) for term, count in counts.items()}
    chosen = [key_sentences(sentences, weights, shared) for sentences in texts]
    text = "\n".join(part for part in (" ".join(sentences) for sentences in chosen) if part)
    if threshold is None:
        return text, 0
    unique, removed = deduplicate(text, threshold)
    return " ".join(unique.split("\n")), removed


def key_sentences(sentences: Sequence[Sentence], weights: dict[str, float], shared: Sequence[str]) -> list[str]:
    """Return the highest ranking sentences of a text, in order."""
    if len(sentences) <= MAX_SENTENCES_EACH:
        return [sentence.text for sentence in sentences]
    missing = set(shared)
    # Half-way between the sum, which prefers long sentences, and the mean, which prefers short ones.
    worth = [
        math.fsum(weights[term] for term in sentence.content) / math.sqrt(max(len(sentence.content), 1))
        for sentence in sentences
    ]
    chosen: set[int] = set()
    while len(chosen) < MAX_SENTENCES_EACH:
        left = [number for number in range(len(sentences)) if number not in chosen]
        best = max(left, key=lambda number: (len(missing & sentences[number].content), worth[number]))
        chosen.add(best)
        missing -= sentences[best].content
    return [sentences[number].text for number in sorted(chosen)]

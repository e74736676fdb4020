"""The choice of the messages of a conversation that a model should read (spec 002 section 1)."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from apps.core.domain.randomness import RNG
from apps.llm.domain.chat import estimate_tokens

EMOTION_KEYWORDS: Mapping[float, tuple[str, ...]] = {
    1.0: ("love", "hate", "amazing", "terrible", "excited", "devastated"),
    0.5: ("happy", "sad", "worried", "pleased", "frustrated"),
    0.2: ("okay", "fine", "good", "bad"),
}
EDGE_SHARE = 0.2
POSITION_BOOST = 0.2
TOKEN_SAFETY_MARGIN = 0.9
CONTEXT_BEFORE = 1
CONTEXT_AFTER = 1


class Selectable(Protocol):
    """What the selection needs of a message, which may have more."""

    @property
    def id(self) -> str: ...

    @property
    def content(self) -> str: ...


M = TypeVar("M", bound=Selectable)


@dataclass(frozen=True)
class MoodDelta:
    """How strongly the mood changed with one message; finite and not negative."""

    magnitude: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.magnitude) and self.magnitude >= 0):
            raise ValueError(f"A mood delta needs a finite magnitude of 0 or more, not {self.magnitude}.")


NO_DELTA = MoodDelta(0.0)


@dataclass(frozen=True)
class SalienceConfig:
    """weight_delta, weight_emotion: what the change of mood and the emotional words weigh.

    top_k: messages chosen for their own score, before their neighbours join them. min_messages: pruning for
    tokens stops here. max_tokens: the budget, of which nine tenths are used.
    """

    weight_delta: float = 0.5
    weight_emotion: float = 0.3
    top_k: int = 24
    min_messages: int = 5
    max_tokens: int = 3_000

    def __post_init__(self) -> None:
        if min(self.top_k, self.min_messages, self.max_tokens) < 0:
            raise ValueError("top_k, min_messages and max_tokens must be 0 or more.")

    @property
    def token_cap(self) -> float:
        """Return the part of the budget that may be used."""
        return self.max_tokens * TOKEN_SAFETY_MARGIN


DEFAULT_SALIENCE_CONFIG = SalienceConfig()


@dataclass(frozen=True)
class MessageScore:
    id: str
    score: float


@dataclass(frozen=True)
class SelectionResult(Generic[M]):
    """The chosen messages in their original order, with their ids and scores in the same order.

    pruned_count: messages of the conversation that were left out, for any reason. estimated_tokens: of the
    chosen ones; above the cap only where `min_messages` forbade to leave out more.
    """

    selected_messages: tuple[M, ...]
    selected_ids: tuple[str, ...]
    pruned_count: int
    estimated_tokens: int
    scores: tuple[MessageScore, ...]


def select_salient_messages(
    messages: Sequence[M],
    mood_deltas: Sequence[MoodDelta | None],
    config: SalienceConfig,
    rng: RNG,
    tokens_of: Callable[[str], int] = estimate_tokens,
) -> SelectionResult[M]:
    """Return the most salient messages with their neighbours, within the token budget, in their original order.

    mood_deltas: one for each message by position; a missing one counts as 0. The spec's parameter of mood
    scores is left out, because its formula does not read them. rng: draws one number for each message, and among
    equal scores the higher draw wins, in choosing and in pruning alike; equal draws leave it to the earlier one.
    A neighbour that was not chosen itself competes in pruning with its own score.
    """
    scores = salience_scores(messages, mood_deltas, config)
    draws = [rng.next_float() for _ in scores]
    ranking = sorted(range(len(scores)), key=lambda position: (scores[position], draws[position]), reverse=True)
    chosen = with_context(ranking[: config.top_k], len(messages))
    costs = {position: tokens_of(messages[position].content) for position in chosen}
    # Without the worst, until the rest fits the cap or no more may go.
    kept, tokens = [position for position in ranking if position in chosen], sum(costs.values())
    while tokens > config.token_cap and len(kept) > config.min_messages:
        tokens -= costs[kept.pop()]
    kept.sort()
    return SelectionResult(
        selected_messages=tuple(messages[p] for p in kept),
        selected_ids=tuple(messages[p].id for p in kept),
        pruned_count=len(messages) - len(kept),
        estimated_tokens=tokens,
        scores=tuple(MessageScore(messages[p].id, scores[p]) for p in kept),
    )


def salience_scores(
    messages: Sequence[Selectable], mood_deltas: Sequence[MoodDelta | None], config: SalienceConfig
) -> list[float]:
    """Return the score of each message: weighted change of mood, weighted emotional words, and its position."""
    total = len(messages)
    deltas = [delta or NO_DELTA for delta in mood_deltas]
    deltas += [NO_DELTA] * (total - len(deltas))
    return [
        config.weight_delta * deltas[index].magnitude
        + config.weight_emotion * emotion_keyword_score(message.content)
        + position_boost(index, total)
        for index, message in enumerate(messages)
    ]


def emotion_keyword_score(content: str) -> float:
    """Return 1.0, 0.5 or 0.2 for the strongest kind of emotional word that occurs, even inside another word; else 0."""
    normalized = content.lower()
    found = (score for score, words in EMOTION_KEYWORDS.items() if any(word in normalized for word in words))
    return next(found, 0.0)


def position_boost(index: int, total: int) -> float:
    """Return 0.2 where `index / total` is below 0.2 or above 0.8, else 0; 0 without messages.

    As in the spec: of five messages or fewer the first has it and the last does not, since 4 / 5 is not above 0.8.
    """
    if total <= 0:
        return 0.0
    position = index / total
    return POSITION_BOOST if position < EDGE_SHARE or position > 1 - EDGE_SHARE else 0.0


def with_context(positions: Sequence[int], total: int) -> set[int]:
    """Return `positions` and their neighbours, one before and one after, each once."""
    return {
        neighbour
        for position in positions
        for neighbour in range(position - CONTEXT_BEFORE, position + CONTEXT_AFTER + 1)
        if 0 <= neighbour < total
    }

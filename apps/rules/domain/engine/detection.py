"""Detecting conflicts between two memories: spec 000 "Memory Conflict Detection" and DESIGN D6.

Six signals are computed and recorded. The semantic, the keyword, the contradiction and the cross-encoder signal can
make a conflict; memories of the same minute, or of different importance, are normal. The keyword signal alone makes one
only when the common words are in the same order: "a dog bites a man" has all keywords of "a man bites a dog".
"""

import math
import re
from collections.abc import Iterable

import numpy as np

from apps.rules.domain.contradiction.evidence import Reason
from apps.rules.domain.contradiction.judgement import asserts, can_restate, find_evidence, reading_of, restates
from apps.rules.domain.contradiction.lexicon import opposites_of
from apps.rules.domain.contradiction.text import VALUES, Passage, analyse
from apps.rules.domain.contradiction.words import PARTICLES
from apps.rules.domain.decimals import difference, exceeds, reaches
from apps.rules.domain.engine.pair_judge import judge_pair
from apps.rules.domain.engine.record import MemoryRecord
from apps.rules.domain.engine.sentences import distinct_terms
from apps.rules.domain.engine.signals import Detection, DetectionConfig, Signal, SignalType
from apps.rules.domain.engine.weighing import is_near, is_silent_about, weigh

MAKE_A_CONFLICT = frozenset((SignalType.SEMANTIC, SignalType.KEYWORD, SignalType.CONTRADICTION))
# Of texts that the embedder knows less of, all have nearly the same vector.
MIN_KNOWN_SHARE = 0.7
MAX_SHOWN_WORDS = 50
SAME_MATTER_COSINE = 0.6
SAME_MATTER_WORDS = 2
# "Works at Google" has one of its two content words in common with "Works at Apple".
SHORT_WORDS = 5
# Signs before numbers, currencies and percentages: 5 is not -5, and $5 not €5.
_SIGNS = re.compile(r"(?<!\w)[-+−](?=[$€£¥]?\d)")
_MARKS = re.compile(r"(?<!\w)[-+−](?=[$€£¥]?\d)|[$€£¥%‰°]")
# What says something without a word: a plus, an arrow, a tick, stars; and what mostly only adds to words: a face.
_SYMBOLS = re.compile(r"[+<>=~^±×÷\u2190-\u25ff★☆☐☑☒✗✘❌➕➖\u2b00-\u2bff]")
_FACES = re.compile(r"(?![★☆☐☑☒✗✘❌➕➖➗])[\u2600-\u27bf\U0001f000-\U0001f3fa\U0001f400-\U0001fbff]|[:;]-?[()]")
# Of a list, a quotation.
_LEADING = "> →•▪\t"


def detect(
    candidate: MemoryRecord, existing: MemoryRecord, config: DetectionConfig, *, is_read: bool = True
) -> Detection:
    """Compute the signals between a candidate and a stored memory, and whether they are a conflict.

    Swapping the two changes only the order of pairs within the evidence, and the key in it. Raises nothing for any
    text; embeddings of different lengths are not compared. Where there is a judge of pairs, it is asked about what the
    words see, and about what is near enough. is_read: whether it is asked about the latter.
    """
    cosine = cosine_of(candidate, existing)
    words = detect_words(candidate, existing, cosine, config)
    if not (words.is_conflict or (is_read and is_near_enough(candidate, existing, cosine))):
        return words
    texts = in_order(candidate, existing)
    answer = judge_pair(*texts)
    if answer is None:
        return words
    return weigh(words, answer, texts, all(map(asserts, texts)), config, existing.key)


def in_order(candidate: MemoryRecord, existing: MemoryRecord) -> tuple[str, str]:
    """Return the two texts, the older one first; of equal times by the alphabet, whichever is the candidate."""
    one, other = candidate.content, existing.content
    if candidate.timestamp == existing.timestamp:
        return (one, other) if one < other else (other, one)
    return (one, other) if existing.timestamp > candidate.timestamp else (other, one)


def pairs_to_read(pairs: Iterable[tuple[MemoryRecord, MemoryRecord]]) -> list[tuple[str, str]]:
    """Return the texts that the judge will be asked about whatever the words say, to have them read at once."""
    found = []
    for candidate, existing in pairs:
        if is_near_enough(candidate, existing, cosine_of(candidate, existing)):
            found.append(in_order(candidate, existing))
    return found


def is_near_enough(candidate: MemoryRecord, existing: MemoryRecord, cosine: float | None) -> bool:
    """Return whether the judge reads two memories whatever their words say: near ones of which it may say something."""
    one, other = candidate.content, existing.content
    if one == other or not is_near(cosine, len(distinct_terms(one) & distinct_terms(other))):
        return False
    return not is_silent_about(one, other)


def detect_words(
    candidate: MemoryRecord, existing: MemoryRecord, cosine: float | None, config: DetectionConfig
) -> Detection:
    """Compute the signals of words, vectors, times and importances."""
    one, other = candidate.content, existing.content
    says_same = (
        config.restate_threshold < 1
        and restates(one, other, config.restate_threshold)
        and _SIGNS.findall(one) == _SIGNS.findall(other)
        and have_same_symbols(one, other)
    )
    found = (
        semantic_signal(cosine, existing.key, config),
        keyword_signal(candidate, existing, config),
        time_signal(candidate, existing, config),
        importance_signal(candidate, existing, config),
        None if says_same else contradiction_signal(candidate, existing, cosine, config),
    )
    signals = tuple(signal for signal in found if signal and not is_only_near(signal, candidate, existing, config))
    scores = {signal.type: signal.score for signal in signals}
    makers = MAKE_A_CONFLICT & scores.keys()
    is_conflict = bool(makers)
    if makers == {SignalType.KEYWORD}:
        is_conflict = not is_reordered(analyse(candidate.content), analyse(existing.content))
    total = sum(getattr(config.weights, kind) * score for kind, score in scores.items())
    if SignalType.CONTRADICTION in scores:
        is_decisive = reaches(scores[SignalType.CONTRADICTION], config.act_threshold)
        return Detection(signals, is_conflict, total, is_decisive=is_decisive)
    is_same = is_conflict and reaches(restated_share(one, other), config.restate_threshold) and can_restate(one, other)
    is_same = is_same or says_same
    return Detection(signals, is_conflict or is_same, total, is_decisive=is_same, restates=is_same)


def is_only_near(signal: Signal, candidate: MemoryRecord, existing: MemoryRecord, config: DetectionConfig) -> bool:
    """Return whether a signal only says that both are about one matter, where they say nearly the same about it."""
    if signal.type is not SignalType.CONTRADICTION or reaches(signal.score, config.act_threshold):
        return False
    one, other = candidate.content, existing.content
    if signal.evidence["reason"] != Reason.CHANGE:
        return False
    return reaches(restated_share(one, other), config.restate_threshold) and can_restate(one, other)


def cosine_of(candidate: MemoryRecord, existing: MemoryRecord) -> float | None:
    """Return the cosine of the two unit vectors, on the scale of thresholds (`retrieval.domain.vectors.scale`).

    None where one is missing, they are of different length, or the embedder does not know enough of the texts.
    """
    one, other = candidate.embedding, existing.embedding
    if min(candidate.known_share, existing.known_share) < MIN_KNOWN_SHARE:
        return None
    if one is None or other is None or one.shape != other.shape:
        return None
    cosine = float(np.dot(one, other))
    return candidate.curve.place(max(-1.0, min(1.0, cosine))) if math.isfinite(cosine) else None


def semantic_signal(cosine: float | None, key: str, config: DetectionConfig) -> Signal | None:
    """Return the signal of a high cosine, if it fires."""
    if cosine is None or not exceeds(cosine, config.semantic_threshold):
        return None
    evidence = {"similarity": round(cosine, 4), "threshold": config.semantic_threshold, "target": key}
    return Signal(SignalType.SEMANTIC, max(0.0, cosine), evidence)


def keyword_signal(candidate: MemoryRecord, existing: MemoryRecord, config: DetectionConfig) -> Signal | None:
    """Return the signal of the Jaccard ratio of the two sets of keywords, if it fires."""
    one, other = keywords_of(candidate), keywords_of(existing)
    common = one & other
    ratio = len(common) / (len(one) + len(other) - len(common)) if common else 0.0
    if not common or not exceeds(ratio, config.keyword_threshold):
        return None
    evidence = {
        "overlap": round(ratio, 4),
        "threshold": config.keyword_threshold,
        "keywords": sorted(common)[:MAX_SHOWN_WORDS],
        "target": existing.key,
    }
    return Signal(SignalType.KEYWORD, ratio, evidence)


def keywords_of(record: MemoryRecord) -> frozenset[str]:
    """Return the compared keywords of a memory: given ones and content words, stemmed, without stopwords."""
    terms = distinct_terms(record.content)
    return terms.union(*map(distinct_terms, record.keywords)) if record.keywords else terms


def time_signal(candidate: MemoryRecord, existing: MemoryRecord, config: DetectionConfig) -> Signal | None:
    """Return the signal of near times: 1 at the same time, falling to 0 at the edge of the window."""
    window = config.time_window_seconds
    delta = abs((candidate.timestamp - existing.timestamp).total_seconds())
    if delta > window:
        return None
    score = 1.0 - delta / window if window > 0 else 1.0
    return Signal(SignalType.TIME, score, {"delta_seconds": delta, "window_seconds": window})


def importance_signal(candidate: MemoryRecord, existing: MemoryRecord, config: DetectionConfig) -> Signal | None:
    """Return the signal of different importances, if it fires."""
    delta = abs(difference(candidate.importance, existing.importance))
    if not exceeds(delta, config.importance_delta):
        return None
    evidence = {
        "delta": round(delta, 4),
        "threshold": config.importance_delta,
        "candidate": candidate.importance,
        "existing": existing.importance,
    }
    return Signal(SignalType.IMPORTANCE, min(1.0, delta), evidence)


def contradiction_signal(
    candidate: MemoryRecord, existing: MemoryRecord, cosine: float | None, config: DetectionConfig
) -> Signal | None:
    """Return the signal of contradicting contents, if it fires.

    Texts with a low cosine that are neither short nor have two words in common are not compared: none of the labelled
    pairs that are noticed is lost by it (docs/explain/conflicts.md).
    """
    if cosine is not None and cosine < SAME_MATTER_COSINE:
        one, other = keywords_of(candidate), keywords_of(existing)
        if min(len(one), len(other)) > SHORT_WORDS and len(one & other) < SAME_MATTER_WORDS:
            return None
    # Of equal times the candidate is the newer one.
    if existing.timestamp > candidate.timestamp:
        found = find_evidence(candidate.content, existing.content, cosine)
    else:
        found = find_evidence(existing.content, candidate.content, cosine)
        found = found and found.swapped()
    if found is None or not exceeds(found.score, config.contradiction_threshold):
        return None
    share = min(candidate.known_share, existing.known_share)
    evidence = {
        "reason": found.reason.value,
        "candidate": shorten(found.first),
        "existing": shorten(found.second),
        "readings": [reading_of(candidate.content, found.first), reading_of(existing.content, found.second)],
        "differing": [list(pair) for pair in found.differing],
        "common": list(found.common)[:MAX_SHOWN_WORDS],
        "threshold": config.contradiction_threshold,
        "target": existing.key,
        **({} if share == 1 else {"known_share": round(share, 2)}),
    }
    return Signal(SignalType.CONTRADICTION, found.score, evidence)


def shorten(passage: str) -> str:
    """Return a passage short enough for a receipt."""
    return passage if len(passage) <= 300 else passage[:299] + "…"


def restated_share(first: str, second: str) -> float:
    """Return the share of common content words of two texts, in [0, 1]; symmetric, and 1 for equal texts.

    It is 0 when neither text has all content words of the other, when they are in another order ("Ana owes Ben", "Ben
    owes Ana"), or when a value, a name, a negation, a symbol or a particle that turns the meaning is on one side only.
    """
    if first == second:
        return 1.0
    if _MARKS.findall(first) != _MARKS.findall(second) or not have_same_symbols(first, second):
        return 0.0
    one, other = analyse(first), analyse(second)
    words, others = one.whole.content, other.whole.content
    common = words & others
    if not common or fixed_words(one) != fixed_words(other) or value_keys(one) != value_keys(other):
        return 0.0
    if common not in (words, others) or is_reordered(one, other):
        return 0.0
    if not all(opposites_of(extra).isdisjoint(common) for extra in (words | others) - common):
        return 0.0
    return len(common) / max(len(words), len(others))


def have_same_symbols(one: str, other: str) -> bool:
    """Return whether two texts say the same without words: a face on one side alone says nothing else."""
    one, other = one.lstrip(_LEADING), other.lstrip(_LEADING)
    faces, others = _FACES.findall(one), _FACES.findall(other)
    return _SYMBOLS.findall(one) == _SYMBOLS.findall(other) and (faces == others or not (faces and others))


def fixed_words(passage: Passage) -> frozenset[str]:
    """Return what must not differ: values, names, particles and idioms that turn the meaning, and a negation."""
    fixed = {
        token.key
        for token in passage.whole.tokens
        if token.kind in VALUES or token.name or token.text in PARTICLES or (token.function and " " in token.text)
    }
    return frozenset(fixed | ({"not"} if passage.whole.negators else set()))


def value_keys(passage: Passage) -> tuple[str, ...]:
    """Return every value in order, with repeats: "3 of 4 rooms" is not "4 of 3 rooms"."""
    return tuple(token.key for token in passage.whole.tokens if token.kind in VALUES)


def is_reordered(one: Passage, other: Passage) -> bool:
    """Return whether the common content words of two texts are in different orders of first occurrence."""
    common = one.whole.content & other.whole.content
    orders = [
        list(dict.fromkeys(token.key for token in passage.whole.tokens if token.key in common))
        for passage in (one, other)
    ]
    return orders[0] != orders[1]

"""What follows from the words of two memories and from what the judge of pairs reads in them, together.

The words explain, and act where they are exact. The judge understands other wordings, and is unsure of its own
certainty. So what is acted on needs one of them certain and no veto of the other; what only one of them sees is
noticed; where the judge is sure that both hold, what the words suspect is dropped.

However certain the judge is, it is not trusted where its answer hangs on one word of a frame. Of two texts that share
most of their words, the rest says what differs: another number may name another thing, and a negation with more words
denies less. What happened once took place whatever happens next.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from enum import StrEnum
from itertools import takewhile

from apps.llm.domain.pair_answer import PairAnswer
from apps.retrieval.domain.text.terms import words as words_of_text
from apps.rules.domain.contradiction.english.updates import SHORT_CHARS
from apps.rules.domain.contradiction.frames import frames_of
from apps.rules.domain.contradiction.judgement import MAX_ACTED_CHARS, denies, read_text
from apps.rules.domain.contradiction.quantities import QUANTITY, read_quantity
from apps.rules.domain.contradiction.text import analyse
from apps.rules.domain.decimals import reaches
from apps.rules.domain.engine.pair_judge import judge_name
from apps.rules.domain.engine.sentences import distinct_terms, split_sentences
from apps.rules.domain.engine.signals import Detection, DetectionConfig, Signal, SignalType
from apps.rules.domain.statements.contrasts import are_counterparts, are_numbered_apart, are_occurrences_apart
from apps.rules.domain.statements.language import ENGLISH, language_of

# Two memories are read by the judge from the first cosine on, or from the second where they share so many words. Of the
# updates of unseen stories 98% are.
READ_COSINE, READ_SHARING_COSINE, READ_WORDS = 0.3, 0.2, 1
# By so much the doubt must be smaller with which texts that have no word in common are taken for the same.
DOUBT_WITHOUT_WORDS = 4
# From so many words that say something on, two English texts must have one frame to be taken for the same.
LONG_WORDS = 6
# What is about something else with this probability is not even noticed: of other matters one person has many.
OTHER_MATTER_FROM = 0.03
# Nor is it acted on by the judge alone from here on: of 14,000 pairs of other matters that nobody trained with, none is
# taken for a replacement then, one below twice as much (decision 99).
OTHER_MATTER_ACT_BELOW = 0.003
# From here on the judge is as sure that both hold as it is of anything.
DROPPED_FROM = 0.9
# What the words decide of two occurrences is confirmed from here on: the judge does not act alone there.
CONFIRMED_FROM = 0.99
# Of two texts that differ in one word the judge vetoes what the words decide below this alone: it took Prague for one
# home beside any other (of 240 pairs of cities pairs-9 has 4 below 0.3 and none below 0.02; of 31 pairs of the stories
# for training that both hold and that the words would decide, pairs-4 had 30 and 27).
ONE_WORD_VETO_BELOW = 0.02
_DIGITS = re.compile(r"\d+")
_ATOM = re.compile(r"\d+|[^\W\d_]")
# "A man ...", "some people ...": of whom another text speaks may be another one.
_INDEFINITE = re.compile(
    r"(?:an?|two|three|four|five|some|several|many|there (?:is|are|was|were)|people|men|women|children|kids|somebody"
    r"|someone|eine?|einige|une?|des|quelques|una|unos|unas|algunos)\b|有一?[個个位名隻只群]|有人",
    re.IGNORECASE,
)
FRAME_SHARE = 0.5
# Of a sentence; comparing more, word by word, takes long.
MOST_WORDS_OF_A_FRAME = 100
_SUBJECT = re.compile(
    r"(\w+['’]s|i|you|he|she|we|they|my|your|his|her|our|their|je|tu|il|elle|nous|ils|elles|ich|du|er|sie|wir|yo|él|ella|mi|su)\b",
    re.IGNORECASE,
)
# "The bank is closed": the state of a thing, which another text need not speak of.
_THING = re.compile(r"(?:the|der|die|das|le|la|les|el|los|las)\s", re.IGNORECASE)


class Effect(StrEnum):
    """What the judge changed: nothing (agrees), or it noticed, acted on, joined, vetoed or dropped a conflict."""

    AGREES = "agrees"
    NOTICES = "notices"
    ACTS = "acts"
    JOINS = "joins"
    VETOES = "vetoes"
    DROPS = "drops"


def is_near(cosine: float | None, shared_words: int) -> bool:
    """Return whether two memories are near enough to be read by the judge. cosine: None where it is not known."""
    if cosine is None:
        return shared_words >= READ_WORDS
    return cosine >= READ_COSINE or (cosine >= READ_SHARING_COSINE and shared_words >= READ_WORDS)


def is_silent_about(one: str, other: str) -> bool:
    """Return whether the judge says nothing of two texts unless the words do.

    It does not of the indefinite, of two turns of a conversation, of two numbered things, and where one text says all
    that the other one does, word for word, and then more.
    """
    if says_more(one, other) or says_more(other, one):
        return True
    if any(map(_INDEFINITE.match, (one, other))) or are_numbered_apart(one, other):
        return True
    return are_turns(one, other)


def are_turns(one: str, other: str) -> bool:
    """Return whether both texts are turns of a conversation, which say many things besides."""
    return all(analyse(text).speakers for text in (one, other))


def says_more(text: str, longer: str) -> bool:
    """Return whether a text stands in a longer one, which denies it no more than it does itself."""
    inner = text.strip().rstrip(".。!！ ")
    if not inner or len(inner) >= len(longer.strip()) or inner not in longer:
        return False
    return not denies(longer) or denies(text)


def weigh(
    words: Detection, answer: PairAnswer, texts: tuple[str, str], may_act: bool, config: DetectionConfig, target: str
) -> Detection:
    """Return what follows for a pair.

    words: what the signals of the words amount to. texts: older, newer. may_act: both of them assert what holds.
    target: the key of the existing memory, for the receipt. A turn of a conversation says whose it is, and another text
    perhaps not: then the judge must be certain too. Alone it acts on no long text, and says nothing of two of which
    one speaks of somebody indefinite, nor of two long turns that the words see contradict: they compare the sentences
    that share a matter, and the judge, which was trained on statements, both turns as a whole.
    """
    is_sure_of_matter = not reaches(answer.unrelated, OTHER_MATTER_ACT_BELOW)
    may_act = may_act and is_sure_of_matter and max(map(len, texts)) <= MAX_ACTED_CHARS
    if are_occurrences_apart(*texts) or any(analyse(text).speakers for text in texts):
        needed = min(config.pair_act_threshold, CONFIRMED_FROM) if config.pair_act_threshold < 1 else 1.0
        is_correction = words.is_decisive and reaches(answer.replaces, needed)
        words, may_act = replace(words, is_decisive=is_correction, restates=False), False
    if words.signal(SignalType.CONTRADICTION) is not None:
        if min(map(len, texts)) > SHORT_CHARS:
            return words
        found, effect = weigh_contradiction(words, answer, may_act, texts, config)
    elif words.restates:
        vetoed = is_vetoed(answer, texts, config)
        found = replace(words, is_decisive=False, restates=False) if vetoed else words
        effect = Effect.VETOES if vetoed else Effect.AGREES
    elif is_silent_about(*texts):
        return words
    else:
        found, effect = weigh_alone(words, answer, may_act, texts, config)
    if not found.is_conflict:
        return found
    signal = pair_signal(answer, effect, texts, config, target)
    total = found.total_score + config.weights.cross_encoder * (0.0 if effect is Effect.VETOES else signal.score)
    return replace(found, signals=(*found.signals, signal), total_score=total)


def weigh_contradiction(
    words: Detection, answer: PairAnswer, may_act: bool, texts: tuple[str, str], config: DetectionConfig
) -> tuple[Detection, Effect]:
    """Return what follows where the words contradict: acted on, noticed, or dropped."""
    is_one_matter = config.pair_veto_threshold == 0 or not reaches(answer.unrelated, OTHER_MATTER_FROM)
    if words.is_decisive:
        if is_one_matter and not is_vetoed(answer, texts, config):
            return words, Effect.AGREES
        return replace(words, is_decisive=False), Effect.VETOES
    if not is_one_matter or reaches(answer.both + answer.unrelated, DROPPED_FROM):
        return without(words, SignalType.CONTRADICTION), Effect.DROPS
    if may_act and is_certain(answer, texts, config):
        return replace(words, is_decisive=True), Effect.ACTS
    if may_act and is_certainly_same(answer, texts, config):
        return joined(without(words, SignalType.CONTRADICTION)), Effect.JOINS
    return words, Effect.AGREES


def is_vetoed(answer: PairAnswer, texts: tuple[str, str], config: DetectionConfig) -> bool:
    """Return whether the judge is sure enough that both hold to veto what the words decide.

    Of the same words in another order it is not asked: to it, who owes whom is the same.
    """
    if config.pair_veto_threshold > 0 and are_in_other_order(*texts):
        return True
    below = config.pair_veto_threshold
    if hang_on_one_word(*map(distinct_terms, texts)):
        below = min(below, ONE_WORD_VETO_BELOW)
    return not reaches(answer.replaces + answer.same, below)


def is_certain(answer: PairAnswer, texts: tuple[str, str], config: DetectionConfig) -> bool:
    """Return whether the judge may act on a replacement alone; at thresholds of 1 it never may."""
    if max(config.act_threshold, config.pair_act_threshold) >= 1:
        return False
    return reaches(answer.replaces, config.pair_act_threshold) and may_replace_alone(*texts)


def is_certainly_same(answer: PairAnswer, texts: tuple[str, str], config: DetectionConfig) -> bool:
    """Return whether the judge may take two texts for the same; at a threshold of 1 for restatements it never may.

    It must know their words, and their numbers must allow it: equal ones, or in words on one side. Of texts without a
    word in common it must be surer: what it takes for the same in a language that it hardly knows mostly has none.
    """
    if config.restate_threshold >= 1 or not answer.knows_words or not reaches(answer.same, same_from(texts, config)):
        return False
    one, other = map(numbers_of, texts)
    return (not (one and other) or one == other) and may_join_alone(*texts)


def same_from(texts: tuple[str, str], config: DetectionConfig) -> float:
    """Return from which probability on two texts are taken for the same."""
    one, other = map(distinct_terms, texts)
    return config.pair_same_threshold if one & other else 1 - (1 - config.pair_same_threshold) / DOUBT_WITHOUT_WORDS


def weigh_alone(
    words: Detection, answer: PairAnswer, may_act: bool, texts: tuple[str, str], config: DetectionConfig
) -> tuple[Detection, Effect]:
    """Return what follows where the words say nothing."""
    is_one_matter = not reaches(answer.unrelated, OTHER_MATTER_FROM) and config.contradiction_threshold < 1
    if is_one_matter and reaches(answer.replaces, config.pair_notice_threshold):
        acts = may_act and is_certain(answer, texts, config)
        return replace(words, is_conflict=True, is_decisive=acts), Effect.ACTS if acts else Effect.NOTICES
    if may_act and is_certainly_same(answer, texts, config):
        return joined(words), Effect.JOINS
    return words, Effect.AGREES


def joined(words: Detection) -> Detection:
    """Return a detection of one that is a restatement and is acted on."""
    return replace(words, is_conflict=True, is_decisive=True, restates=True)


def without(words: Detection, kind: SignalType) -> Detection:
    """Return a detection without a signal, which is a conflict only where another one makes it one."""
    left = tuple(signal for signal in words.signals if signal.type is not kind)
    makes = any(signal.type in (SignalType.SEMANTIC, SignalType.KEYWORD) for signal in left)
    return replace(words, signals=left, is_conflict=makes, is_decisive=False)


def pair_signal(
    answer: PairAnswer, effect: Effect, texts: tuple[str, str], config: DetectionConfig, target: str
) -> Signal:
    """Return what the judge said, for the receipt."""
    verdict = {Effect.ACTS: "replaces", Effect.NOTICES: "replaces", Effect.JOINS: "same"}.get(effect, answer.verdict)
    thresholds = {
        Effect.ACTS: config.pair_act_threshold,
        Effect.NOTICES: config.pair_notice_threshold,
        Effect.JOINS: same_from(texts, config),
    }
    evidence = {
        "verdict": verdict,
        "effect": effect.value,
        "probabilities": {name: round(value, 4) for name, value in answer.probabilities.items()},
        "model": judge_name(),
        "threshold": thresholds.get(effect, config.pair_veto_threshold),
        "target": target,
    }
    return Signal(SignalType.CROSS_ENCODER, round(getattr(answer, verdict), 4), evidence)


def numbers_of(text: str) -> frozenset[str]:
    """Return the numbers that a text has in digits, those with a unit in its canonical one: 9.5 kg are 9500 grams."""
    quantities = [read_quantity(found) for found in QUANTITY.finditer(text) if _DIGITS.search(found[0])]
    plain = _DIGITS.findall(QUANTITY.sub(lambda found: "" if _DIGITS.search(found[0]) else found[0], text))
    return frozenset([*plain, *(f"{one.key} {one.unit}" for one in quantities)])


def may_replace_alone(older: str, newer: str) -> bool:
    """Return whether the judge may act alone on an older and a newer text that it finds to be a replacement."""
    if is_occurrence(older) or are_counterparts(older, newer) or have_other_persons(older, newer):
        return False
    if are_person_and_thing(older, newer) or differ_in_two_places(older, newer):
        return False
    words, others = distinct_terms(older), distinct_terms(newer)
    if not have_one_frame(words, others):
        return True
    if hang_on_one_word(words, others):
        return False
    one, other = _DIGITS.findall(older), _DIGITS.findall(newer)
    if one and other and sorted(one) != sorted(other):
        return False
    # Of two texts one denies what the other one says, and says more: of cats, "cats that scratch".
    if denies(older) is denies(newer):
        return True
    return not (others - words if denies(newer) else words - others)


def may_join_alone(older: str, newer: str) -> bool:
    """Return whether the judge may take two texts for the same: not of other persons, and not but for one word.

    Nor where the same words are in another order: "Ben is Ana's uncle", "Ana is Ben's uncle". Of two occurrences in one
    frame that differ in both, each took place. A door upstairs is open, one downstairs shut. What says much of one
    theme in other words mostly says something else: facts of a conversation are near each other and all hold.
    """
    if have_other_persons(older, newer) or are_in_other_order(older, newer):
        return False
    if says_several(older) or says_several(newer):
        return False
    words, others = distinct_terms(older), distinct_terms(newer)
    left, right = words - others, others - words
    if not (left or right):
        return True
    is_long = min(len(words), len(others)) >= LONG_WORDS and {language_of(older), language_of(newer)} == {ENGLISH}
    if is_long and not have_one_frame(words, others):
        return False
    if left and right and have_one_frame(words, others) and is_occurrence(older) and is_occurrence(newer):
        return False
    if differ_in_two_places(older, newer):
        return False
    return max(len(left), len(right)) > 1


def are_in_other_order(one: str, other: str) -> bool:
    """Return whether two texts have the same letters and numbers in another order. 13:00 is not 10:30."""
    atoms, others = (_ATOM.findall(text.casefold()) for text in (one, other))
    return atoms != others and sorted(atoms) == sorted(others)


def have_one_frame(words: frozenset[str], others: frozenset[str]) -> bool:
    """Return whether two texts share most of their words."""
    return len(words & others) >= FRAME_SHARE * min(len(words), len(others))


def hang_on_one_word(words: frozenset[str], others: frozenset[str]) -> bool:
    """Return whether two texts share most of their words, and of those that they do not share each has one at most."""
    return have_one_frame(words, others) and max(len(words - others), len(others - words)) <= 1


def differ_in_two_places(one: str, other: str) -> bool:
    """Return whether two texts are one frame with other words in two places: mostly another thing, and what it is.

    So are texts that differ over more words than a frame has: the judge does not act alone on what it cannot survey.
    """
    words, others = words_of_text(one), words_of_text(other)
    start = shared_at_start(words, others)
    left, right = words[start:], others[start:]
    end = shared_at_start(left[::-1], right[::-1])
    left, right = left[: len(left) - end], right[: len(right) - end]
    if max(len(left), len(right)) > MOST_WORDS_OF_A_FRAME:
        return True
    blocks = SequenceMatcher(None, left, right, autojunk=False)
    changes = [tag for tag, *_ in blocks.get_opcodes() if tag != "equal"]
    same = start + end + sum(block.size for block in blocks.get_matching_blocks())
    return changes == ["replace", "replace"] and 2 * same >= FRAME_SHARE * (len(words) + len(others))


def shared_at_start(words: Sequence[str], others: Sequence[str]) -> int:
    """Return with how many equal words two texts begin."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(words, others, strict=False)))


def is_occurrence(text: str) -> bool:
    """Return whether all that a text says is that something happened, as far as its language can be read."""
    if language_of(text) != ENGLISH:
        return False
    frames = [frame for statement in read_text(text) for frame in frames_of(statement)]
    return bool(frames) and all(frame.is_event for frame in frames)


def have_other_persons(older: str, newer: str) -> bool:
    """Return whether both texts begin with a pronoun or an owner, and with another one."""
    one, other = _SUBJECT.match(older), _SUBJECT.match(newer)
    return bool(one and other) and one[1].casefold() != other[1].casefold()  # type: ignore[index]


def says_several(text: str) -> bool:
    """Return whether a text has several sentences: one statement says no more what all of it does."""
    return len(split_sentences(text.strip())) > 1


def are_person_and_thing(older: str, newer: str) -> bool:
    """Return whether the older text begins with somebody and the newer one with a thing: an appointment, the bank."""
    return _SUBJECT.match(older) is not None and _THING.match(newer) is not None

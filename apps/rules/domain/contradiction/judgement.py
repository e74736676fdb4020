"""Judge whether two texts contradict each other, whatever their language, as far as their readings allow it."""

from dataclasses import replace

from apps.rules.domain.contradiction.chinese.compare import find_chinese, restates_chinese
from apps.rules.domain.contradiction.english.updates import SHORT_CHARS, find_update, may_decide
from apps.rules.domain.contradiction.evidence import NOTICE_ONLY, Evidence, Reason, strongest
from apps.rules.domain.contradiction.negation import find_denial, find_negation
from apps.rules.domain.contradiction.text import analyse
from apps.rules.domain.contradiction.values import MIN_SHARED_NEAR, find_value
from apps.rules.domain.statements.chinese import read_chinese, split_chinese
from apps.rules.domain.statements.european import read_european, split_european
from apps.rules.domain.statements.european_words import EUROPEAN
from apps.rules.domain.statements.language import ENGLISH, common_language, language_of
from apps.rules.domain.statements.read import statements_of
from apps.rules.domain.statements.statement import Mood, Statement, Tense

# From this score evidence is acted on by default; see `DetectionConfig.act_threshold`.
DECISIVE = 0.85
# One statement is a small part of a longer memory: superseding that for it would lose the rest.
MAX_ACTED_CHARS = 1500
# Longer texts say several things, and are not the same in other words.
MAX_RESTATED_CHARS = 300
_QUESTION_MARKS = ("?", "？", "؟")


def find_evidence(older: str, newer: str, similarity: float | None = None) -> Evidence | None:
    """Return the strongest evidence that the newer of two texts contradicts the older one; None for none.

    Only what is asserted of the present can be decided about: evidence between a question, a plan, a wish, a condition,
    a report or the past and anything else is for noticing only. Between texts of two languages, or of one whose words
    are not compared, nothing is found: the judge of pairs reads those. The first passage is the older text's.
    similarity: the cosine of the texts, None where it is not known or not trusted.
    """
    one, other = analyse(older), analyse(newer)
    # "Caroline: ..." and "Melanie: ..."
    if one.speakers and other.speakers and one.speakers.isdisjoint(other.speakers):
        return None
    language = common_language(older, newer)
    if language != ENGLISH:
        return find_chinese(older, newer) if language == "zh" else None
    update, negated = find_update(older, newer), find_negation(one, other)
    if negated and negated.score >= DECISIVE:
        is_short = max(len(older), len(newer)) <= SHORT_CHARS
        is_read = is_short and update is not None and update.reason is not Reason.CHANGE and update.score < DECISIVE
        if is_read or not may_decide(older, newer):
            negated = replace(negated, score=NOTICE_ONLY)
    length = max(len(older), len(newer))
    turns = None
    if length > SHORT_CHARS and len(one.whole.content & other.whole.content) >= MIN_SHARED_NEAR:
        # What long turns show that are not read word by word: another value, or that a thing never was.
        turns = strongest((find_denial(one, other, similarity), find_value(one, other, similarity)))
    found = strongest((negated, update, turns))
    return replace(found, score=min(found.score, NOTICE_ONLY)) if found and length > MAX_ACTED_CHARS else found


def restates(first: str, second: str, threshold: float) -> bool:
    """Return whether two texts say the same in other words, by the words of their language. Symmetric."""
    if max(len(first), len(second)) > MAX_RESTATED_CHARS:
        return False
    share = 1.0 if first == second else 0.0
    if first != second and common_language(first, second) == "zh":
        share = restates_chinese(first, second)
    return share >= threshold and can_restate(first, second)


def can_restate(first: str, second: str) -> bool:
    """Return whether one of two texts may replace the other as a restatement: a question, plan or wish never does."""
    if first == second:
        return True
    language = common_language(first, second)
    if language == ENGLISH and max(len(first), len(second)) <= SHORT_CHARS:
        return may_decide(first, second)
    ours, theirs = read_text(first), read_text(second)
    if language == ENGLISH:
        asks = [sum(one.mood is Mood.QUESTION for one in side) for side in (ours, theirs)]
        return asks[0] == asks[1] and all(any(one.can_decide for one in side) for side in (ours, theirs))
    return all(statement.can_decide and statement.tense is not Tense.PAST for statement in (*ours, *theirs))


def read_text(text: str) -> tuple[Statement, ...]:
    """Return the statements of a text in its language; none for a language that cannot be read."""
    language = language_of(text)
    return statements_of(text) if language == ENGLISH else read_in(language, text)


def read_in(language: str, text: str) -> tuple[Statement, ...]:
    """Return the statements of a text in another language than English; none for one that is not read here.

    What German, French and Spanish texts say of each other is left to the judge of pairs: rules over their words found
    nothing that it did not. They are read all the same, for questions, plans and the past.
    """
    if language == "zh":
        return tuple(read_chinese(sentence) for sentence in split_chinese(text))
    if language in EUROPEAN:
        return tuple(read_european(language, sentence) for sentence in split_european(text))
    return ()


def asserts(text: str) -> bool:
    """Return whether a text says something that could decide about another one."""
    found = read_text(text)
    if not found:  # a language that cannot be read
        return not text.rstrip(" \t\r\n\"'”’»)」』").endswith(_QUESTION_MARKS)
    return any(one.can_decide for one in found) and not any(one.mood is Mood.QUESTION for one in found)


def denies(text: str) -> bool:
    """Return whether a statement of a text denies something."""
    return any(one.negative for one in read_text(text))


def reading_of(text: str, passage: str) -> str:
    """Return how the statement of a text that a passage is from is read, in words: "assertion, present, negative"."""
    statements = read_text(text)
    if not statements:
        return "unread"
    found = next((one for one in statements if one.body and one.body in passage), statements[0])
    flags = {
        "negative": found.negative,
        "additive": found.additive,
        "correction": found.corrects,
        "change": found.changes,
    }
    return ", ".join((found.mood.value, found.tense.value, *(name for name, is_set in flags.items() if is_set)))

"""Whether a sentence keeps the meaning of the facts that it replaces, by their words.

The check is meant to refuse too much rather than too little: a fact whose new words are not surely the same stays as it
was written. Numbers, names, dates, negations and what limits a statement have to be there, each beside the same words.
Every other word has to be there as well, in the order of its fact, and no word that none of the facts says.

Only words that add nothing are left out. Facts of which one goes on where the others end become that one; facts that
begin or end alike become one sentence with a list: "Ana likes tea." and "Ana likes milk." are "Ana likes tea and milk."
"""

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import permutations

from apps.core.domain.caches import SizedCache
from apps.llm.domain.protocol.parser import parse_output
from apps.notes.domain.compaction.lists import MAX_FACT_CHARS, is_plain_text
from apps.retrieval.domain.text.languages import STOPWORDS
from apps.retrieval.domain.text.normal import nfkc
from apps.retrieval.domain.text.terms import words
from apps.rules.domain.contradiction.judgement import DECISIVE, find_evidence, read_text
from apps.rules.domain.contradiction.text import VALUES, Passage, analyse
from apps.rules.domain.contradiction.words import OF_THE_USER, PERSONS

# Facts of one sentence that are tried in every order; more have to be listed in theirs.
MAX_ORDERED = 4
# One sign for everything that joins the parts of a list.
JOINED = "&"
_HAN_RANGE = r"\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_TOKEN = re.compile(rf"[{_HAN_RANGE}]|[^\W_{_HAN_RANGE}]+(?:[.,:/'\-][^\W_{_HAN_RANGE}]+)*|[^\w\s]|_")
_JOINS = frozenset({",", "、", "，", "and", "&", "和", "與", "与", "及", "跟"})
_ADDITIONS = frozenset({JOINED, "as", "at", "in", "on", "for", "from", "with", "by", "because", "near"})
_END = r"(?=[\s.!。！]*$)"
# Words that add nothing, and of a text that denies something, where they may be what is denied, only the last.
_FILLERS = re.compile(
    rf"\b(?:very much|a lot){_END}|\b(?:really|very|also)\b|非常|真的|十分(?![鐘钟之])", re.IGNORECASE
)
_FILLERS_DENIED = re.compile(rf"\bat all{_END}", re.IGNORECASE)
_DIGITS = re.compile(r"\d+(?:[.,:/\-]\d+)*")
_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_HAN_VALUES = re.compile(
    r"[〇零一二三四五六七八九十百千万萬兩两半]+|[上下早中晚][午上]|(?:星期|週|周|禮拜|礼拜)[一二三四五六日天]"
)
_HAN_NOTS = re.compile(r"[不沒没無无勿]|(?<!特)[別别](?!人|的|針|针)|未(?![來来])|非(?!常)")
_HAN_SUBJECT = re.compile(
    r"[^是有在喜愛爱想要會会不沒没住去叫用說说買买吃喝討讨正已將将從从每於于最很非特現现經经一也都完只,，、。\s]{1,8}"
)
_HAN_DEGREES = re.compile(r"非常|特[別别]|真的|十分")
_HAN_FUNCTION = frozenset("的了是在和與与及也都很就還还而且於于之這这那個个一位著着過过把被給给對对到從从")
_NOTS = re.compile(
    r"\b(?:nicht|kein\w*|nie|niemals|ne|pas|jamais|aucune?|nunca|jamás|nada|tampoco|ohne|sans|sin)\b", re.I
)
# What limits a statement: without it, it says more than was said.
_LIMITS = re.compile(
    r"\b(?:plan\w*|want\w*|hop(?:e|es|ed|ing)|wish\w*|intend\w*|may|might|maybe|perhaps|probably|possibly|consider\w*|used"
    r"|former\w*|until|till|since|before|after|if|unless|when|whenever|while|during|only|just|except|but|although|though"
    r"|sometimes|often|usually|rarely|seldom|always|every|(?<!at )all|most|some|allergic|instead|than|less|more|too"
    r"|almost|about|around|approximately|at least|at most|over|under)\b"
    r"|可能|也許|也许|大概|想|打算|計劃|计划|希望|以前|曾|如果|只|除了|有時|有时|常常|經常|经常|總是|总是|每|直到|之前|之後|之后"
    r"|比|過敏|过敏|至少|最多|但|卻|却|或",
    re.IGNORECASE,
)
_OWNED = re.compile(r"^((?:my|his|her|their|our|the user['’]s|user['’]s|[^\W\d_]+['’]s)\s+[^\W\d_]+)", re.IGNORECASE)
_cache = SizedCache("lines of notes", megabytes=3)


class Wording(StrEnum):
    """What is wrong with a sentence: a word of a fact is missing, one is new, or they have another order."""

    MISSING = "missing"
    NEW = "new"
    ORDER = "order"


def find_fault(sentence: str, facts: Sequence[str], *, is_denied: bool) -> Wording | None:
    """Return what is wrong with the words of a sentence; None where it says just what its facts say.

    is_denied: whether any of the texts denies something.
    """
    own = tokens_of(sentence, is_denied=is_denied)
    theirs = [tokens_of(fact, is_denied=is_denied) for fact in facts]
    known = frozenset().union(*theirs)
    if any(token not in own for token in known):
        return Wording.MISSING
    if any(token not in known and token != JOINED for token in own):
        return Wording.NEW
    return None if says_all(own, theirs) else Wording.ORDER


@SizedCache("lines of notes", megabytes=1).remember
def tokens_of(text: str, *, is_denied: bool) -> tuple[str, ...]:
    """Return the words and signs of a text in their order, without what adds nothing and the last stop."""
    plain = nfkc(text).replace("\u2019", "'")
    tokens = _TOKEN.findall((_FILLERS_DENIED if is_denied else _FILLERS).sub(" ", plain).rstrip(" .。"))
    tokens[:1] = [token.casefold() for token in tokens[:1]]
    found = list[str]()
    for token in (JOINED if token in _JOINS else token for token in tokens):
        if token != JOINED or found[-1:] != [JOINED]:  # ", and" joins once
            found.append(token)
    return tuple(found)


def says_all(own: tuple[str, ...], facts: Sequence[tuple[str, ...]]) -> bool:
    """Return whether a sentence is one of its facts, of which the others are parts, or a list of them."""
    if own in facts:
        return all(is_part(fact, own) for fact in facts)
    different = list(dict.fromkeys(facts))
    orders = permutations(different) if len(different) <= MAX_ORDERED else iter([tuple(different)])
    return len(different) > 1 and any(own == joined for order in orders for joined in joined_ways(order, len(own)))


def is_part(fact: tuple[str, ...], whole: tuple[str, ...]) -> bool:
    """Return whether a fact is all of another one, or its beginning up to a word that begins an addition."""
    return fact == whole or (whole[: len(fact)] == fact and whole[len(fact)] in _ADDITIONS)


def joined_ways(facts: Sequence[tuple[str, ...]], length: int) -> Iterator[tuple[str, ...]]:
    """Yield the sentences of a length that say facts as a list, with what they share at the beginning and the end."""
    first, shortest = facts[0], min(map(len, facts))
    before, after = shared(facts), shared([fact[::-1] for fact in facts])
    total = sum(map(len, facts)) + len(facts) - 1
    for begin in range(min(before, shortest - 1) + 1):
        spared = total - length - begin * (len(facts) - 1)
        end, rest = divmod(spared, len(facts) - 1)
        if rest or not 0 <= end <= after or begin + end >= shortest:
            continue
        parts = [fact[begin : len(fact) - end] for fact in facts]
        listed = [token for part in parts for token in (JOINED, *part)][1:]
        yield (*first[:begin], *listed, *first[len(first) - end :])


def shared(facts: Sequence[tuple[str, ...]]) -> int:
    """Return how many words facts begin with alike."""
    return next(
        (place for place, each in enumerate(zip(*facts, strict=False)) if len(set(each)) > 1), min(map(len, facts))
    )


class Loss(StrEnum):
    """Why a sentence does not keep the meaning of its facts.

    form: it is no plain line. longer: it takes more room than they do. values: numbers, names or dates are missing, new
    or beside other words. negation, limits: of what is denied or limited. reading: they are not of one kind (a plan, a
    report, the past). subject: they are about different ones. words: one is missing. new_words: one is said that no
    fact says. order: they are said in another order, so that they may mean something else. contradiction: the rules
    find that it contradicts one of them. tool: it asks for a tool.
    """

    FORM = "form"
    LONGER = "longer"
    TOOL = "tool_request"
    VALUES = "values"
    NEGATION = "negation"
    LIMITS = "limits"
    READING = "reading"
    SUBJECT = "subject"
    WORDS = "words"
    NEW_WORDS = "new_words"
    ORDER = "order"
    CONTRADICTION = "contradiction"


FAULTS = {Wording.MISSING: Loss.WORDS, Wording.NEW: Loss.NEW_WORDS, Wording.ORDER: Loss.ORDER}


def find_loss(sentence: str, facts: Sequence[str]) -> Loss | None:
    """Return why a sentence cannot stand for facts; None where it keeps what they say. facts: at least one."""
    if not is_plain_text(sentence) or len(sentence) > MAX_FACT_CHARS:
        return Loss.FORM
    if len(sentence) > sum(map(len, facts)):
        return Loss.LONGER
    parsed = parse_output(sentence)
    if parsed.requests or parsed.refused_count:
        return Loss.TOOL
    checks = (
        (Loss.SUBJECT, len({subject_of(fact) for fact in facts}) == 1),
        (Loss.VALUES, keeps_values(sentence, facts)),
        (Loss.NEGATION, keeps_negation(sentence, facts)),
        (Loss.LIMITS, limits_of(sentence) == frozenset().union(*map(limits_of, facts))),
        (Loss.READING, {readings_of(sentence)} == {readings_of(fact) for fact in facts}),
    )
    if found := next((loss for loss, is_kept in checks if not is_kept), None):
        return found
    if fault := find_fault(sentence, facts, is_denied=any(map(negations_of, facts))):
        return FAULTS[fault]
    return Loss.CONTRADICTION if any(contradicts(sentence, fact) for fact in facts) else None


def subject_of(fact: str) -> str:
    """Return what a fact is about, by how it begins; "user" for the person without a name."""
    if _HAN.search(fact[:8]):
        found = _HAN_SUBJECT.match(fact)
        return found[0] if found else fact[:2]
    if owned := _OWNED.match(fact):
        return " ".join(owned[1].casefold().split())
    tokens = analyse(fact).whole.tokens
    first = next((token for token in tokens if not token.function or token.text in PERSONS), None)
    if first is None or first.text in OF_THE_USER or first.text in PERSONS:
        return "user"
    return first.key


def keeps_values(sentence: str, facts: Sequence[str]) -> bool:
    """Return whether the values and names are those of the facts, the values as written and beside the same words."""
    if digits_of(sentence) != frozenset().union(*map(digits_of, facts)):
        return False
    # A word is a name if it looks like one in any of the texts.
    passages = [analyse(text) for text in (sentence, *facts)]
    names = frozenset().union(*(passage.names for passage in passages))
    kept, *known = [names & {token.key for token in passage.whole.tokens} for passage in passages]
    if kept != frozenset().union(*known):
        return False
    ours, theirs = values_of(sentence), frozenset().union(*map(values_of, facts))
    return ours == theirs and all(neighbours_of(fact) <= neighbours_of(sentence) for fact in facts)


@_cache.remember
def digits_of(text: str) -> frozenset[str]:
    """Return the numbers of a text as they are written, those of Chinese words included."""
    return frozenset(_DIGITS.findall(text)) | frozenset(_HAN_VALUES.findall(text))


@_cache.remember
def values_of(text: str) -> frozenset[tuple[str, str]]:
    """Return the numbers, dates, times and weekdays of a text."""
    return frozenset((token.kind.value, token.key) for _, token in analyse(text).whole.values if not token.function)


@_cache.remember
def neighbours_of(text: str) -> frozenset[tuple[str, str, str]]:
    """Return each value with the word that follows it, else with the one before it."""
    found = set()
    for clause in analyse(text).clauses:
        for place, token in clause.values:
            if token.function:
                continue
            after = next((each.key for each in clause.tokens[place + 1 :] if is_word(each)), "")
            before = next((each.key for each in reversed(clause.tokens[:place]) if is_word(each)), "")
            found.add((token.key, "after", after) if after else (token.key, "before", before))
    return frozenset(found)


def is_word(token: object) -> bool:
    """Return whether a token is a word with a meaning of its own, or a value."""
    return bool(getattr(token, "is_content", False)) or getattr(token, "kind", None) in VALUES


def keeps_negation(sentence: str, facts: Sequence[str]) -> bool:
    """Return whether as much is denied. What is denied and what is not are never joined, nor two different denials."""
    denied = [negations_of(fact) for fact in facts]
    if not any(denied):
        return negations_of(sentence) == 0
    if len(facts) == 1:
        return negations_of(sentence) == denied[0]
    if not all(denied) or not negations_of(sentence):
        return False
    contents = sorted((content_of(fact) for fact in facts), key=len)
    return all(one <= contents[-1] for one in contents)


@_cache.remember
def negations_of(text: str) -> int:
    """Return how often a text denies something."""
    negators = len(analyse(text).whole.negators) + len(re.findall(r"\bno longer\b|\bany ?more\b", text, re.I))
    return negators + len(_NOTS.findall(text)) + len(_HAN_NOTS.findall(text))


def limits_of(text: str) -> frozenset[str]:
    """Return the words that limit what a text says."""
    return frozenset(found.casefold() for found in _LIMITS.findall(text))


@_cache.remember
def readings_of(text: str) -> frozenset[tuple[str, str]]:
    """Return the moods and tenses in which the sentences of a text are read."""
    return frozenset((each.mood.value, each.tense.value) for each in read_text(text))


@_cache.remember
def content_of(text: str) -> frozenset[str]:
    """Return the words of a text that mean something: stems, and the characters of Chinese."""
    passage: Passage = analyse(text)
    latin = {token.key for token in passage.whole.tokens if token.is_content and not _HAN.search(token.key)}
    han = {word for word in words(_HAN_DEGREES.sub("", text)) if len(word) == 1 and _HAN.match(word)}
    rest = {word for word in words(text) if not word.isascii() and not _HAN.search(word)}
    return frozenset(latin | (han - _HAN_FUNCTION) | (rest - STOPWORDS))


def contradicts(sentence: str, fact: str) -> bool:
    """Return whether the rules would decide that the sentence replaces the fact."""
    found = find_evidence(fact, sentence)
    return found is not None and found.score >= DECISIVE

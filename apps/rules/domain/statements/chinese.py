"""Reading Chinese: sentences and clauses, and what kind of statement each is."""

import re
import unicodedata
from dataclasses import dataclass

from apps.core.domain.caches import SizedCache
from apps.rules.domain.statements import chinese_words as words
from apps.rules.domain.statements.chinese_folds import FOLD
from apps.rules.domain.statements.statement import Mood, Statement, Tense
from apps.rules.domain.wordlists import longest_first

MAX_CHARS = 4000
MAX_SENTENCES, MAX_CLAUSES, MAX_CLAUSE_CHARS = 80, 120, 120

_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_SENTENCE = re.compile(r"[^。！!？?;；\n]+[。！!？?;；]*|[。！!？?;；]+")
_DOT = re.compile(r"(?<=[㐀-鿿])\.\s*|(?<=[a-z0-9㐀-鿿])\.\s+|\.\s*\Z")
_CLAUSE = re.compile(r",(?!\d)|(?<!\d),|(?<!\d):|:(?!\d)|[—–]+|\.{3,}|…+|[()（）]|\s-\s")
_SPACE = re.compile(r"(?<![a-z0-9])\s+|\s+(?![a-z0-9])")
_QUOTES = re.compile('[「」『』“”《》〈〉"]')
_ORDERS = re.compile("^(?:请|麻烦)?(?:医生|大夫|医师|老师|主管|老板)(?:让|叫|要求|要|建议|交代|吩咐)")
_SYNONYM = re.compile(longest_first(map(re.escape, words.SYNONYMS)))
_SURE_QUESTION_END = re.compile("[吗么]$")
_QUESTION = re.compile(words.QUESTIONS)
_ANY = re.compile(words.ANY)
_REPORT = re.compile(rf"(?P<reported>{words.REPORTED})|(?P<says>{words.SAYS})")
_TRUSTED = re.compile(words.TRUSTED)
_CORRECTS = re.compile(words.CORRECTS)
_CONDITION = re.compile(words.CONDITIONS)
_WISH = re.compile(words.WISHES)
_PLAN = re.compile(words.PLANS)
_GUESS = re.compile(words.GUESSES)
_PAST = re.compile(words.PAST)
_PAST_MOMENT = re.compile(words.PAST_MOMENTS)
_CHANGE = re.compile(words.CHANGES)
_ADDITIVE = re.compile(words.ADDITIVE)
_NOT_ADDITIVE = re.compile(words.NOT_ADDITIVE)
_BOUND = re.compile(longest_first(words.BOUNDS.split("|")))
_NEGATION = re.compile(rf"(?P<other>{words.NOT_NEGATIVE})|(?P<negative>{words.NEGATIVE})")
_EXPERIENCE = re.compile("(?<![超通经路])过(?:$|了$|[^敏期去来年世节程后])")


@dataclass(frozen=True, slots=True)
class ChineseClause:
    """A clause and how it is read. plain: folded, without spaces. statement: how its sentence makes it read.

    is_first: it begins its sentence.
    """

    plain: str
    statement: Statement
    is_first: bool


@SizedCache("Chinese texts", megabytes=0.5).remember
def fold_chinese(text: str) -> str:
    """Return a text in lower case, with simplified characters, plain digits, and one word of several for the same."""
    plain = unicodedata.normalize("NFKC", text).lower().translate(FOLD)
    plain = _SPACE.sub("", _QUOTES.sub("", plain))
    return _SYNONYM.sub(lambda found: words.SYNONYMS[found[0]], plain)


def split_chinese(text: str) -> list[str]:
    """Return the sentences of a text, as written; at most MAX_SENTENCES of its first MAX_CHARS characters."""
    text = _DOT.sub("。", _CODE.sub("\n", text[:MAX_CHARS]))
    found = (sentence.strip() for sentence in _SENTENCE.findall(text))
    return [sentence for sentence in found if sentence][:MAX_SENTENCES]


def read_chinese(sentence: str) -> Statement:
    """Read a sentence as a whole: the mood that any of its clauses has, and what all of them say together."""
    clauses = clauses_of(sentence)
    if not clauses:
        return Statement(sentence, sentence, "zh", mood=mood_of_question(sentence) or Mood.ASSERTION)
    readings = [clause.statement for clause in clauses]
    decided = next((one.mood for one in readings if one.mood is not Mood.ASSERTION), Mood.ASSERTION)
    tense = readings[0].tense if len({one.tense for one in readings}) == 1 else Tense.PRESENT
    return Statement(
        text=sentence,
        body="，".join(one.body for one in readings if one.body),
        language="zh",
        mood=decided,
        tense=tense,
        negative=any(one.negative for one in readings),
        additive=any(one.additive for one in readings),
        corrects=any(one.corrects for one in readings),
        changes=any(one.changes for one in readings),
        bounds=tuple(dict.fromkeys(bound for one in readings for bound in one.bounds)),
        holder=next((one.holder for one in readings if one.holder), ""),
    )


def read_clauses(text: str) -> tuple[ChineseClause, ...]:
    """Return all clauses of a text, at most MAX_CLAUSES."""
    found = [clause for sentence in split_chinese(text) for clause in clauses_of(sentence)]
    return tuple(found[:MAX_CLAUSES])


def clauses_of(sentence: str) -> list[ChineseClause]:
    """Return the clauses of a sentence. A question, a condition or a report holds for all clauses after it."""
    plain = fold_chinese(sentence)
    asked = mood_of_question(plain)
    corrects = bool(_CORRECTS.search(plain))
    read: list[ChineseClause] = []
    mood, holder = asked or Mood.ASSERTION, ""
    for part in _CLAUSE.split(plain.rstrip("。！!？?;；.~ ")):
        clause = part.strip(" 。！!？?;；")[:MAX_CLAUSE_CHARS]
        if not clause:
            continue
        report, who, body = read_report(clause)
        if report and mood is Mood.ASSERTION:
            mood, holder = Mood.REPORT, who
        if mood is Mood.ASSERTION and _CONDITION.search(clause):
            mood = Mood.CONDITION
        body = _ORDERS.sub("", body)
        read.append(ChineseClause(body, read_clause(clause, body, mood, holder, corrects), not read))
    return read


def read_clause(clause: str, body: str, mood: Mood, holder: str, corrects: bool) -> Statement:
    """Read one folded clause. mood, holder: those of its sentence. body: without who reports it."""
    if mood is Mood.ASSERTION:
        mood = mood_of(body)
    return Statement(
        text=clause,
        body=body,
        language="zh",
        mood=mood,
        tense=tense_of(body, mood),
        negative=is_negative(body),
        additive=bool(_ADDITIVE.search(_NOT_ADDITIVE.sub(" ", body))),
        corrects=corrects,
        changes=bool(_CHANGE.search(body)) or body.endswith("了"),
        bounds=tuple(sorted(set(_BOUND.findall(body)))),
        holder=holder,
    )


def mood_of_question(plain: str) -> Mood | None:
    """Return QUESTION for a sentence that asks, else None. plain: folded."""
    end = plain.rstrip("。！!;；.~ \"'”」』)")
    if end.endswith(("?", "？")):
        return Mood.QUESTION
    asks = _QUESTION.search(_ANY.sub(" ", end)) is not None
    return Mood.QUESTION if asks or (_SURE_QUESTION_END.search(end) and not end.endswith("什么")) else None


def mood_of(body: str) -> Mood:
    """Return the mood of a clause that nothing before it decides."""
    if _WISH.search(body):
        return Mood.WISH
    if _PLAN.search(body) or _GUESS.search(body):
        return Mood.PLAN
    return Mood.ASSERTION


def tense_of(body: str, mood: Mood) -> Tense:
    """Return when a clause says that something holds."""
    if mood in (Mood.PLAN, Mood.WISH):
        return Tense.FUTURE
    if _PAST_MOMENT.search(body) and not (_CHANGE.search(body) and body.endswith("了")):
        return Tense.PAST
    return Tense.PAST if _PAST.search(body) or _EXPERIENCE.search(body) else Tense.PRESENT


def read_report(clause: str) -> tuple[bool, str, str]:
    """Return whether a clause is what another person is said to say or think, who, and the clause without that.

    What a doctor or a notice says counts like what the user says, and so do the user's own words.
    """
    found = _REPORT.search(clause)
    if found is None:
        return False, "", clause
    who, rest = clause[: found.start()], clause[found.end() :]
    if found["reported"]:
        return True, who, rest
    if _TRUSTED.search(who) and found[0] not in ("以为", "怀疑"):
        return False, "", rest
    if who in ("我", "") and found[0] not in ("以为", "猜", "怀疑"):
        return False, "", rest if found[0] == "说" else clause
    return True, who, rest


def is_negative(body: str) -> bool:
    """Return whether a folded clause denies something; a double "not" does not."""
    return sum(1 for found in _NEGATION.finditer(body) if found["negative"]) % 2 == 1


def without_negations(body: str) -> str:
    """Return a folded clause without the words that deny."""
    return _NEGATION.sub(lambda found: found["other"] or "", body)

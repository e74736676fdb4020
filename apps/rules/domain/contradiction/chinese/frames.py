"""What a Chinese clause says of what: topic, relation and value, in one form for several verbs."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from apps.core.domain.caches import SizedCache
from apps.rules.domain.contradiction.chinese.values import canonical
from apps.rules.domain.statements import chinese_words as words
from apps.rules.domain.statements.chinese import ChineseClause, is_negative, read_clauses, without_negations
from apps.rules.domain.statements.statement import Mood, Statement, Tense
from apps.rules.domain.wordlists import longest_first

# Sure enough to act on; for noticing only; weak.
SURE, LIKELY, WEAK = 0.92, 0.75, 0.6
MAX_TOPIC, MAX_VALUE = 40, 40


class Relation(StrEnum):
    """The kind of a relation between a topic and a value."""

    LIVES = "lives"
    WORKS = "works"
    PLACE = "place"
    EQUALS = "equals"
    BECOMES = "becomes"


@dataclass(frozen=True, slots=True)
class ChineseFrame:
    """topic: what it is about, without what says little. verb: the word of the relation. is_change: it reports one."""

    topic: str
    relation: Relation
    verb: str
    value: str
    is_change: bool = False


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause ready to be compared. core: its canonical text without what says little. bare: without negations, too.

    whole: the canonical text with everything. now: it says that something holds from now on. matter: the characters
    and Latin words by which it can be recognised elsewhere.
    """

    text: str
    whole: str
    core: str
    bare: str
    negative: bool
    now: bool
    statement: Statement
    frames: tuple[ChineseFrame, ...]
    matter: frozenset[str]

    @property
    def is_present(self) -> bool:
        """Return whether it is asserted of the present."""
        return self.statement.can_decide and self.statement.tense is not Tense.PAST


_LIGHT = re.compile(
    r"现在|如今|目前|眼下|已经|终于|最近|刚刚|刚才|刚(?=[^好才])|通常|平时|一直|所以|因为|因此|但是|不过(?!敏)|而且|然后|结果|于是|其实|从今天起|今后|(?<![0-9几多一两这那每])只(?![有是要好])"
    r"|(?<![首成古大])都(?!市|会)|(?<![成造])就(?![业职医诊读])|(?<!人|刚)才(?!能|艺|华|干)|了(?!解|不起)|[啊啦吧哦喔呀呢嘛]$|^(?:那|说是|是说|但|而|我是说|应该是说)|那天那"
)
_CAUSE = re.compile(
    rf"因为[^改换搬]{{1,14}}?(?=改|换|搬|移到|延|推迟|取消)|^.{{0,8}}?(?:{words.EVENTS})(?:以后|之后|后)(?=.{{3}})"
)
_MOMENT = re.compile(longest_first(words.MOMENTS.split("|")))
_FROM = r"(?:[从由](?P<old>[^从由]{1,15}?))?"
_TOPIC, _VALUE = rf"(?P<topic>.{{0,{MAX_TOPIC}}}?)", rf"(?P<value>.{{1,{MAX_VALUE}}})"
_OBJECT = re.compile("^.{0,4}把|[又再也要约]$")
_TOGETHER = re.compile("(?<=..)(?:[和跟与].{1,8})?住$")
_INHERITS = re.compile("[不没改换搬]|现在|已经|开始|在|用|学|吃|喝|住|辞|卖|跳槽|加入|升|戒|会|能|可以")
_SUBJECT = re.compile(rf"^(?:{longest_first(words.PERSONS.split('|'))})")
_KIND_OF_VALUE = re.compile("(?<=..)(?:时间|日期|地点|位置|场地|名)$")
_MATTER = re.compile(r"[a-z0-9][a-z0-9_.-]*|[\u3400-\u9fff]")
_NOW = re.compile(words.NOW)


def pattern(listed: str, *, source: bool = False, value: str = _VALUE) -> re.Pattern[str]:
    """Return the pattern of a clause with one of some verbs. source: with the former value before it."""
    verb = longest_first(listed.split("|"))
    return re.compile(rf"^{_TOPIC}{_FROM if source else ''}(?P<verb>{verb}){value}$")


# In order: at most the first of each relation that fits is a frame of the clause.
_PATTERNS: tuple[tuple[Relation, re.Pattern[str], bool], ...] = (
    (Relation.LIVES, pattern(words.MOVES, source=True), True),
    (Relation.LIVES, pattern(words.LIVES, value=r"(?P<value>[^0-9得过院几].{0,30})"), False),
    (Relation.WORKS, re.compile(rf"^{_TOPIC}(?P<verb>在)(?P<value>.{{1,24}}?)(?:里)?工作$"), False),
    (Relation.WORKS, re.compile(rf"^{_TOPIC}{_FROM}(?P<verb>到|去|换到|转到){_VALUE}(?:里)?工作$"), True),
    (Relation.WORKS, pattern(words.JOINS, source=True), True),
    (
        Relation.LIVES,
        re.compile(rf"^{_TOPIC}(?P<verb>在)(?P<value>.{{1,12}}?)(?:租房子|租房|租屋|买房|长住|生活)$"),
        False,
    ),
    (Relation.PLACE, pattern(words.RESCHEDULES, source=True), True),
    (Relation.BECOMES, pattern(words.BECOMES, source=True), True),
    (Relation.EQUALS, pattern(words.EQUALS), False),
)


_PLACED = {Relation.LIVES, Relation.WORKS}


def clean(text: str) -> str:
    """Return a folded text without words that say little."""
    return _LIGHT.sub("", _CAUSE.sub("", text))


@SizedCache("Chinese texts", megabytes=0.5).remember
def topic_of(text: str, *, is_change: bool) -> str:
    """Return a topic in one form. is_change: moments are when it changed; otherwise they bound the statement."""
    if is_change:
        text = _OBJECT.sub("", _MOMENT.sub("", text))
    text = text.removesuffix("1天")
    return _KIND_OF_VALUE.sub("", text.replace("的", "")).strip()


@SizedCache("Chinese texts", megabytes=3, entry_bytes=1_000, char_bytes=60).remember
def analyse_chinese(text: str) -> tuple[Clause, ...]:
    """Return the clauses of a text with their frames."""
    read: list[Clause] = []
    subject = ""
    for clause in read_clauses(text):
        found = _SUBJECT.match(clause.plain)
        subject = found[0] if found else ("" if clause.is_first else subject)
        inherits = subject and not found and _INHERITS.match(clause.plain)
        read.append(analyse_clause(clause, subject if inherits else ""))
    return tuple(read)


def analyse_clause(clause: ChineseClause, subject: str) -> Clause:
    """Return a clause ready to be compared. subject: of the clause before it, where it has none itself."""
    whole = canonical(subject + clause.plain)
    core = clean(whole)
    now = bool(_NOW.search(whole)) or clause.statement.corrects
    asserted = clause.statement.mood in (Mood.ASSERTION, Mood.COMMAND)
    frames = tuple(frames_of(core)) if asserted else ()
    negative = is_negative(core)
    bare = clean(without_negations(whole))
    matter = frozenset(_MATTER.findall(core))
    return Clause(clause.statement.text, whole, core, bare, negative, now, clause.statement, frames, matter)


def frames_of(core: str) -> Iterator[ChineseFrame]:
    """Yield what a clause says of what, one frame for each relation that fits."""
    if is_negative(core):
        return
    seen: set[Relation] = set()
    for relation, form, is_change in _PATTERNS:
        found = form.match(core)
        # "lives in" is "is in" with another verb before it.
        if found is None or (relation is Relation.PLACE and seen & _PLACED and not is_change):
            continue
        verb = found["verb"] or ""
        changes = is_change or verb.startswith("搬")
        topic = topic_of(found["topic"] or "", is_change=changes)
        value = _TOGETHER.sub("", found["value"].strip().removesuffix("的").strip())
        if topic and value:
            seen.add(relation)
            yield ChineseFrame(topic, relation, verb, value, changes)

"""Chinese clauses with the same words but for one span, or but for a negation; and the same in other words."""

import re
from itertools import product

from apps.core.domain.caches import SizedCache
from apps.rules.domain.contradiction.chinese.frames import LIKELY, SURE, WEAK, Clause, topic_of
from apps.rules.domain.contradiction.chinese.values import MEASURES, TOKEN, ValueKind, are_equal, kind_of
from apps.rules.domain.contradiction.evidence import Evidence, Reason
from apps.rules.domain.statements import chinese_words as words
from apps.rules.domain.wordlists import longest_first

MAX_REPLACED, MAX_VALUE = 8, 16

_BOUND = re.compile(longest_first(words.BOUNDS.split("|")))
_MOMENT = re.compile(longest_first(words.MOMENTS.split("|")))
_TIMED = re.compile(rf"(?:才|就|要)?(?:{words.TIMED})")
_RELATION = re.compile("[的是在叫用]|负责|住")
_IDENTIFIES = re.compile("(?:是|在|到|为|住|改|约|升|降|涨|减|加|搬|换)$")
_ORDINAL = re.compile("[号楼层室期届章版班路栋排季级届集年]|线|教室")
# "changed to the evening", "now studies instead": without it the clause has the words of the former one.
_CHANGED = longest_first([*words.BECOMES.split("|"), *words.RESCHEDULES.split("|")])
_CHANGE = re.compile(
    rf"(?:{_CHANGED})(?=[\d周每-]|早上|晚上|下午|上午|中午)"
    r"|改(?=周\d|\d)|改(?=(?P<verb>[用学喝吃坐走从在由搭骑开穿看听写讲教打做上交送寄给]))"
)
_PERSON = re.compile(rf"(?:{words.PERSONS}|客户|公司|团队|同事|老师|老板|部门)")
_MEASURE = re.compile(rf"(?!{words.NO_MEASURES})(?:%|{MEASURES})")
_NUMBERED = re.compile(rf"(?:{words.NUMBERED})#?$")
_ONGOING = re.compile("正?在(?=[学读看写做用吃喝追玩练减等找养教弹])")
_DIGITS = re.compile(r"\d+")
_IS = re.compile(r"[是订约定在](?=[\d周])")
_EVENT = re.compile("(?:买|跑|花|付|看|读|吃|喝|借|卖|走|睡|赚|捐|寄|送|收)了?$")
_DAY = re.compile("今天|昨天|前天|今早|今晚|昨晚|上周|这周|上个月|这个月|去年|今年|刚才")
_DONE = re.compile("了(?!解)|过(?!敏)|着(?!急|凉)|正?在(?=[学读看写做用吃喝追玩练减等找养教弹])")
_LIGHT = re.compile(
    r"的|要(?![求紧])|(?<![开聚约社机宴])会(?![议员计展场所长])|很|非常|真的|常常|经常|总是|通常|一般(?!般)|着(?!急|凉)|过(?!敏)|得(?!到)|因为|所以|啊|呢|一个|一只|一位|个人|家里|目前|地(?![址点方铁下图])|以|来(?!自)|所|还是"
)
_SCALE_OF = {word: number for number, scale in enumerate(words.SCALES) for word in scale.split()}
MAX_SCALED = 8
_cache = SizedCache("Chinese texts", megabytes=2)


@_cache.remember
def tokens_of(text: str) -> tuple[str, ...]:
    """Return the tokens of a canonical text: one for each Chinese character, Latin word or value."""
    return tuple(token for token in TOKEN.findall(text) if not token.isspace())


def align(one: str, other: str) -> tuple[str, str, str, str] | None:
    """Return the common beginning, what differs in each text, and the common end; None for equal texts."""
    first, second = tokens_of(one), tokens_of(other)
    shorter = min(len(first), len(second))
    start = 0
    while start < shorter and first[start] == second[start]:
        start += 1
    end = 0
    while end < shorter - start and first[-1 - end] == second[-1 - end]:
        end += 1
    if start == len(first) == len(second):
        return None
    cut, cut_other = len(first) - end, len(second) - end
    return "".join(first[:start]), "".join(first[start:cut]), "".join(second[start:cut_other]), "".join(first[cut:])


@_cache.remember
def without_change(core: str) -> tuple[str, str]:
    """Return a clause without the words that report a change, and the verb of "now studies instead", "" for none."""
    instead = next((found["verb"] for found in _CHANGE.finditer(core) if found["verb"]), "")
    return _CHANGE.sub("", core), instead


def find_span(older: Clause, newer: Clause) -> Evidence | None:
    """Return the evidence that one clause says the other's words with another value in one place."""
    if older.negative != newer.negative:
        return None
    core, instead = without_change(newer.core)
    changed = core != newer.core or newer.now
    one, other = topic_of(older.core, is_change=changed), topic_of(core, is_change=changed)
    if bool(_IS.search(one)) != bool(_IS.search(other)):
        one, other = _IS.sub("", one), _IS.sub("", other)
    found = align(_ONGOING.sub("", one), _ONGOING.sub("", other))
    if found is None or not all(found[1:3]):
        one, other = (text.replace("的", "") for text in (older.core, core))
        found = align(one, other)
    if found is None or not all(found[:3]):
        return None
    before, value, new, after = found
    if max(len(value), len(new)) > MAX_VALUE:
        return None
    score = score_span(before, value, new, after, changed=changed, replaced=core != newer.core, instead=instead)
    if score == 0:
        return None
    return Evidence(Reason.VALUE, score, older.text, newer.text, ((value, new),), (before + after,))


def score_span(before: str, value: str, new: str, after: str, *, changed: bool, replaced: bool, instead: str) -> float:
    """Return how sure it is that a value in the same words takes the place of another one.

    replaced: the newer clause says so. instead: the verb of which it says so: "now studies instead".
    """
    if are_equal(value, new):
        return 0
    if is_of_one_scale(before, value, new, after):
        return SURE if changed or "喜欢" not in before else LIKELY
    kind, unit = kind_of(value)
    kind_other, unit_other = kind_of(new)
    if replaced and len(before) > 1 and value != new and _DIGITS.sub("", value) == _DIGITS.sub("", new) != value:
        return SURE
    if kind is not kind_other or unit != unit_other:
        return 0
    if kind is ValueKind.TIME:
        return SURE if replaced and len(before) > 1 else score_time(before, value, after)
    if kind is ValueKind.NUMBER:
        return score_number(before, unit + after, changed=changed)
    if instead and before.endswith(instead) and len(before) > 1 and max(len(value), len(new)) <= MAX_REPLACED:
        return LIKELY if before.endswith("用") and _PERSON.fullmatch(before[:-1]) else SURE
    return 0


def score_time(before: str, value: str, after: str) -> float:
    """Return the score of another time in the same words: "opens at", not "on Monday I meet"."""
    if _BOUND.fullmatch(value) or "周末" in value:
        return 0
    is_clock = bool(re.search(r"\d[:点]\d", value))
    has_person = re.fullmatch(words.PERSONS, before) is not None
    if _TIMED.match(after) and (is_clock or not has_person):
        return SURE if len(before) > 1 or is_clock else WEAK
    return SURE if not after and re.search("[在是]$", before) and len(before) > 2 else WEAK


def score_number(before: str, after: str, *, changed: bool) -> float:
    """Return the score of another number in the same words: "walks 4,000 steps", not "room 3 is closed"."""
    if _DAY.search(before) or (_EVENT.search(before) and not re.search("1天|1周|1个月|1年|每", before)):
        return WEAK
    if _IDENTIFIES.search(before):
        return SURE if len(after) <= 6 else WEAK
    if not after:
        return SURE if len(before) > 1 else WEAK
    if _RELATION.search(after) or len(after) > 8 or _ORDINAL.match(after):
        return WEAK if changed else 0
    # A number without a measure before a verb names a thing: "order 3321 was shipped".
    if not _MEASURE.match(after) or (_NUMBERED.search(before) and len(after) > 1):
        return 0
    return SURE if len(before) > 1 or changed else LIKELY


def is_of_one_scale(before: str, value: str, new: str, after: str) -> bool:
    """Return whether two values exclude each other; what both begin or end with belongs to them."""
    if len(value) + len(new) > MAX_SCALED:
        return False
    for start, end in product(range(3), repeat=2):
        begin, finish = before[len(before) - start :], after[:end]
        scale = _SCALE_OF.get(begin + value + finish)
        if scale is not None and scale == _SCALE_OF.get(begin + new + finish):
            return True
    return False


def find_flip(older: Clause, newer: Clause) -> Evidence | None:
    """Return the evidence that one clause denies the other's words."""
    if older.negative == newer.negative:
        return None
    one, other = (key_of(clause.bare).replace("有", "") for clause in (older, newer))
    score = score_flip(older, newer, one, other)
    if score == 0:
        return None
    return Evidence(Reason.NEGATION, score, older.text, newer.text, (), (one,))


def score_flip(older: Clause, newer: Clause, one: str, other: str) -> float:
    """Return how sure it is that a clause ends what the older one says."""
    if len(one) < 2:
        return 0
    other = other.replace("开始", "").replace("学会", "会")
    if one == other:
        return SURE
    if newer.whole.endswith("了") and key_of(_MOMENT.sub("", newer.bare)) == one:
        return SURE
    if newer.negative and re.search(words.GONE, newer.whole) and is_within(other, one) and len(other) * 2 >= len(one):
        return SURE
    longer = one if len(one) > len(other) else other
    return WEAK if is_within(min(one, other, key=len), longer) else 0


def is_within(shorter: str, longer: str) -> bool:
    """Return whether all characters of a text are in a longer one in the same order, the first one in its place."""
    if shorter[:1] != longer[:1]:
        return False
    rest = iter(longer)
    return all(char in rest for char in shorter)


@_cache.remember
def key_of(text: str) -> str:
    """Return a text without characters that say little, for comparing the rest."""
    return _LIGHT.sub("", _DONE.sub("", text)).replace("1天", "").strip()

"""Chinese clauses that end a state: sold, left, cancelled, repaired, finished, given up."""

import re

from apps.core.domain.caches import SizedCache
from apps.rules.domain.contradiction.chinese.frames import SURE, Clause, Relation, topic_of
from apps.rules.domain.contradiction.evidence import Evidence, Reason
from apps.rules.domain.statements import chinese_words as words

MIN_COURSE = 3

_MEASURE = r"(?:\d+|一|几)?[辆台只条匹间套栋部张把本份件双支架盆棵块艘]?(?:的)?"
_HAS = re.compile(
    rf"^(?P<who>.{{1,12}}?)(?<!大)(?:{words.HAS})(?:过|着)?{_MEASURE}(?P<what>.{{1,12}}?)(?:叫.{{1,8}})?$"
)
_SELLS = re.compile(rf"(?P<what>.{{2,12}}?)(?:{words.SELLS})")
_CANCELS = re.compile(rf"(?:{words.CANCELS})")
_QUITS = re.compile(words.QUITS)
_SEPARATES = re.compile(words.SEPARATES)
_PARTNERS = re.compile(words.PARTNERS)
_BROKEN = re.compile(words.BROKEN)
_REPAIRED = re.compile(words.REPAIRED)
_COMPLETES = re.compile(words.COMPLETES)
_PENDING, _SETTLED = re.compile(words.PENDING), re.compile(words.SETTLED)
_HAS_JOB = re.compile(
    rf"^(?P<who>.{{1,6}}?)(?:在.{{1,12}})?(?:(?:当|做|是).{{0,8}}(?:{words.JOBS})|打工|兼职|实习|当兵|服役)$"
)
_TIMES = re.compile(r"周\d|\d[:点]\d|--\d|\d{4}-")
_STUDENT = re.compile("在读|读大|读研|读高|上大学|上高中|学生")
_PARTNER = re.compile(
    r"^(?P<name>.{2,6}?)是(?P<who>我|用户|.{2,4}?)(?:的)?(?:女朋友|男朋友|妻子|丈夫|未婚妻|未婚夫|女友|男友)$"
)
_GIVES_UP = re.compile("^(?P<who>.{1,8}?)戒(?:掉)?(?P<what>.{1,6}?)(?:成功|\\d+.{1,2})?$")
_ONLY = re.compile(rf"(?:{words.PERSONS})?(?:把|将)?(?:那|这)?{_MEASURE}")
_LACKS = re.compile(rf"^(?P<who>.{{1,12}}?)(?:没有|没|不再有|不再养|不养)(?:任何)?{_MEASURE}(?P<what>[^的]{{1,12}})$")
_ENDS = re.compile(
    "|".join(
        (
            *(words.SELLS, words.CANCELS, words.QUITS, words.SEPARATES, words.REPAIRED, words.SETTLED, words.COMPLETES),
            "戒|毕业|完",
        )
    )
)
_SUBJECT = re.compile(rf"^(?:{words.PERSONS})")


@SizedCache("Chinese texts", megabytes=0.5).remember
def may_end(whole: str) -> bool:
    """Return whether a clause has a word by which a state may end."""
    return _ENDS.search(whole) is not None


def find_end(older: Clause, newer: Clause) -> Evidence | None:
    """Return the evidence that the newer clause ends what the older one says."""
    if older.negative:
        return None
    if newer.negative:  # had a thing, and has none of it any more
        has, lacks = _HAS.match(older.core), _LACKS.match(newer.core)
        if has is None or lacks is None or has["who"] != topic_of(lacks["who"], is_change=True):
            return None
        lost = has["what"]
        return Evidence(Reason.NEGATION, SURE, older.text, newer.text, (), (lost,)) if lost == lacks["what"] else None
    if not may_end(newer.whole):
        return None
    common = (
        ends_ownership(older, newer)
        or ends_work(older, newer)
        or ends_pending(older, newer)
        or ends_partnership(older, newer)
        or ends_fault(older, newer)
        or ends_event(older, newer)
        or ends_course(older, newer)
        or ends_habit(older, newer)
    )
    return Evidence(Reason.REPLACED, SURE, older.text, newer.text, (), (common,)) if common else None


def subject_of(core: str) -> str:
    """Return the person at the beginning of a clause, "" for none."""
    found = _SUBJECT.match(core)
    return found[0] if found else ""


def ends_ownership(older: Clause, newer: Clause) -> str:
    """Return the thing that a person had and has sold, lost or given away."""
    has = _HAS.match(older.core.removesuffix("工作"))
    if has is None or not re.search(words.SELLS, newer.core):
        return ""
    what, who = has["what"], subject_of(has["who"]) or has["who"]
    named = what if what in newer.core else (what[-2:] if len(what) > 2 and what[-2:] in newer.core else "")
    # Of the same person, or of none that is named at its beginning.
    is_unnamed = not subject_of(newer.core) and not re.match(r".{1,3}(?:把|将)", newer.core)
    if len(named) < 2 or not (newer.core.startswith(who) or is_unnamed):
        return ""
    sold = _SELLS.search(newer.core)
    if sold is None or named not in sold["what"]:
        return ""
    # "My old computer" is not the computer.
    before = sold["what"].rpartition(named)[0].removeprefix(f"{has['who']}的")
    return named if _ONLY.fullmatch(before) else ""


def ends_work(older: Clause, newer: Clause) -> str:
    """Return the topic of a place of work that was left."""
    if not _QUITS.search(newer.core):
        return ""
    other = topic_of(newer.core, is_change=True)
    for frame in older.frames:
        if frame.relation is Relation.WORKS and other.startswith(frame.topic):
            rest = other[len(frame.topic) :]
            if frame.value in rest or re.match(rf"(?:从)?(?:{words.QUITS}|公司|工作)", rest):
                return frame.topic
    job = _HAS_JOB.match(older.core)
    if job and re.fullmatch(rf"{re.escape(job['who'])}.{{0,6}}(?:{words.QUITS}).{{0,3}}", newer.core):
        return job["who"]
    return ""


def ends_pending(older: Clause, newer: Clause) -> str:
    """Return what was under way and is settled."""
    pending, settled = _PENDING.search(older.core), _SETTLED.search(newer.core)
    if pending is None or settled is None:
        return ""
    what = topic_of(older.core[: pending.start()], is_change=True)
    other = topic_of(newer.core[: settled.start()], is_change=True)
    return what if len(what) >= MIN_COURSE and what == other.removesuffix("被") else ""


def ends_partnership(older: Clause, newer: Clause) -> str:
    """Return the name or the person of a relationship that ended."""
    if not _SEPARATES.search(newer.core) or not _PARTNERS.search(older.core):
        return ""
    partner = _PARTNER.match(older.core)
    if partner and partner["name"] in newer.core and partner["who"] in newer.core:
        return partner["name"]
    subject = subject_of(older.core)
    together = re.match(r"(?P<who>.{1,4}?)[和跟与](?P<name>.{2,6}?)(?:在一起|交往)", older.core)
    if together and together["name"] in newer.core and newer.core.startswith(together["who"]):
        return together["name"]
    married = re.fullmatch(".{1,6}结婚(?:.{0,3}年)?", older.core)
    return subject if married and subject and "分手" not in newer.core and newer.core.startswith(subject) else ""


def ends_fault(older: Clause, newer: Clause) -> str:
    """Return the thing that was broken and works again."""
    broken = _BROKEN.search(older.whole)
    if broken is None or not _REPAIRED.search(newer.whole):
        return ""
    what = topic_of(older.whole[: broken.start()], is_change=True)
    return what if len(what) >= 2 and what in newer.whole.replace("的", "") else ""


def ends_event(older: Clause, newer: Clause) -> str:
    """Return what had a time, a place or a price and was cancelled or closed."""
    cancelled = _CANCELS.search(newer.core)
    if cancelled is None:
        return ""
    rest = topic_of(_CANCELS.sub("", newer.core), is_change=True)
    for frame in older.frames:
        if (
            len(frame.topic) >= 2
            and subject_of(frame.topic) != frame.topic
            and rest in (frame.topic, f"被{frame.topic}", f"{frame.topic}被")
        ):
            return frame.topic
    if len(rest) >= 2 and older.core.endswith(rest) and _TIMES.search(older.core):
        return rest
    has = _HAS.match(older.core)
    if (
        has
        and len(has["what"]) >= 2
        and rest.removeprefix(has["who"]).removeprefix("把") in (has["what"], has["what"][-2:])
    ):
        return has["what"]
    return ""


def ends_course(older: Clause, newer: Clause) -> str:
    """Return what a person was reading or learning and has finished."""
    if "毕业" in newer.core and _STUDENT.search(older.core):
        subject = subject_of(older.core)
        return subject if subject and newer.core.startswith(subject) and "从" not in older.core else ""
    if not _COMPLETES.search(newer.core):
        return ""
    one = topic_of(re.sub("正在|在|正", "", older.core), is_change=True)
    other = topic_of(newer.core, is_change=True).replace("完", "")
    return one if len(one) >= MIN_COURSE and sorted(one) == sorted(other) else ""


def ends_habit(older: Clause, newer: Clause) -> str:
    """Return what a person used to take and has given up."""
    given = _GIVES_UP.match(topic_of(newer.core, is_change=True))
    if given is None or "喜欢" in older.core:
        return ""
    takes = re.search("[喝抽吃玩刷嗑]", older.core)
    return given["what"] if takes and given["what"] in older.core and older.core.startswith(given["who"]) else ""

"""The statuses of the world, and which of ours each of them is."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from apps.sync.domain.knowledge import ItemStatus
from apps.sync.domain.readers.found import Refusal, UnreadableError
from apps.sync.domain.readers.references import find_references
from apps.sync.domain.readers.text import MAX_STATUS_CHARS

WORDS = {
    ItemStatus.DRAFT: (
        "draft, draught, wip, work in progress, in progress, incomplete, idea, planned, placeholder, not started, "
        "todo, tbd, prediscussion, pre discussion, ideation, stub, entwurf, brouillon, borrador, rascunho"
    ),
    ItemStatus.PROPOSED: (
        "proposed, proposal, pending, open, under review, in review, review, reviewing, under "
        "discussion, in discussion, "
        "discussion, for discussion, rfc, request for comments, submitted, candidate, deferred, postponed, on hold, "
        "hold, paused, undecided, not decided, not yet decided, not yet accepted, not yet approved, "
        "awaiting approval, "
        "new, experimental, trial, assess, last call, stagnant, active review, awaiting review, scheduled for review, "
        "returned for revision, proposed to target, to be accepted, to be approved, to be decided, to be reviewed, "
        "not accepted yet, not approved yet, not decided yet, awaiting decision, awaiting review, awaiting, requested, "
        "for review, ready for review, needs review, final comment period, fcp, exploring, exploratory, under "
        "consideration, considered, suspended, blocked, unresolved, vorgeschlagen, propuesto, proposta, parked, proposé"
    ),
    ItemStatus.ACCEPTED: (
        "accepted, approved, active, final, adopted, agreed, decided, done, complete, completed, implemented, "
        "partially implemented, in force, in effect, effective, enforced, ratified, published, "
        "released, live, current, "
        "stable, standard, standards track, internet standard, proposed standard, valid, mandatory, "
        "required, merged, "
        "resolved, provisional, provisionally accepted, conditionally accepted, confirmed, signed off, "
        "committed, ongoing, living, amended, amended by, amends, supersedes, supercedes, replaces, obsoletes, "
        "partially superseded, partly superseded, superseded in part, best current practice, adopt, "
        "recommended, ok, yes, deployed, in production, production, shipped, in use, in place, implementable, "
        "implementing, being implemented, graduated, rolled out, operational, enabled, landed, delivered, integrated, "
        "targeted, generally available, ga, passed, endorsed, settled, concluded, chosen, selected, binding, "
        "draft standard, accepted with revisions, in operation, maintained, supported, up to date, evergreen, "
        "to be deprecated, to be superseded, to be replaced, akzeptiert, angenommen, accepté, "
        "acceptée, aceptado, aceito"
    ),
    ItemStatus.DEPRECATED: (
        "deprecated, obsolete, obsoleted, retired, archived, expired, historic, historical, sunset, discontinued, "
        "end of life, eol, no longer valid, no longer in force, no longer relevant, no longer applicable, outdated, "
        "inactive, legacy, removed, revoked, repealed, invalid, void, decommissioned, disabled, no longer accepted, "
        "no longer active, no longer used, no longer in use, no longer current, no longer recommended, no longer "
        "supported, sunsetting, sunsetted, phased out, terminated, ended, lapsed, unmaintained, unsupported, dead, "
        "defunct, out of date, not in force, not in use, not valid, being phased out, ceased, stopped, veraltet, "
        "obsoleto, obsolète"
    ),
    ItemStatus.SUPERSEDED: (
        "superseded, superceded, replaced, overridden, supplanted, superseeded, subsumed, absorbed, ersetzt, remplacé, "
        "reemplazado, duplicate, duplicated"
    ),
    ItemStatus.REJECTED: (
        "rejected, declined, denied, withdrawn, abandoned, cancelled, canceled, refused, dismissed, dropped, "
        "not accepted, not approved, not adopted, not implemented, wontfix, will not do, won't do, no, april fool, "
        "wont do, won't fix, wont fix, not planned, not pursued, vetoed, turned down, unaccepted, failed, "
        "did not pass, abgelehnt, verworfen, rejeté, rechazado, rejeitado"
    ),
}
CHINESE = {
    ItemStatus.DRAFT: "草稿 草案 起草中 撰寫中 编写中 編寫中 進行中 进行中",
    ItemStatus.PROPOSED: (
        "提議 提议 提案 建議中 建议中 待審 待审 審核中 审核中 審查中 审查中 評審中 评审中 討論中 讨论中 待定 "
        "待決 待决 "
        "擱置 搁置 暫緩 暂缓 延期 推遲 推迟 未決定 未决定 尚未接受 尚未通過 尚未通过 徵求意見 征求意见 試行 试行"
    ),
    ItemStatus.ACCEPTED: (
        "已接受 接受 已採納 已采纳 採納 采纳 已採用 已采用 採用 采用 已批准 批准 已核准 核准 已通過 已通过 通過 通过 "
        "已決定 已决定 已確定 已确定 生效 生效中 已生效 有效 現行 现行 已實施 已实施 實施中 实施中 已實作 "
        "已实现 已完成 完成 "
        "已發布 已发布 已定案 定案 部分取代 部分被取代"
    ),
    ItemStatus.DEPRECATED: (
        "已棄用 已弃用 棄用 弃用 已廢棄 已废弃 廢棄 废弃 已廢止 已废止 廢止 废止 已淘汰 淘汰 已過時 已过时 過時 过时 "
        "已失效 失效 已停用 停用 已封存 已歸檔 已归档 已過期 已过期"
    ),
    ItemStatus.SUPERSEDED: "已取代 已被取代 被取代 取代 已替代 已被替代 被替代 替代 已替換 已替换 被替換 被替换",
    ItemStatus.REJECTED: (
        "已拒絕 已拒绝 拒絕 拒绝 已否決 已否决 否決 否决 已駁回 已驳回 駁回 驳回 不接受 未接受 未通過 未通过 "
        "不採納 不采纳 "
        "未採納 未采纳 已撤回 撤回 已撤銷 已撤销 撤銷 撤销 已放棄 已放弃 放棄 放弃 已取消 取消"
    ),
}
NO_OWN: Mapping[str, ItemStatus] = MappingProxyType({})
MARKS = " \t*_`'\"()[]{}.,;:!"
BY_PHRASE = {phrase.strip(): status for status, phrases in WORDS.items() for phrase in phrases.split(",")}
BY_CHINESE = {phrase: status for status, phrases in CHINESE.items() for phrase in phrases.split()}
LONGEST_PHRASE = max(phrase.count(" ") + 1 for phrase in BY_PHRASE)

# What stands for a word.
SIGNS = {"✅": "accepted", "✔": "accepted", "☑": "accepted", "🟢": "accepted", "❌": "rejected", "🚧": "draft"}
NOTHING = frozenset({"", "-", "—", "–", "n/a", "na", "none", "null", "~", "?"})
# Statuses of a kind of records that mean something else there.
BY_KIND: Mapping[str, Mapping[str, ItemStatus]] = {
    "bip": {"closed": ItemStatus.DEPRECATED},
    "kep": {"provisional": ItemStatus.PROPOSED},
}
STRUCK = re.compile(r"~~[^~]{0,500}~~")
DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}")
WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
HAN = re.compile(r"[\u4e00-\u9fff]")
BY_OTHER = re.compile(r"\b(super[sc]eded|replaced|obsoleted|deprecated)[ \t-]{1,3}by\b", re.IGNORECASE)
OF_OTHER = re.compile(r"\b(?:super[sc]edes|superseding|replaces|obsoletes)\b", re.IGNORECASE)
BY_OTHER_CHINESE = re.compile(r"[被由]\s{0,5}([^被由\n]{1,200}?)\s{0,5}所?(?:取代|替代|替換|替换|代替)")
OF_OTHER_CHINESE = re.compile(r"(?<![被已])(?:取代|替代)了?[\s:：]{0,5}(?=[\[A-Za-z#\d])")
IN_PART = ("partially", "partly", "in part")


@dataclass(frozen=True, slots=True)
class StatusText:
    """What a status says, such as `Superseded by ADR-0005`. status: None where it says nothing."""

    status: ItemStatus | None = None
    supersedes: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()


def status_of(text: str, own: Mapping[str, ItemStatus] = NO_OWN) -> ItemStatus | None:
    """Return the status that is named first, the longest name of those; UNKNOWN if none is known, None for nothing.

    own: what words mean here, in lower case; a whole text counts before words in it.
    """
    bare = " ".join(text[:MAX_STATUS_CHARS].casefold().split()).strip(MARKS)
    if bare in own:
        return own[bare]
    words = [word.casefold() for word in WORD.findall(text[:MAX_STATUS_CHARS])]
    for start in range(len(words)):
        for length in range(min(LONGEST_PHRASE, len(words) - start), 0, -1):
            phrase = " ".join(words[start : start + length])
            status = own.get(phrase) or BY_PHRASE.get(phrase)
            if status is not None:
                return negated(status, words[max(start - 2, 0) : start])
    if HAN.search(text):
        found = [(text.find(phrase), -len(phrase), status) for phrase, status in BY_CHINESE.items() if phrase in text]
        if found:
            return min(found)[2]
    if sign := next((one for one in SIGNS if one in text), None):
        return BY_PHRASE[SIGNS[sign]]
    return None if bare in NOTHING else ItemStatus.UNKNOWN


def negated(status: ItemStatus, before: Sequence[str]) -> ItemStatus:
    """Return a status, or what it is after words such as `not` and `no longer`."""
    if status is not ItemStatus.ACCEPTED or not before:
        return status
    if before[-1] == "longer":
        return ItemStatus.DEPRECATED
    return ItemStatus.PROPOSED if before[-1] in {"not", "never", "isn't"} or before[-2:] == ["not", "yet"] else status


def read_status(text: str, own: Mapping[str, ItemStatus] = NO_OWN) -> StatusText:
    """Return what a status says; of several dated lines the latest one decides. Raises UnreadableError."""
    lines = [STRUCK.sub("", line) for line in text[:MAX_STATUS_CHARS].splitlines()]
    if any("[x]" in line.casefold() for line in lines):
        lines = [line for line in lines if "[ ]" not in line]
    lines = [line for line in lines if line.strip()]
    if any("|" in line and not line.lstrip().startswith("|") for line in lines) or text.lstrip().startswith("<"):
        raise UnreadableError(Refusal.TEMPLATE, "The status still lists its choices, as in a template.")
    relations = [read_relations(line) for line in lines]
    supersedes = tuple(one for relation in relations for one in relation.supersedes)
    superseded_by = tuple(one for relation in relations for one in relation.superseded_by)
    ended = [relation.status for relation in relations if relation.status is not None]
    if ended:
        status = ItemStatus.SUPERSEDED if ItemStatus.SUPERSEDED in ended else ended[0]
        return StatusText(status, supersedes, superseded_by)
    return StatusText(latest_status(lines, own), supersedes, superseded_by)


def latest_status(lines: Iterable[str], own: Mapping[str, ItemStatus] = NO_OWN) -> ItemStatus | None:
    """Return the status of the line with the latest date; without dates of the first line that names one."""
    found: list[tuple[str, ItemStatus]] = []
    for line in lines:
        date = DATE.search(line)
        status = status_of(DATE.sub(" ", line), own)
        if status is not None:
            found.append((date.group() if date else "", status))
    if not found:
        return None
    dated = [one for one in found if one[0]]
    known = [one for one in found if one[1] is not ItemStatus.UNKNOWN]
    final = [one for one in known if one[1] is not ItemStatus.DRAFT]
    return max(dated, key=lambda one: one[0])[1] if len(dated) == len(found) else (final or known or found)[0][1]


def read_relations(line: str) -> StatusText:
    """Return which items a line says are superseded by this one, and the other way round; with what it is then."""
    marks = sorted(
        [(match.start(), match.end(), match.group(1).casefold()) for match in BY_OTHER.finditer(line)]
        + [(match.start(), match.end(), "") for match in OF_OTHER.finditer(line)]
        + [(match.start(), match.end(), "") for match in OF_OTHER_CHINESE.finditer(line)]
    )
    supersedes: list[str] = []
    superseded_by: list[str] = []
    status: ItemStatus | None = None
    for index, (start, end, by) in enumerate(marks):
        rest = line[end : marks[index + 1][0] if index + 1 < len(marks) else len(line)]
        if not by:
            supersedes += find_references(rest)
        elif not line[:start].rstrip().casefold().endswith(IN_PART):
            superseded_by += find_references(rest)
            ended = ItemStatus.DEPRECATED if by == "deprecated" else ItemStatus.SUPERSEDED
            status = ended if status is not ItemStatus.SUPERSEDED else status
    for match in BY_OTHER_CHINESE.finditer(line):
        superseded_by += find_references(match.group(1))
        status = ItemStatus.SUPERSEDED
    return StatusText(status, tuple(supersedes), tuple(superseded_by))

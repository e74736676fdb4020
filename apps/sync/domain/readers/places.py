"""What a path says of a file: type, layer and status by its folders, id and number by its name."""

import hashlib
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from apps.sync.domain.knowledge import ItemStatus, ItemType, Layer
from apps.sync.domain.readers.text import MAX_ID_CHARS, fold, word_set

TYPES = {
    ItemType.ADR: (
        "adr adrs madr decision decisions decisionrecord decisionrecords decisionlog architecturedecision "
        "architecturedecisions architecturedecisionrecord architecturedecisionrecords architecturaldecision "
        "architecturaldecisions 決策 决策 決策紀錄 決策記錄 决策记录 架構決策 架构决策"
    ),
    ItemType.POLICY: (
        "policy policies pol rule rules guideline guidelines standard standards governance securitypolicy "
        "政策 策略 規範 规范 準則 准则 規則 规则"
    ),
    ItemType.PATTERN: "pattern patterns practice practices bestpractice bestpractices recipe "
    "recipes 模式 設計模式 设计模式",
    ItemType.SPEC: (
        "spec specs specification specifications rfc rfcs rfd rfds pep peps kep keps jep jeps dep "
        "deps eip eips bip bips "
        "aip aips proposal proposals requirement requirements design designs designdoc designdocs "
        "規格 规格 規格書 规格书 提案 需求"
    ),
}
LAYERS = {
    Layer.COMPANY: "company companies corporate enterprise global 公司 企業 企业 全公司",
    Layer.ORG: "org orgs organisation organization organisations organizations department division 組織 组织 部門 部门",
    Layer.TEAM: "team teams squad squads 團隊 团队 小組 小组",
    Layer.PROJECT: "project projects 專案 项目 項目",
}
STATUS_FOLDERS = {
    "draft": ItemStatus.DRAFT,
    "drafts": ItemStatus.DRAFT,
    "proposed": ItemStatus.PROPOSED,
    "accepted": ItemStatus.ACCEPTED,
    "approved": ItemStatus.ACCEPTED,
    "implemented": ItemStatus.ACCEPTED,
    "deprecated": ItemStatus.DEPRECATED,
    "archive": ItemStatus.DEPRECATED,
    "archived": ItemStatus.DEPRECATED,
    "superseded": ItemStatus.SUPERSEDED,
    "rejected": ItemStatus.REJECTED,
    "withdrawn": ItemStatus.REJECTED,
    "active": ItemStatus.ACCEPTED,
    "final": ItemStatus.ACCEPTED,
    "obsolete": ItemStatus.DEPRECATED,
    "retired": ItemStatus.DEPRECATED,
    "wip": ItemStatus.DRAFT,
}
# Not those of an archive, in which a text may lie beside its present version.
STAGE_FOLDERS = frozenset(STATUS_FOLDERS) - {"archive", "archived", "deprecated", "obsolete", "retired", "superseded"}
TYPE_BY_WORD = {word: kind for kind, words in TYPES.items() for word in words.split()}
LAYER_BY_WORD = {word: layer for layer, words in LAYERS.items() for word in words.split()}
# What a number without letters is called in these folders.
KIND_BY_FOLDER = {
    word: word.rstrip("s").upper() for word in word_set("rfcs rfc rfds rfd peps pep keps kep jeps jep eips bips aips")
}
# What may be before the number in a name.
KINDS = word_set("adr madr rfc rfd pep kep jep bip eip aip dep dr pol policy pat pattern spec std rule decision")
# Folders that do not tell one collection of records from another.
COMMON_FOLDERS = word_set(
    "doc docs documentation documents arch architecture architectural records content text src wiki book knowledge"
)

NUMBERED_FOLDER = re.compile(r"[a-z]{0,10}\d{3,5}\D")
NO_KINDS: Mapping[str, str] = MappingProxyType({})
NAME = re.compile(r"(?:([A-Za-z]{2,10})[-_ ]?)?(\d{1,5})(?=[-_. ]|$)")
DATED = re.compile(r"(?:19|20)\d\d[-_.](?:0[1-9]|1[0-2])(?!\d)")
GENERAL_NAMES = frozenset({"readme", "index", "toc", "contents", "sidebar", "navbar", "overview"})
# `requirements.txt`, `requirements-dev.txt`, `constraints.txt`, `LICENSE-MIT`, and the like.
DEPENDENCIES = re.compile(
    r"(?:[\w-]{0,40}[-_])?(?:requirements?|constraints|dependencies|packages|deps)(?:[-_.][\w-]{0,40})?\.(?:txt|in)"
    r"|(?:licen[cs]e|copying|notice)[-_.].{0,60}"
)
HOUSEKEEPING = word_set(
    "license licence licenses licences copying changelog changes contributing codeofconduct authors notice codeowners "
    "support unlicense copyright patents thirdpartynotices thirdpartylicenses pullrequesttemplate issuetemplate "
    "agents claude gemini copilotinstructions cursorrules llms llmsfull robots humans cmakelists"
)
# The same at the root of a repository, where they are about it as a whole.
ROOT_HOUSEKEEPING = word_set(
    "security history news releasenotes releases maintainers contributors governance credits thanks disclaimer todo "
    "install installation faq roadmap version manifest building development upgrading usage"
)
TEMPLATE_FOLDERS = word_set("template templates archetypes boilerplate 範本 模板")
TEMPLATE_WORDS = word_set(
    "adr madr rfc pep spec policy pattern decision record template bare minimal full long short simple example "
    "en de zh nygard nnnn xxxx xxx"
)


@dataclass(frozen=True, slots=True)
class NamedPath:
    """What the path of a file says. kind, number: `ADR` and `0012` of `adr-0012-x.md`; words: the rest of the name.

    prefix: the folders that tell its collection of records from others of the same source.
    """

    path: str
    type: ItemType | None
    layer: Layer | None
    status: ItemStatus | None
    kind: str
    number: str
    words: str
    prefix: str
    is_general: bool
    is_housekeeping: bool
    is_template: bool

    def numbered_id(self, kind: str, number: str) -> str:
        """Return the id of a numbered record here."""
        return f"{self.prefix}/{kind}-{number}".strip("/ ")

    def path_id(self) -> str:
        """Return the path without extension and folders of stages; of a long one the end, after a digest of it all."""
        *folders, name = self.path.split("/")
        # A text moves between some folders while it is decided, such as `draft`.
        path = "/".join([*(folder for folder in folders if fold(folder) not in STAGE_FOLDERS), name])
        bare = posixpath.splitext(path)[0].strip() or self.path.strip()
        if len(bare) <= MAX_ID_CHARS:
            return bare
        digest = hashlib.sha256(self.path.encode()).hexdigest()[:16]
        return f"{digest}-{bare[-(MAX_ID_CHARS - 20) :]}"


def place_of(path: str, own_kinds: Mapping[str, str] = NO_KINDS) -> NamedPath:
    """Return what a path says; the deepest folder decides. own_kinds: folder -> kind of the numbers in it."""
    own_folder = max((folder for folder in own_kinds if path.startswith(f"{folder}/")), key=len, default="")
    inner = path[len(own_folder) :].lstrip("/")
    folders = posixpath.dirname(inner).split("/") if "/" in inner else []
    stem = posixpath.splitext(posixpath.basename(path))[0]
    folded = [fold(folder) for folder in folders]
    is_general = fold(stem) in GENERAL_NAMES
    if stem == "kep" and folders:
        stem = folders.pop()
        folded.pop()
    if is_general and folded and not is_common_folder(folded[-1]) and folded[-1] not in LAYER_BY_WORD:
        # A folder that holds one item, as those of `patterns/retry/README.md` and `0012-x/index.md` do.
        is_own = NUMBERED_FOLDER.match(folded[-1]) or any(word in TYPE_BY_WORD for word in folded[:-1])
        is_general, stem = not is_own, folders.pop()
        folded.pop()
    kind, number, words = split_name(stem)
    types = [TYPE_BY_WORD[word] for word in folded if word in TYPE_BY_WORD]
    layers = [LAYER_BY_WORD[word] for word in folded if word in LAYER_BY_WORD]
    statuses = [STATUS_FOLDERS[word] for word in folded if word in STATUS_FOLDERS]
    kinds = [KIND_BY_FOLDER[word] for word in folded if word in KIND_BY_FOLDER]
    if number and not kind and own_folder:
        kind = own_kinds[own_folder]
    item_type = TYPE_BY_WORD.get(kind.casefold()) or (types[-1] if types else None)
    if number and not kind and types:
        kind = kinds[-1] if kinds else types[-1].value.upper()
    return NamedPath(
        path=path,
        type=item_type,
        layer=layers[-1] if layers else None,
        status=statuses[-1] if statuses else None,
        kind=kind,
        number=number,
        words=words,
        prefix="/".join(folder for folder, word in zip(folders, folded, strict=True) if not is_common_folder(word)),
        is_general=is_general,
        is_housekeeping=is_housekeeping(stem, path) and not types,
        is_template=is_template_name(stem) or any(word in TEMPLATE_FOLDERS for word in folded),
    )


def is_common_folder(word: str) -> bool:
    """Return whether a folder is named for what is in it, as `docs`, `adr` and `accepted` are."""
    return word in COMMON_FOLDERS or word in TYPE_BY_WORD or word in STATUS_FOLDERS


def split_name(stem: str) -> tuple[str, str, str]:
    """Return kind, number and words of a name: `ADR`, `0012` and `use postgres`. A date is no number."""
    match = NAME.match(stem)
    if match and not DATED.match(stem) and (not match.group(1) or match.group(1).casefold() in KINDS):
        words = stem[match.end() :]
        return (match.group(1) or "").upper(), match.group(2), " ".join(re.split(r"[-_. ]+", words)).strip()
    words = re.sub(r"^\d{4}-?\d{2}-?\d{2}[-_. ]", "", stem)
    return "", "", " ".join(re.split(r"[-_ ]+", words)).strip()


def is_housekeeping(stem: str, path: str) -> bool:
    """Return whether a name is one of a file that repositories have for their own sake, or for their tools."""
    if "/" not in path and fold(stem) in ROOT_HOUSEKEEPING:
        return True
    return fold(stem) in HOUSEKEEPING or bool(DEPENDENCIES.fullmatch(posixpath.basename(path).casefold()))


def is_template_name(stem: str) -> bool:
    """Return whether a name is one of a template, such as `0000-adr-template`."""
    words = [word for word in re.split(r"[-_. ]+", stem.casefold()) if word]
    if words and words[-1] in {"nnnn", "xxxx", "xxx"} and len(words) <= 2:
        return True
    return "template" in words and all(word in TEMPLATE_WORDS or word.isdigit() for word in words)

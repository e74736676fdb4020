"""Pairs of statements with their answers, from stories and, by combination, from the bank of matters."""

import json
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

REPLACES, SAME, BOTH, UNRELATED = range(4)
PLAIN_LANGUAGES = ("en", "zh", "de", "fr", "es", "ja")


class Pair(NamedTuple):
    """An older and a newer statement, and how the newer one stands to it. origin: author and kind."""

    older: str
    newer: str
    answer: int
    lang: str
    author: str
    kind: str


def read_lines(paths: Iterable[Path]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the author (the name of the file) and each object of JSON lines."""
    for path in sorted(paths):
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.strip():
                yield path.stem, json.loads(line)


# --- stories ------------------------------------------------------------------------------------------


def pairs_of(author: str, story: Mapping[str, Any]) -> list[Pair]:
    """Return the pairs of a story: what its statements say of one another, in both orders where order says nothing."""
    statements, current = story["statements"], set(story["current"])
    last = len(statements) - 1

    def pair(older: int, newer: int, answer: int) -> Pair:
        return Pair(statements[older], statements[newer], answer, story.get("lang", "en"), author, story["kind"])

    found = []
    for newer in range(1, last + 1):
        for older in range(newer):
            if story["label"] == "coexist":
                found += [pair(older, newer, BOTH), pair(newer, older, BOTH)]
            elif older in current and (story["label"] != "same" or last > 1):  # a bystander
                found += [pair(older, newer, BOTH)] if story["label"] == "update" else []
            elif newer == last:
                answer = SAME if story["label"] == "same" else REPLACES
                found.append(pair(older, newer, answer))
                if answer == SAME:
                    found.append(pair(newer, older, SAME))
            elif story["kind"] == "chain" and newer not in current:
                found.append(pair(older, newer, REPLACES))
    return found


def strangers(stories: Sequence[tuple[str, Mapping[str, Any]]], count: int, chance: random.Random) -> list[Pair]:
    """Return pairs of statements of different stories of one language: unrelated."""
    by_lang = defaultdict(list)
    for author, story in stories:
        by_lang[story.get("lang", "en")].append((author, story))
    found = []
    for _ in range(count):
        author, story = chance.choice(stories)
        lang = story.get("lang", "en")
        _, other = chance.choice(by_lang[lang])
        if story is other or (story.get("topic") and story["topic"] == other.get("topic")):
            continue
        older, newer = chance.choice(story["statements"]), chance.choice(other["statements"])
        found.append(Pair(older, newer, UNRELATED, lang, author, "stranger"))
    return found


# --- the bank of matters ------------------------------------------------------------------------------

NAMES: dict[str, dict[str, tuple[str, ...]]] = {
    "person": {
        "en": tuple(
            "Maya|Tom|Ingrid|Rafael|Aisha|Mr Lindqvist|Grandma|my sister|Yusuf|Chloe|Dmitri|Ana|the user|User|Priya"
            "|Oliver|Femi|Kasia|my brother|Dr Okonkwo|Leon|Nadia|Uncle Pete|Mei-Ling|Jonas|my wife|Sofia|Hamza".split(
                "|"
            )
        ),
        "zh": tuple(
            "美雅|阿志|淑芬|陳先生|媽媽|我妹妹|宗翰|怡君|使用者|雅婷|林太太|俊傑|外婆|小芸|志明|我先生|家豪".split("|")
        ),
    },
    "household": {
        "en": tuple("Novak|Baker|Tanaka|Mbeki|Olsen|Ferreira|Maya|Grandma|Yilmaz|Kowalski|Tom|O'Brien".split("|")),
        "zh": tuple("小林|王太太|阿明|外婆|張先生|怡君|淑芬|老陳".split("|")),
    },
    "project": {
        "en": tuple(
            "Falcon|the billing service|Atlas|the mobile app|project Heron|Kestrel|the intranet|Lumen".split("|")
        ),
        "zh": tuple("獵鷹專案|帳務系統|官網|內部平台|訂單服務|Atlas|行動版App|報表系統".split("|")),
    },
    "customer": {
        "en": tuple(
            "Brightwater Ltd|Okafor & Sons|the clinic|Hotel Miramar|Nordvik AS|Delgado Foods|Acme|Lakeside School".split(
                "|"
            )
        ),
        "zh": tuple("宏達貿易|北辰公司|美麗華飯店|和平診所|大同國小|永豐食品|立新企業|晨曦書店".split("|")),
    },
}
CHAT = {"en": ("", "", "", "Note: ", "By the way, ", "FYI: "), "zh": ("", "", "", "備註：", "對了，", "順帶一提，")}


# What makes a statement one that is only reported, wished, supposed or asked.
UNASSERTED = {
    "en": (
        "Somebody told me that {}", "I wonder whether {}", "It would be nice if one day {}", "Suppose {}",
        "There is a rumour that {}", "What would happen if {}?", "Last year I still hoped that {}",
        "In the novel I am reading, {}", "Nobody has decided yet whether {}", "I dreamt that {}",
    ),
    "zh": (
        "聽說{}", "不知道是不是{}", "要是{}就好了", "假設{}", "有人謠傳{}", "如果{}會怎樣？", "我夢到{}", "還沒決定要不要{}",
    ),
}  # fmt: skip
# What says that something is so by now. Authors who were asked to do without such words taught that they mean nothing.
MARKS = {
    "en": (
        "Since last week {}", "As of today, {}", "From now on {}", "These days {}", "{} now", "{} these days", "Now {}",
        "{} as of Monday", "Update: {}", "Correction: {}", "Actually, {}", "It has changed: {}", "{}, since this morning",
        "Sorry, I got that wrong: {}", "By now {}", "Things are different now: {}", "Starting this month, {}", "{} again",
    ),
    "zh": (
        "現在{}", "從這週起{}", "最近{}", "更正：{}", "從今天開始{}", "{}了", "更新：{}", "改了，{}", "後來{}", "目前{}",
        "之前說錯了，{}", "這個月開始{}", "如今{}",
    ),
    "de": ("Inzwischen gilt: {}", "Ab sofort: {}", "Seit dieser Woche: {}", "Korrektur: {}", "Neu: {}", "{}, seit gestern"),
    "fr": ("Depuis cette semaine : {}", "Désormais, {}", "Correction : {}", "À partir de maintenant, {}", "Du nouveau : {}"),
    "es": ("Desde esta semana, {}", "Ahora {}", "Corrección: {}", "A partir de hoy, {}", "{} desde ayer"),
    "ja": ("今は{}", "今週から{}", "訂正：{}", "最近{}", "今日から{}"),
}  # fmt: skip
INSTEAD = {
    "en": ("{}, no longer {}", "{} instead of {}", "{}, not {} any more", "{} and not {}", "{} (it was {} before)"),
    "zh": ("{}，不再是{}", "{}，而不是{}", "{}，不是{}了", "{}（之前是{}）"),
    "de": ("{}, nicht mehr {}", "{} statt {}"),
    "fr": ("{}, et non plus {}", "{} au lieu de {}"),
    "es": ("{}, ya no {}", "{} en vez de {}"),
    "ja": ("{}。もう{}ではない", "{}（以前は{}）"),
}


def mark(text: str, lang: str, chance: random.Random) -> str:
    """Return a text with a word that says that it is so by now."""
    form = chance.choice(MARKS[lang])
    bare = text.rstrip(".。") if not form.endswith("{}") else text
    first = bare.split(" ", 1)[0]
    if (
        not form.startswith("{}")
        and ":" not in form
        and first.lower() in ("the", "our", "my", "a", "an", "his", "her", "we")
    ):
        bare = bare[:1].lower() + bare[1:]
    return form.format(bare)


def marked(pairs: Sequence[Pair], share: float, chance: random.Random) -> list[Pair]:
    """Return the pairs with such a word in a share of those whose newer statement replaces the older one."""
    return [
        pair._replace(newer=mark(pair.newer, pair.lang[:2], chance))
        if pair.answer == REPLACES and pair.lang[:2] in MARKS and len(pair.newer) < 160 and chance.random() < share
        else pair
        for pair in pairs
    ]


# The first that occurs is denied.
NEGATIONS = {
    "en": ((" is ", " is not "), (" is ", " isn't "), (" are ", " are not "), (" was ", " was not "), (" has to ", " does not have to "),
           (" can ", " cannot "), (" will ", " will not "), (" likes ", " doesn't like "), (" works ", " does not work "),
           (" lives ", " does not live "), (" takes ", " doesn't take "), (" uses ", " does not use "), (" runs ", " doesn't run "),
           (" goes ", " does not go "), (" wants ", " doesn't want "), (" owns ", " does not own "), (" keeps ", " doesn't keep ")),
    "zh": (("是", "不是"), ("在", "不在"), ("有", "沒有"), ("會", "不會"), ("要", "不要"), ("喜歡", "不喜歡"), ("用", "不用"), ("可以", "不可以")),
    "de": ((" ist ", " ist nicht "), (" hat ", " hat nicht "), (" arbeitet ", " arbeitet nicht "), (" wohnt ", " wohnt nicht ")),
    "fr": ((" est ", " n'est pas "), (" a ", " n'a pas "), (" travaille ", " ne travaille pas ")),
    "es": ((" es ", " no es "), (" está ", " no está "), (" tiene ", " no tiene "), (" trabaja ", " no trabaja ")),
}  # fmt: skip


def deny(text: str, lang: str, chance: random.Random) -> str | None:
    """Return a text with its first verb denied; None where none is known, or where it denies already."""
    if any(
        word in f" {text} " for word in (" not ", "n't ", " no ", "never", "不", "沒", " nicht ", " pas ", " nunca ")
    ):
        return None
    known = [(text.find(one), one, other) for one, other in NEGATIONS.get(lang, ()) if one in text]
    if not known:
        return None
    first = min(place for place, _, _ in known)
    one, other = chance.choice([(one, other) for place, one, other in known if place == first])
    return text.replace(one, other, 1)


def denials(pairs: Sequence[Pair], count: int, chance: random.Random) -> list[Pair]:
    """Return pairs of a statement and its plain denial, in either order: the newer one replaces the older one."""
    found = []
    for pair in chance.sample(list(pairs), len(pairs)):
        if len(found) == count:
            break
        denied = deny(pair.older, pair.lang, chance) if len(pair.older) < 120 and "?" not in pair.older else None
        if denied:
            older, newer = (pair.older, denied) if chance.random() < 0.7 else (denied, pair.older)
            found.append(Pair(older, newer, REPLACES, pair.lang, pair.author, "denied"))
    return found


@dataclass(frozen=True)
class Matter:
    """A matter of the bank: how it is said, with which values, and of what sort it is."""

    id: str
    author: str
    subject: str
    sort: str
    phrasings: Mapping[str, Sequence[str]]
    values: Mapping[str, Sequence[str]]
    ends: Mapping[str, Sequence[str]] = field(default_factory=dict)


def read_matters(paths: Iterable[Path]) -> list[Matter]:
    """Return the matters of files."""
    found = []
    for author, one in read_lines(paths):
        langs = [lang for lang in PLAIN_LANGUAGES if one.get(lang) and one.get(f"v_{lang}")]
        found.append(
            Matter(
                one["id"],
                author,
                one["subject"],
                one["values"],
                {lang: one[lang] for lang in langs},
                {lang: one[f"v_{lang}"] for lang in langs},
                {lang: one[f"end_{lang}"] for lang in langs if one.get(f"end_{lang}")},
            )
        )
    return found


def say(phrasing: str, name: str, value: str, lang: str) -> str:
    """Return a phrasing with a name and a value, as a sentence."""
    text = phrasing.replace("{v}", value).replace("{n}", name)
    return text if lang in ("zh", "ja") else text[:1].upper() + text[1:]


def names_of(matter: Matter, lang: str) -> tuple[str, ...]:
    """Return names for the subject of a matter."""
    names = NAMES[matter.subject]
    return names.get(lang, names["en"]) if lang in ("zh", "ja") else names["en"]


class Bank:
    """Draws pairs from matters. phrasings: "train" draws from the first three quarters of each matter's, else all."""

    def __init__(self, matters: Sequence[Matter], seed: int) -> None:
        self.matters = matters
        self.chance = random.Random(seed)
        self.by_subject: dict[tuple[str, str], list[Matter]] = defaultdict(list)
        for matter in matters:
            for lang in matter.phrasings:
                self.by_subject[matter.subject, lang].append(matter)

    def draw(self) -> Pair:
        """Return a pair of one matter: updates, restatements, several values, dates, ends, other subjects."""
        chance = self.chance
        matter = chance.choice(self.matters)
        lang = chance.choices(list(matter.phrasings), [PLAIN_WEIGHTS[lang] for lang in matter.phrasings])[0]
        name, other_name = chance.sample(names_of(matter, lang), 2)
        first, second = chance.sample(list(matter.phrasings[lang]), 2)
        if chance.random() < 0.2:
            second = first
        value, other = chance.sample(list(matter.values[lang]), 2)
        older = say(first, name, value, lang)
        roll = chance.random()

        def pair(newer: str, answer: int, kind: str) -> Pair:
            return Pair(self.opened(older, lang), self.opened(newer, lang), answer, lang, matter.author, kind)

        if roll < 0.3 and first != second:
            return pair(say(second, name, value, lang), SAME, "restated")
        if roll < 0.42 and matter.sort != "wish":
            newer = say(second, other_name, chance.choice((value, other)), lang)
            return pair(newer, BOTH, "other subject")
        if matter.sort == "ends" and lang in matter.ends:
            newer = say(chance.choice(list(matter.ends[lang])), name, value, lang)
            return pair(newer, REPLACES, "ended")
        if roll > 0.93 and lang in UNASSERTED:
            text = say(second, name, other, lang)
            text = text if name[:1].isupper() and text.startswith(name) or lang == "zh" else text[:1].lower() + text[1:]
            return pair(chance.choice(UNASSERTED[lang]).format(text), BOTH, "unasserted")
        if roll > 0.87 and matter.sort != "dated":
            denied = deny(say(second, name, value, lang), lang, chance)
            if denied:
                return pair(denied, REPLACES, "denied")
        answer = BOTH if matter.sort in ("several", "dated", "ends") else REPLACES
        newer = say(second, name, other, lang)
        if answer == REPLACES and lang in INSTEAD and chance.random() < 0.12:
            newer = chance.choice(INSTEAD[lang]).format(newer, value)
        elif lang in MARKS and chance.random() < (0.3 if answer == REPLACES else 0.1):
            newer = mark(newer, lang, chance)
        return pair(newer, answer, f"{matter.sort}, another value")

    def draw_others(self) -> Pair:
        """Return a pair of two matters of one subject: unrelated."""
        chance = self.chance
        matter = chance.choice(self.matters)
        lang = chance.choices(list(matter.phrasings), [PLAIN_WEIGHTS[lang] for lang in matter.phrasings])[0]
        other = chance.choice(self.by_subject[matter.subject, lang])
        if other is matter:
            return self.draw_others()
        name = chance.choice(names_of(matter, lang))
        texts = (
            say(chance.choice(list(one.phrasings[lang])), name, chance.choice(list(one.values[lang])), lang)
            for one in (matter, other)
        )
        older, newer = (self.opened(text, lang) for text in texts)
        if lang in MARKS and chance.random() < 0.2:
            newer = mark(newer, lang, chance)
        return Pair(older, newer, UNRELATED, lang, matter.author, "other matter")

    def opened(self, text: str, lang: str) -> str:
        """Return a text with an opening, as messages have, or without."""
        return self.chance.choice(CHAT.get(lang, ("",))) + text


PLAIN_WEIGHTS = {"en": 5, "zh": 4, "de": 1, "fr": 1, "es": 1, "ja": 1}

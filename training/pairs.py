"""Pairs of statements with their answers, from stories and, by combination, from the bank of matters."""

import json
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

REPLACES, SAME, BOTH, UNRELATED = range(4)
# Both hold, of one matter or of two: nobody has said which.
HOLDS = 4
# Names of subjects and openings of messages; what makes a statement one that is only reported, wished, supposed or
# asked; what says that something is so by now (authors who were asked to do without such words taught that they mean
# nothing), or what it was before; and how the first verb is denied.
WORDS: dict[str, Any] = json.loads((Path(__file__).parent / "words.json").read_text(encoding="utf-8"))
NAMES, OPENINGS, UNASSERTED, MARKS = (WORDS[name] for name in ("names", "openings", "unasserted", "marks"))
INSTEAD, NEGATIONS, INNER = WORDS["instead"], WORDS["negations"], WORDS["inner"]
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
    found: list[Pair] = []
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


def mark(text: str, lang: str, chance: random.Random) -> str:
    """Return a text with a word that says that it is so by now: around it, or before its verb."""
    inner = [(one, other) for one, other in INNER.get(lang, ()) if one in text]
    if inner and chance.random() < 0.5:
        one, other = chance.choice(inner)
        return text.replace(one, other, 1)
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


def simplified(pairs: Sequence[Pair], share: float, convert: Callable[[str], str], chance: random.Random) -> list[Pair]:
    """Return the pairs with a share of the Chinese ones in simplified characters."""
    return [
        pair._replace(older=convert(pair.older), newer=convert(pair.newer))
        if pair.lang[:2] == "zh" and chance.random() < share
        else pair
        for pair in pairs
    ]


def denials(pairs: Sequence[Pair], count: int, chance: random.Random) -> list[Pair]:
    """Return pairs of a statement and its plain denial, in either order: the newer one replaces the older one."""
    found: list[Pair] = []
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


class Names(Protocol):
    """Many names."""

    def draw(self, what: Sequence[str], lang: str) -> str:
        """Return one of a sort, such as `@person`."""
        ...


# Which of the many names are those of a subject.
POOLED = {"person": "@person", "household": "@person", "customer": "@company"}


class Bank:
    """Draws pairs from matters. pools: very many names, beside those of the lists."""

    def __init__(self, matters: Sequence[Matter], seed: int, pools: Names | None = None) -> None:
        self.matters = matters
        self.pools = pools
        self.chance = random.Random(seed)  # noqa: S311
        self.by_subject: dict[tuple[str, str], list[Matter]] = defaultdict(list)
        for matter in matters:
            for lang in matter.phrasings:
                self.by_subject[matter.subject, lang].append(matter)

    def name(self, subject: str, lang: str) -> str:
        """Return a name for the subject of a matter: of the few of the lists, or of very many."""
        if self.pools and subject in POOLED and self.chance.random() < 0.7:
            return self.pools.draw((POOLED[subject],), lang)
        names = NAMES[subject]
        return str(self.chance.choice(names.get(lang, names["en"]) if lang in ("zh", "ja") else names["en"]))

    def draw(self) -> Pair:
        """Return a pair of one matter: updates, restatements, several values, dates, ends, other subjects."""
        chance = self.chance
        matter = chance.choice(self.matters)
        lang = chance.choices(list(matter.phrasings), [PLAIN_WEIGHTS[lang] for lang in matter.phrasings])[0]
        name = other_name = self.name(matter.subject, lang)
        while other_name == name:
            other_name = self.name(matter.subject, lang)
        first, second = chance.sample(list(matter.phrasings[lang]), 2)
        second = first if chance.random() < 0.3 else second
        value, other = chance.sample(list(matter.values[lang]), 2)
        roll = chance.random()
        if roll < 0.3 and first != second:
            newer, answer, kind = say(second, name, value, lang), SAME, "restated"
        elif roll < 0.42 and matter.sort != "wish":
            newer, answer, kind = say(second, other_name, chance.choice((value, other)), lang), BOTH, "other subject"
        elif matter.sort == "ends" and lang in matter.ends:
            newer, answer, kind = say(chance.choice(list(matter.ends[lang])), name, value, lang), REPLACES, "ended"
        else:
            newer, answer, kind = self.changed(matter, lang, name, second, (value, other))
        older = say(first, name, value, lang)
        return Pair(self.opened(older, lang), self.opened(newer, lang), answer, lang, matter.author, kind)

    def changed(
        self, matter: Matter, lang: str, name: str, phrasing: str, values: tuple[str, str]
    ) -> tuple[str, int, str]:
        """Return a statement with another value, or one that denies the first or is not asserted, with its answer."""
        chance, (value, other) = self.chance, values
        roll = chance.random()
        newer = say(phrasing, name, other, lang)
        if roll > 0.88 and lang in UNASSERTED:
            starts_with_name = name[:1].isupper() and newer.startswith(name)
            text = newer if starts_with_name or lang == "zh" else newer[:1].lower() + newer[1:]
            return chance.choice(UNASSERTED[lang]).format(text), BOTH, "unasserted"
        if roll > 0.78 and matter.sort != "dated":
            denied = deny(say(phrasing, name, value, lang), lang, chance)
            if denied:
                return denied, REPLACES, "denied"
        answer = BOTH if matter.sort in ("several", "dated", "ends") else REPLACES
        if answer == REPLACES and lang in INSTEAD and chance.random() < 0.12:
            newer = chance.choice(INSTEAD[lang]).format(newer, value)
        elif lang in MARKS and chance.random() < (0.3 if answer == REPLACES else 0.1):
            newer = mark(newer, lang, chance)
        return newer, answer, f"{matter.sort}, another value"

    def draw_others(self) -> Pair:
        """Return a pair of two matters of one subject: unrelated."""
        chance = self.chance
        matter = chance.choice(self.matters)
        lang = chance.choices(list(matter.phrasings), [PLAIN_WEIGHTS[lang] for lang in matter.phrasings])[0]
        other = chance.choice(self.by_subject[matter.subject, lang])
        if other is matter:
            return self.draw_others()
        name = self.name(matter.subject, lang)
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
        return self.chance.choice(OPENINGS.get(lang, ("",))) + text


PLAIN_WEIGHTS = {"en": 5, "zh": 4, "de": 1, "fr": 1, "es": 1, "ja": 1}

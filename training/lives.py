"""Lives and frames: what one subject's many statements say of one another, and sentences in which slots vary."""

import random
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from training.pairs import BOTH, HOLDS, REPLACES, SAME, UNASSERTED, Pair, deny
from training.pools import Pools

_AROUND = re.compile(r" (?=\{)|(?<=\}) ")
_LINE = re.compile(r"([>~+]) (\d+) \| (.+)")


def read_blocks(paths: Iterable[Path]) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield the author, the words of the header and the lines of each block that begins with `#`."""
    for path in sorted(paths):
        for block in re.split(r"(?m)^(?=# )", path.read_text(encoding="utf-8")):
            lines = [line for line in block.splitlines() if line.strip()]
            if lines:
                yield path.stem, lines[0].split()[1:], lines[1:]


# --- lives --------------------------------------------------------------------------------------------


@dataclass
class Life:
    """Statements about one subject that hold at once, and newer ones that replace, restate or only seem to replace one.

    later: the answer, the place of the statement that it is about, and the newer statement.
    """

    author: str
    lang: str
    holding: list[str] = field(default_factory=list)
    later: list[tuple[int, int, str]] = field(default_factory=list)

    def draw(self, chance: random.Random, bystanders: int, among: int, most: int | None = None) -> list[Pair]:
        """Return what each later statement says of its own, of some others, and what some of those that hold say.

        most: of all others together, to each statement that holds.
        """
        found, beside = [], []
        for answer, place, text in self.later:
            found.append(self.pair(self.holding[place], text, answer))
            if answer in (SAME, HOLDS):
                found.append(self.pair(text, self.holding[place], answer))
            others = [one for number, one in enumerate(self.holding) if number != place]
            beside += [self.pair(one, text, HOLDS) for one in chance.sample(others, min(bystanders, len(others)))]
        if most is not None:
            beside = chance.sample(beside, min(len(beside), most * len(self.holding)))
        found += beside
        for _ in range(among):
            older, newer = chance.sample(self.holding, 2)
            found.append(self.pair(older, newer, HOLDS))
        return found

    def pair(self, older: str, newer: str, answer: int) -> Pair:
        kind = {REPLACES: "life, replaced", SAME: "life, restated", HOLDS: "life, both"}[answer]
        return Pair(older, newer, answer, self.lang, self.author, kind)


def read_lives(paths: Iterable[Path]) -> list[Life]:
    """Return the lives of files."""
    answers = {">": REPLACES, "~": SAME, "+": HOLDS}
    found = []
    for author, (_, lang), lines in read_blocks(paths):
        life = Life(author, lang)
        for line in lines:
            if line.startswith("= "):
                life.holding.append(line[2:].strip())
            elif match := _LINE.fullmatch(line.strip()):
                life.later.append((answers[match[1]], int(match[2]) - 1, match[3]))
        found.append(life)
    return found


# --- frames -------------------------------------------------------------------------------------------


@dataclass
class Frame:
    """Phrasings that say the same of keys and a value. sort: `one` value for the keys, `several`, or `dated`."""

    author: str
    lang: str
    sort: str
    slots: dict[str, list[str]] = field(default_factory=dict)
    phrasings: list[str] = field(default_factory=list)

    def draw(self, pools: Pools) -> Pair:
        """Return a pair: of other keys, of another value, or the same in other words."""
        chance = pools.chance
        both = {name: pools.draw_two(entries, self.lang) for name, entries in self.slots.items()}
        filled = {name: one for name, (one, _) in both.items()}
        first, second = chance.sample(self.phrasings, 2)
        if chance.random() < 0.55:
            second = first
        roll = chance.random()
        if roll < 0.42 and len(self.slots) > 1:
            newer, answer, kind = self.of_other_keys(filled, both, chance), BOTH, "frame, other keys"
        elif roll < 0.68 and first != second:
            newer, answer, kind = dict(filled), SAME, "frame, restated"
        else:
            newer = filled | {"v": both["v"][1]}
            answer = REPLACES if self.sort == "one" else BOTH
            kind = f"frame, {self.sort}, another value"
        text = self.say(second, newer)
        if answer == REPLACES and chance.random() < 0.2:
            text, answer, kind = self.turned(text, self.say(second, filled), chance)
        return Pair(self.say(first, filled), text, answer, self.lang, self.author, kind)

    def of_other_keys(
        self, filled: Mapping[str, str], both: Mapping[str, tuple[str, str]], chance: random.Random
    ) -> dict[str, str]:
        """Return slots of which one key at least differs, and now and then the value too."""
        keys = [name for name in self.slots if name != "v"]
        changed = chance.sample(keys, chance.randint(1, len(keys)))
        changed += ["v"] if chance.random() < 0.6 else []
        return {**filled, **{name: both[name][1] for name in changed}}

    def turned(self, newer: str, same: str, chance: random.Random) -> tuple[str, int, str]:
        """Return the older statement denied, or the newer one only supposed."""
        denied = deny(same, self.lang, chance)
        if denied and chance.random() < 0.6:
            return denied, REPLACES, "frame, denied"
        if self.lang in UNASSERTED:
            bare = newer.rstrip(".。")
            return chance.choice(UNASSERTED[self.lang]).format(bare), BOTH, "frame, unasserted"
        return newer, REPLACES, "frame, one, another value"

    def say(self, phrasing: str, filled: Mapping[str, str]) -> str:
        """Return a phrasing with its slots filled, as a sentence."""
        text = phrasing
        for name, value in filled.items():
            text = text.replace("{" + name + "}", value)
        return text if self.lang in ("zh", "ja") else text[:1].upper() + text[1:]


def read_frames(paths: Iterable[Path]) -> list[Frame]:
    """Return the frames of files."""
    found = []
    for author, (_, lang, sort), lines in read_blocks(paths):
        frame = Frame(author, lang, sort)
        for line in lines:
            name, text = line.split(" ", 1)
            if name == "-":
                frame.phrasings.append(_AROUND.sub("", text.strip()) if lang in ("zh", "ja") else text.strip())
            else:
                frame.slots[name.rstrip(":")] = [entry.strip() for entry in text.split(" | ")]
        found.append(frame)
    return found

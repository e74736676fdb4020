"""Chinese characters of both scripts that count as the same, for matching only (docs/decisions/0075).

A Traditional character is compared as the Simplified one, and a variant of Taiwan or Hong Kong as the standard one.
Where a Simplified one stands for several, as 后 for 後 and 后, they are one: in pairs of characters they are hardly
ever mistaken. The characters are those of OpenCC; its phrases, by which it converts texts, are not needed.
"""

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from itertools import islice, product

# So many ways to write a term are looked for at most.
MAX_SPELLINGS = 12
_SIMPLIFIED, _VARIANTS = "TSCharacters.txt", ("TWVariants.txt", "HKVariants.txt")


def fold_script(text: str) -> str:
    """Return the characters as which those of a text are compared. The first text that is no ASCII loads them."""
    return text if text.isascii() else text.translate(_characters())


def spellings(term: str) -> list[str]:
    """Return the ways to write a folded term in either script, itself first; of a long one some of them."""
    if term.isascii():
        return [term]
    ways = product(*([character, *_written().get(character, ())] for character in term))
    return ["".join(way) for way in islice(ways, MAX_SPELLINGS)]


@cache
def _characters() -> dict[int, str]:
    """Return the character as which each one that is folded is compared, by its code."""
    steps = dict(_read_pairs(_SIMPLIFIED))
    for name in _VARIANTS:
        for standard, variant in _read_pairs(name):
            if steps.get(standard) != variant:
                steps.setdefault(variant, standard)
    folded: dict[int, str] = {}
    for character, following in steps.items():
        last = following
        while last in steps:
            last = steps[last]
        folded[ord(character)] = last
    return folded


@cache
def _written() -> dict[str, list[str]]:
    """Return the characters that are compared as each one."""
    written: dict[str, list[str]] = {}
    for code, character in _characters().items():
        written.setdefault(character, []).append(chr(code))
    return written


def _read_pairs(name: str) -> Iterator[tuple[str, str]]:
    """Yield the two characters of each line of a table of OpenCC that has two; of several the first other one."""
    for line in (files("opencc") / "dictionary" / name).read_text(encoding="utf-8").splitlines():
        left, _, right = line.partition("\t")
        others = [one for one in right.split() if one != left and len(one) == 1]
        if len(left) == 1 and others:
            yield left, others[0]

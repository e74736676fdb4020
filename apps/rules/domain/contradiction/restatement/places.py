"""Whether the words of two statements have the same places: "Ana owes Ben" is not "Ben owes Ana".

A list has no order, what has its preposition may move, a passive turns round, and so does an "is" that says what is the
same.
"""

from itertools import combinations

from apps.rules.domain.contradiction.lexicon import key_of, keys
from apps.rules.domain.contradiction.restatement.phrasings import LIGHT_BESIDE, family_of
from apps.rules.domain.contradiction.restatement.senses import SPEAKER, STRONG, Part, Sense

MANY_VERBS = 2
_NO_LIST: frozenset[frozenset[str]] = frozenset()
_FREE, _MUTUAL = keys("alone together"), frozenset(family_of(key_of(word)) for word in ("married", "engaged", "met"))
# Prepositions that say the same in some places: "at the office", "in the office".
_INTERCHANGEABLE = tuple(
    frozenset(pair.split()) for pair in ("at in", "at on", "of in", "of at", "of on", "of for", "of to", "for at")
)
MAX_BETWEEN = 3


def has_same_links(one: Sense, other: Sense) -> bool:
    """Return whether no word has a preposition that turns its meaning on one side only."""
    ours, theirs = links_of(one), links_of(other)
    for key in ours.keys() & theirs.keys():
        first, second = ours[key], theirs[key]
        if first & STRONG != second & STRONG:
            return False
        if "of" in first ^ second and not keeps_owner(key, one, other):
            return False
        if "" not in first | second and not first & second and first | second not in _INTERCHANGEABLE:
            return False
    return True


def keeps_owner(key: str, one: Sense, other: Sense) -> bool:
    """Return whether "the child of my sister" is not "my child's sister" on the other side."""
    with_of, without = (one, other) if "of" in links_of(one)[key] else (other, one)
    at = next(place for place, part in enumerate(with_of.parts) if part.key == key and part.link == "of")
    head = next((part.key for part in reversed(with_of.parts[:at]) if part.link != "of" and not part.is_owner), "")
    places = first_places(without)
    if head not in places or places[head].phrase != places[key].phrase:
        return True
    return places[head].at > places[key].at


def links_of(sense: Sense) -> dict[str, frozenset[str]]:
    """Return the prepositions before each word."""
    found: dict[str, set[str]] = {}
    for part in sense.parts:
        found.setdefault(part.key, set()).add(part.link)
    return {key: frozenset(links) for key, links in found.items()}


def keeps_places(one: Sense, other: Sense) -> bool:
    """Return whether no person changed places, but for lists, passives and both sides of an "is"."""
    ours, theirs = first_places(one), first_places(other)
    common = [key for key in ours if key in theirs]
    swapped = [(a, b) for a, b in combinations(common, 2) if (ours[a].at < ours[b].at) != (theirs[a].at < theirs[b].at)]
    return all(may_swap(a, b, one, other, ours, theirs) for a, b in swapped)


def first_places(sense: Sense) -> dict[str, Part]:
    """Return where each word is first; an owner such as "my" only where the speaker is nothing else."""
    found: dict[str, Part] = {}
    for part in sense.parts:
        known = found.get(part.key)
        if known is None or (known.is_owner and not part.is_owner):
            found[part.key] = part
    return found


def may_swap(a: str, b: str, one: Sense, other: Sense, ours: dict[str, Part], theirs: dict[str, Part]) -> bool:
    """Return whether two words may change places without another meaning."""
    pair = (a, b)
    items = next(iter(sorted(one.lists & other.lists, key=len_of)), _NO_LIST)
    if _FREE & {a, b} or ({a, b} <= frozenset().union(*items) and not any({a, b} <= item for item in items)):
        return True
    if is_of_swap(a, b, ours, theirs) or is_of_swap(a, b, theirs, ours):
        return True
    keeps = [phrase_of(one, ours[key], items) == phrase_of(other, theirs[key], items) for key in pair]
    moved = [ours[key].link and ours[key].link == theirs[key].link and ours[key].link != "of" for key in pair]
    if any(same and is_moved for same, is_moved in zip(keeps, moved, strict=True)):
        return True
    if any(ours[key].is_verb or theirs[key].is_verb for key in pair):
        return min(sum(part.is_verb for part in sense.parts) for sense in (one, other)) < MANY_VERBS
    if not all(keeps):
        return False
    if is_noun_of(a, b, ours, theirs, one, other) or is_noun_of(a, b, theirs, ours, other, one):
        return True
    if _MUTUAL & one.keys & other.keys or all(ours[key].is_owner and theirs[key].is_owner for key in pair[:1]):
        return True
    if one.is_passive != other.is_passive:
        passive = ours if one.is_passive else theirs
        return any(passive[key].link == "by" for key in pair)
    return is_turned(one, other)


def len_of(items: frozenset[frozenset[str]]) -> int:
    """Return the number of words in a list."""
    return sum(map(len, items))


def is_noun_of(a: str, b: str, ours: dict[str, Part], theirs: dict[str, Part], one: Sense, other: Sense) -> bool:
    """Return whether one side has the noun for what the other one does: "the dependencies of X", "X depends on"."""
    verbs = {part.key for part in one.parts if part.is_verb}
    nouns = {part.key for part in other.parts if not part.is_verb}
    first = next((part.key for part in one.parts if not part.is_owner), "")
    return bool(verbs & nouns) and any(
        key == first and not ours[key].link and theirs[key].link == "of" for key in (a, b)
    )


def phrase_of(sense: Sense, part: Part, items: frozenset[frozenset[str]]) -> frozenset[str]:
    """Return the words of the noun phrase of a word, with names and owners in it; in a list, its item."""
    item = next((item for item in items if part.key in item), None)
    if item is not None:
        return item
    return frozenset(other.key for other in sense.parts if other.phrase == part.phrase)


def is_of_swap(a: str, b: str, ours: dict[str, Part], theirs: dict[str, Part]) -> bool:
    """Return whether one side says "the venom of wasps" and the other "wasp venom"."""
    first, second = sorted((a, b), key=lambda key: ours[key].at)
    is_near = 0 < theirs[first].at - theirs[second].at <= MAX_BETWEEN
    return ours[second].link in ("of", "for") and is_near and ours[first].link != ours[second].link


def is_turned(one: Sense, other: Sense) -> bool:
    """Return whether both sides of an "is" that says what is the same are turned: "my boss is Ana"."""
    ours, theirs = sides_of(one), sides_of(other)
    return bool(ours and theirs) and ours == (theirs[1], theirs[0])


def sides_of(sense: Sense) -> tuple[frozenset[str], ...]:
    """Return the words before and after an "is" that says what is the same; nothing for any other verb."""
    tokens = sense.tokens
    at = next((place for place, token in enumerate(tokens) if token.text in ("is", "are", "was", "were")), None)
    if (
        at is None
        or sense.verb not in ("be", "call", "name")
        or (tokens[at + 1 : at + 2] and tokens[at + 1].text in ("a", "an"))
    ):
        return ()
    added = frozenset().union(*LIGHT_BESIDE["name"])
    words = [part for part in sense.parts if part.key not in added and part.key != SPEAKER]
    return frozenset(part.key for part in words if part.at < at), frozenset(part.key for part in words if part.at > at)

"""Whether two texts say the same in other words.

All of their words must be the same, but for words that add nothing; the values, names and negations must be the same,
and no person may have changed places.
"""

from dataclasses import replace

from apps.rules.domain.contradiction.lexicon import key_of
from apps.rules.domain.contradiction.quantities import MONEY
from apps.rules.domain.contradiction.restatement.phrasings import LIGHT_ALWAYS, LIGHT_BESIDE, family_of
from apps.rules.domain.contradiction.restatement.places import has_same_links, keeps_places
from apps.rules.domain.contradiction.restatement.same_values import have_same_values
from apps.rules.domain.contradiction.restatement.senses import MAX_CHARS, SPEAKER, WHEN, Part, Sense, sense_of
from apps.rules.domain.contradiction.text import Kind, Passage, analyse

# Cosine below which the same words are not believed to say the same.
FAR = 0.5
# Words that two texts may have different before they are brought to one phrasing.
MAX_REPHRASED = 8
# A longer name has no shorter form: "Dr", "EUR", "Sat".
LONGEST_SHORT = 4
# Words and values in common, the speaker among them.
MIN_SHARED = 2
# What may be said anywhere; what two are to each other.
_LASTING = frozenset(family_of(key_of(word)) for word in ("married", "born"))
_LIGHT = frozenset(map(family_of, LIGHT_ALWAYS)) | {SPEAKER}
_NOTHING: frozenset[str] = frozenset()
_OWNING = frozenset((family_of(key_of("own")),))


def says_the_same(first: str, second: str, similarity: float | None) -> bool:
    """Return whether two short texts say the same. Symmetric. Accepts any str.

    similarity: the cosine of the texts, None where it is not known; then only the words count.
    """
    if max(len(first), len(second)) > MAX_CHARS or (similarity is not None and similarity < FAR):
        return False
    if not are_alike(first, second):
        return False
    one, other = sense_of(first), sense_of(second)
    if one is None or other is None:
        return False
    if one.statement.tense is not other.statement.tense:
        return False
    # Of what is asked for the mood may not be seen: "use tabs", "please use tabs".
    if one.statement.mood is not other.statement.mood and (SPEAKER in one.keys or SPEAKER in other.keys):
        return False
    return are_equal(one, other)


def are_alike(first: str, second: str) -> bool:
    """Return whether two texts have a word in common, and not too many others or another name; saves reading them."""
    ours, names = analyse(first).once(families_and_names)
    theirs, their_names = analyse(second).once(families_and_names)
    if ours.isdisjoint(theirs) or len(ours ^ theirs) > MAX_REPHRASED:
        return False
    return names <= theirs and their_names <= ours


def families_and_names(passage: Passage) -> tuple[frozenset[str], frozenset[str]]:
    """Return the families of the content words of a passage, and those of its names that are no short form."""
    names = [
        family_of(token.key)
        for token in passage.whole.tokens
        if token.name and token.text.isalpha() and len(token.text) > LONGEST_SHORT
    ]
    return frozenset(map(family_of, passage.whole.content)), frozenset(names)


def are_equal(one: Sense, other: Sense) -> bool:
    """Return whether two statements say the same."""
    if not are_of_one_kind(one, other) or not deny_the_same(one, other) or one.amounts != other.amounts:
        return False
    if one.persons - {SPEAKER} != other.persons - {SPEAKER} or not have_same_values(one, other):
        return False
    ours, theirs = join_compounds(one, other)
    left, right = ours.keys - theirs.keys - _LIGHT, theirs.keys - ours.keys - _LIGHT
    shared = len(ours.keys & theirs.keys) + bool(one.values) - (SPEAKER in ours.keys ^ theirs.keys)
    if (
        not ours.keys & theirs.keys - {SPEAKER}
        or shared < MIN_SHARED
        or not (left | right <= _NOTHING or is_light(left, right, ours, theirs))
    ):
        return False
    return has_same_links(ours, theirs) and keeps_places(ours, theirs)


def deny_the_same(one: Sense, other: Sense) -> bool:
    """Return whether two statements deny the same; of a list any item may be the first: "no gluten or soy"."""
    listed = frozenset().union(*(item for items in one.lists & other.lists for item in items))
    ours, theirs = (
        [" ".join(word for word in denied.split() if word not in listed) for denied in sense.denied]
        for sense in (one, other)
    )
    return sorted(ours) == sorted(theirs)


def are_of_one_kind(one: Sense, other: Sense) -> bool:
    """Return whether both say what happened, or both what holds; who married is married."""
    return one.is_event == other.is_event or bool(_LASTING & one.keys & other.keys)


def is_light(left: frozenset[str], right: frozenset[str], one: Sense, other: Sense) -> bool:
    """Return whether the words that only one side has add nothing beside the values of both: "lasts", "takes"."""
    if left | right <= _OWNING and any(
        token.text in ("have", "has", "own", "owns") for token in (*one.tokens, *other.tokens)
    ):
        return True
    groups = [group for kind in kinds_of(one) & kinds_of(other) for group in LIGHT_BESIDE.get(kind, ())]
    if not left or not right:
        return left | right <= frozenset().union(*groups)
    return any(left | right <= group for group in groups)


def kinds_of(sense: Sense) -> frozenset[str]:
    """Return the kinds of values in a statement: units, "money", "number", "when", "name"."""
    found = set()
    for token in sense.tokens:
        if token.kind in WHEN:
            found.add("when")
        elif token.kind is Kind.NUMBER:
            found.add("money" if token.unit in MONEY else token.unit or "number")
        elif token.name:
            found.add("name" if token.text.isalpha() else "identifier")
    return frozenset(found)


def join_compounds(one: Sense, other: Sense) -> tuple[Sense, Sense]:
    """Return both with words joined that the other one writes as one: "time out", "timeout"."""
    return join_as(one, other), join_as(other, one)


def join_as(sense: Sense, other: Sense) -> Sense:
    """Return a statement with two neighbouring words joined where the other one has them as one."""
    parts = list(sense.parts)
    tokens = sense.tokens
    whole = {token.text.rstrip("s"): token for token in other.tokens if token.is_content}
    texts = [token.text for token in tokens]
    for at in range(len(texts) - 1):
        joined = f"{texts[at]}{texts[at + 1]}".rstrip("s")
        if joined in whole and joined not in {text.rstrip("s") for text in texts}:
            parts = [part for part in parts if part.at not in (at, at + 1)]
            parts.append(Part(family_of(whole[joined].key), "", at, False, False))
            parts.sort(key=lambda part: part.at)
            break
    return replace(sense, parts=tuple(parts))

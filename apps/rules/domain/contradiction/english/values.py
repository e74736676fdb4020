"""Another value of the same thing: a date, a number, a place, a name."""

from dataclasses import dataclass

from apps.rules.domain.contradiction.english import vocabulary as lists
from apps.rules.domain.contradiction.english.differences import (
    Difference,
    differences,
    follows_preposition,
    is_one_difference,
)
from apps.rules.domain.contradiction.english.states import (
    ACT,
    NOTICE,
    Judged,
    as_state,
    grains,
    is_total,
    kind_of,
    part_target,
    says_change,
    written,
)
from apps.rules.domain.contradiction.evidence import Reason
from apps.rules.domain.contradiction.frames import PREPOSITIONS, Frame, key_of_token, keys_of
from apps.rules.domain.contradiction.lexicon import are_exclusive, are_opposites, key_of, size_of
from apps.rules.domain.contradiction.text import VALUES, Token, TokenKind
from apps.rules.domain.contradiction.words import SINGLE_VALUED
from apps.rules.domain.statements.english_verbs import BEGINNING, CHANGING
from apps.rules.domain.statements.statement import Mood


def find_new_value(old: Frame, new: Frame) -> Judged:
    """Return that the same is said of the same subject with something else in one place."""
    if old.subject_keys != new.subject_keys or old.is_negative or new.is_negative or not old.is_definite:
        return None
    if not are_comparable(old, new):
        return None
    found = next((one for one in differences(old, new) if is_one_difference(one)), None)
    if found is None:
        return None
    score = judge(old, new, found)
    last = next((token for token in reversed(old.subject) if token.is_content), None)
    is_one_of_several = bool(old.subject_words & lists.RELATIVES) and not (last and last.name)
    if is_one_of_several and not says_change(new) and not new.is_event:
        score = min(score, NOTICE)
    return (
        (Reason.REPLACED if score else Reason.VALUE, score, written(found.old), written(found.new)) if score else None
    )


def are_comparable(old: Frame, new: Frame) -> bool:
    """Return whether two verbs say the same, or the newer one that what the older one says has changed."""
    if old.relation == new.relation:
        return old.is_event == new.is_event or old.relation == "live"
    pair = {old.verb, new.verb}
    is_passive = bool(old.group) and old.group[0].text in ("is", "are") and not old.is_doing
    if new.is_changed and (is_passive or (old.verb == "have" and kind_of(new.rest).startswith("number"))):
        return True
    if pair <= {"be", "cost", "weigh", "last", "locate", "park", "base", "happen", "meet", "schedule", "call", "set"}:
        return True
    if {old.relation, new.relation} <= {"live", "move"}:
        return True
    is_home = old.relation == "live" and new.verb == "be" and new.statement.changes
    if is_home and new.rest and any(token.text in lists.PLACES for token in new.rest[:2]):
        return True
    is_employed = new.verb == "be" and bool(new.rest) and new.rest[0].text in ("with", "at") and new.statement.changes
    return old.relation == "work" and (is_employed or (new.verb in BEGINNING and new.is_event))


@dataclass(frozen=True)
class Slot:
    """The place in which two statements differ, with what is needed to judge it.

    kinds: of what is said there. is_thing: the subject is no person. changes: the newer side says that something has
    changed. links: the prepositions there. is_sized: both are of one size, not a city and its country.
    """

    old: Frame
    new: Frame
    found: Difference
    kinds: tuple[str, str]
    is_thing: bool
    changes: bool
    links: tuple[list[str], list[str]]
    is_sized: bool

    @property
    def kind(self) -> str:
        """Return the kind where both are of one, else ""."""
        return self.kinds[0] if self.kinds[0] == self.kinds[1] else ""

    @property
    def is_beside(self) -> bool:
        """Return whether more is shared than the subject and the verb."""
        return bool(self.found.common)

    @property
    def is_opposed(self) -> bool:
        """Return whether one word differs, and is the opposite of the other."""
        old, new = self.found.old, self.found.new
        return len(old) == len(new) == 1 and are_opposites(old[0].key, new[0].key)


def judge(old: Frame, new: Frame, found: Difference) -> float:
    """Return how surely two different words in one place exclude each other, 0 for not at all."""
    first, second = ([side[0].text] if side[0].text in PREPOSITIONS else [] for side in (found.old, found.new))
    slot = Slot(
        old=old,
        new=new,
        found=found,
        kinds=(kind_of(found.old), kind_of(found.new)),
        is_thing=old.subject_keys != lists.SPEAKER and old.head not in lists.PERSONS_AND_RELATIVES and not old.is_named,
        changes=says_change(new),
        links=(first, second),
        is_sized=size_of(keys_of(found.old)) == size_of(keys_of(found.new)),
    )
    for rule in (judge_value, judge_relation, judge_identity):
        score = rule(slot)
        if score is not None:
            return score
    is_place = slot.is_thing and old.verb in lists.LOCATING and bool(set(slot.links[0] + slot.links[1]) & lists.PLACES)
    return NOTICE if slot.changes or is_place else 0.0


def judge_value(slot: Slot) -> float | None:
    """Judge two values: times of a thing, counts of the same, codes. None for other words."""
    ours, theirs = slot.kinds
    if slot.kind == "when":
        is_sized = bool(grains(slot.found.old) & grains(slot.found.new))
        is_one_of_many = (
            slot.old.verb in lists.DEPARTING and bool(slot.old.subject) and slot.old.subject[0].text == "the"
        )
        if (is_one_of_many or slot.old.is_event) and not slot.changes:
            return 0.0
        return ACT if is_sized and (slot.changes or (slot.is_thing and not slot.old.is_event)) else NOTICE
    if "when" in slot.kinds and "number  " in slot.kinds:
        return ACT if slot.changes else NOTICE
    if slot.kind == "code":
        return ACT if slot.changes or slot.is_thing else NOTICE
    if not (ours.startswith("number") or theirs.startswith("number")):
        return None
    is_bare = min(ours, theirs, key=len).split() == ["number"]
    is_counted = bool(slot.kind) or (is_bare and (slot.is_beside or slot.changes))
    if not is_counted:
        return NOTICE if slot.changes and slot.is_thing else 0.0
    rest = slot.old.rest
    at = next((place for place, token in enumerate(rest) if token is slot.found.old[0]), 0)
    if at and rest[at - 1].text in ("a", "an") and not slot.changes:  # one of several: "a 5 year old son"
        return 0.0
    # A number that names a thing rather than counts any: "item 2", "room 5".
    at = next((place for place, token in enumerate(rest) if token.kind is TokenKind.NUMBER), 0)
    is_last = at + 1 >= len(rest) or not rest[at + 1].is_content
    is_numbered = at > 0 and rest[at - 1].is_content and is_last and not rest[at].unit
    if is_numbered and not slot.changes and (slot.old.verb in lists.MANY or not slot.is_thing):
        return 0.0
    is_running = is_total(slot.old) and is_total(slot.new) and bool(slot.kind)
    return ACT if slot.changes or is_running or not slot.old.is_event else NOTICE


def judge_relation(slot: Slot) -> float | None:
    """Judge the one value of a relation: where a person lives, works, whom they report to. None for others."""
    old = slot.old
    relation = "live" if old.relation == "move" else old.relation
    is_beside = relation == "work" and bool(old.rest) and old.rest[0].text not in lists.EMPLOYED_BY
    if is_beside and not slot.changes:
        return NOTICE
    if relation in ("name", "attend", "report") and slot.kind == "name":
        is_one = slot.changes or (bool(old.subject_words) and all(token.text != "are" for token in old.group))
        return ACT if relation != "name" or is_one else NOTICE
    if relation == "live" and any(side.rest and side.rest[0].text == "with" for side in (old, slot.new)):
        return NOTICE if slot.changes else 0.0
    if relation in ("live", "work") and slot.new.relation in lists.STARTING_RELATIONS:
        if not slot.is_sized:
            return NOTICE
        return ACT if slot.kind == "name" or slot.new.is_event or slot.changes else NOTICE
    is_other = slot.kind == "name" or slot.is_opposed
    return ACT if old.verb in ("want", "prefer") and slot.is_beside and is_other else None


def judge_identity(slot: Slot) -> float | None:
    """Judge what a thing is: who has a role, its one attribute, where it is, words that exclude each other."""
    old, (first, second) = slot.old, slot.links
    is_order = old.statement.mood is slot.new.statement.mood is Mood.COMMAND
    if is_order and follows_preposition(old, slot.found):  # "please reply in Dutch"
        return ACT
    if old.verb == "be":
        is_attribute = slot.is_thing and old.head in SINGLE_VALUED | lists.ATTRIBUTES
        if is_attribute and first == second and slot.is_sized:
            return ACT
        is_role = old.head not in lists.RELATIVES and old.subject_keys != lists.SPEAKER and not old.is_named
        if slot.kind == "name" and is_role and not first and not second:
            return ACT
    if slot.is_thing and old.verb in lists.LOCATING and first and first[:1] == second[:1] and first[0] in lists.PLACES:
        return ACT if slot.is_sized and not slot.is_beside else NOTICE
    if old.verb != "be" or len(slot.found.old) != 1 or len(slot.found.new) != 1:
        return None
    is_opposed = slot.is_opposed and (slot.is_thing or slot.changes)
    return ACT if is_opposed or are_exclusive(slot.found.old[0].key, slot.found.new[0].key) else None


def find_changed_value(old: Frame, new: Frame) -> Judged:
    """Return that a thing was changed to another value: "we postponed the wedding to September 20"."""
    if new.verb not in CHANGING or not (new.is_event or says_change(new)) or old.is_negative or new.is_negative:
        return None
    thing, target = part_target(new)
    passive = new.subject_keys == old.subject_keys and not thing
    named = new.subject_words if passive else keys_of(thing)
    if new.verb == "rename" and not target and thing:
        named, target = keys_of(thing[:-1]), thing[-1:]
    value = keys_of(target)
    if not value or (not named and new.subject_keys != lists.SPEAKER) or value <= old.content:
        return None
    if passive and new.subject_keys == lists.SPEAKER:
        shared = old.said & keys_of(target)
        is_alike = kind_of(old.rest) == kind_of(target) and (bool(shared) or kind_of(target).startswith("number"))
        return (Reason.REPLACED, ACT, written(old.rest), written(target)) if is_alike else None
    said = old.subject_words | old.said
    # All of what the older statement is about, and nothing that it is not about: "the guest router".
    if not passive and not (old.subject_words <= named <= said):
        return None
    if old.subject_keys == lists.SPEAKER and not passive and not (named & old.said):
        return None
    ours, theirs = kind_of(old.rest), kind_of(target)
    if (
        ours == theirs
        or (ours.startswith("number") and theirs.startswith("number"))
        or new.verb in ("rename", "promote", "appoint")
    ):
        return Reason.REPLACED, ACT, written(old.rest), written(target)
    return Reason.CHANGE, NOTICE, written(old.rest), written(target)


def find_value_of(old: Frame, new: Frame) -> Judged:
    """Return that what the older statement mentions has another value now.

    "User pays 1,150 euros in rent", "the rent went up to 1,240 euros".
    """
    new = as_state(new)
    about = new.subject_words
    if not new.is_changed or not about or not about <= old.content or old.is_negative or old.is_event:
        return None
    ours, theirs = phrase_of_kind(old, kind_of(new.rest)), new.rest
    if not ours or keys_of(ours) & keys_of(theirs):
        return None
    return Reason.REPLACED, ACT, written(ours), written(theirs)


def phrase_of_kind(frame: Frame, kind: str) -> tuple[Token, ...]:
    """Return the only value of a statement that is of the kind of another one; empty for none or several."""
    if kind == "when":
        found = [token for token in frame.rest if token.kind in lists.WHEN]
    elif kind.startswith("number"):
        unit = kind.split(" ")[1]
        found = [
            token
            for token in frame.rest
            if token.kind is TokenKind.NUMBER and token.unit == unit and not token.function
        ]
    else:
        return ()
    return tuple(found) if len({token.kind for token in found}) == len(found) else ()


def find_corrected(old: Frame, new: Frame) -> Judged:
    """Return that a correction names another value only: "sorry, I meant 15 May for my birthday"."""
    if not new.statement.corrects or old.is_event:
        return None
    kinds = {token.kind: token for token in old.tokens if token.kind in VALUES}
    given = [token for token in new.tokens if token.kind in VALUES]
    others = new.content - {key_of_token(token) for token in given} - {key_of(new.verb)} - lists.APOLOGIES
    if len(given) != 1 or given[0].kind not in kinds or not others <= old.content:
        return None
    known = kinds[given[0].kind]
    if known.unit != given[0].unit or known.key == given[0].key:
        return None
    return Reason.REPLACED, ACT, known.text, given[0].text

"""What a statement says of a state, in a form that another one can be compared with."""

from collections.abc import Sequence
from dataclasses import replace

from apps.rules.domain.contradiction.english.vocabulary import (
    ADVERBS_OF_MOTION,
    FURTHER_GOALS,
    GOALS,
    PERSONS_AND_RELATIVES,
    SEASONS,
    SPEAKER,
    TURNING,
    WHEN,
)
from apps.rules.domain.contradiction.evidence import Reason
from apps.rules.domain.contradiction.frames import CUES, DEFINITE, PREPOSITIONS, Frame, keys_of
from apps.rules.domain.contradiction.text import VALUES, Token, analyse
from apps.rules.domain.contradiction.words import MONTHS
from apps.rules.domain.statements.english_verbs import CHANGING

ACT, NOTICE = 0.9, 0.7
Judged = tuple[Reason, float, str, str] | None


def says_change(frame: Frame) -> bool:
    """Return whether a statement says that something changed, or corrects what was said."""
    return frame.statement.changes or frame.statement.corrects or frame.is_changed


def as_state(frame: Frame) -> Frame:
    """Return the state that a change leads to: "the TTL was raised to 900" as "the TTL is 900"."""
    if frame.state is not None:
        return frame.state
    found = find_state(frame)
    if found is not frame:  # which would refer to itself
        object.__setattr__(frame, "state", found)
    return found


def find_state(frame: Frame) -> Frame:
    """Return the same as `as_state`, which remembers it."""
    if frame.verb == "be" and [token.text for token in frame.rest[:2]] in (["down", "to"], ["up", "to"]):
        return replace(frame, rest=frame.rest[2:], is_changed=True)
    if frame.verb not in CHANGING or not frame.is_event or frame.is_negative:
        return frame
    if frame.verb == "become":
        return replace(frame, group=(), verb="be", is_changed=True)
    thing, target = part_target(frame)
    is_of_other = thing and frame.subject_words and thing[0].text not in DEFINITE
    is_move = (
        not thing and frame.subject_keys == SPEAKER and frame.verb not in ("promote", "appoint", "transfer", "upgrade")
    )
    if not target or is_of_other or is_move:
        return frame
    return replace(frame, subject=thing or frame.subject, group=(), verb="be", rest=target, is_changed=True)


def resolve(old: Frame, new: Frame) -> tuple[Frame, Frame]:
    """Return two frames, the newer one with the older subject where it only refers to it: "she"."""
    first = new.subject[0].text if len(new.subject) == 1 else ""
    if old.subject_keys == new.subject_keys or old.subject_keys == SPEAKER:
        return old, new
    names = frozenset(token.key for token in old.subject if token.name)
    if new.subject_words and new.subject_words <= names:  # "my sister Imogen", "Imogen"
        return old, replace(new, subject=old.subject)
    said = keys_of(analyse(new.statement.text).whole.tokens)
    is_pronoun = first in ("he", "she", "it", "they")
    is_shorter = bool(new.subject_words) and new.subject_words < old.subject_words
    if (is_pronoun or is_shorter) and old.subject_words and old.subject_words <= said:
        return old, replace(new, subject=old.subject)
    return old, new


def part_target(frame: Frame) -> tuple[tuple[Token, ...], tuple[Token, ...]]:
    """Return what is changed, and what it is changed to: "the wedding", "September 20"."""
    rest = tuple(token for token in frame.rest if token.text not in CUES)
    goals = GOALS | FURTHER_GOALS.get(frame.verb, frozenset())
    found = [at for at, token in enumerate(rest) if token.text in goals]
    if not found:
        return rest, ()
    thing = tuple(token for token in rest[: found[0]] if token.text not in ADVERBS_OF_MOTION)
    target = rest[found[0] + 1 :]
    named = phrase(target)
    return thing, target if kind_of(named) == "when" else named or target


def written(tokens: Sequence[Token]) -> str:
    """Return the text of some words."""
    return " ".join(token.text for token in tokens)


def phrase(tokens: Sequence[Token]) -> tuple[Token, ...]:
    """Return the first noun phrase: up to a preposition, a verb or "and"."""
    if tokens and tokens[0].text in ("and", "or", "but"):
        return ()
    end = next(
        (
            at
            for at, token in enumerate(tokens)
            if at and (token.text in PREPOSITIONS or token.text in ("and", "or", "but"))
        ),
        len(tokens),
    )
    return tuple(tokens[:end])


def is_done(frame: Frame) -> bool:
    """Return whether something has happened, also to the subject: "was laid off"."""
    return frame.is_event or any(token.text in ("was", "were", "been", "got") for token in frame.group)


def turning(frame: Frame) -> frozenset[str]:
    """Return the words that turn the meaning of what is near them."""
    return frozenset(token.text for token in frame.tokens) & TURNING


def are_of_others(old: Frame, new: Frame) -> bool:
    """Return whether two statements are about different ones: each subject has a word that the other side lacks.

    What another person does is not what the speaker does.
    """
    for one, other in ((old, new), (new, old)):
        is_person = bool(other.subject_words & PERSONS_AND_RELATIVES) or (other.is_named and bool(other.subject_words))
        if one.subject_keys == SPEAKER and is_person and other.subject_words - one.content:
            return True
    return bool(old.subject_words - new.content) and bool(new.subject_words - old.content)


def kind_of(tokens: Sequence[Token]) -> str:
    """Return what kind of thing some words are: "when", "number" with what is counted, "place", "name", "words"."""
    values = [token for token in tokens if token.kind in VALUES]
    if any(token.kind in WHEN or token.text in MONTHS or token.text in SEASONS for token in tokens):
        return "when"
    if any(token.name and not token.text.isalpha() for token in tokens) and not values:
        return "name"
    if not values and any(character.isdigit() for token in tokens for character in token.text):
        return "code"
    if values and any(token.name for token in tokens):
        return "name"
    if values:
        counted = " ".join(sorted(key for key in keys_of(tokens) if ":" not in key))
        return f"number {values[0].unit} {counted}"
    if any(token.name for token in tokens):
        return "name"
    return "words"


def grains(tokens: Sequence[Token]) -> frozenset[str]:
    """Return how exact a time is: by the day, the month, the season, the hour."""
    found = {token.kind.value for token in tokens if token.kind in WHEN}
    found |= {"month" for token in tokens if token.text in MONTHS} | {
        "season" for token in tokens if token.text in SEASONS
    }
    return frozenset(found)


def is_total(frame: Frame) -> bool:
    """Return whether it says how much has come about so far: "has learned 1,200 words"."""
    return frame.is_event and any(token.text in ("has", "have") for token in frame.group)

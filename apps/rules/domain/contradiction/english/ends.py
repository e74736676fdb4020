"""States that end, and minds that change."""

from collections.abc import Sequence

from apps.rules.domain.contradiction.english import vocabulary as lists
from apps.rules.domain.contradiction.english.differences import significant
from apps.rules.domain.contradiction.english.states import ACT, Judged, is_done, phrase, says_change, turning, written
from apps.rules.domain.contradiction.evidence import Reason
from apps.rules.domain.contradiction.frames import DEFINITE, INDEFINITE, Frame, keys_of
from apps.rules.domain.contradiction.lexicon import are_exclusive, are_opposites, key_of
from apps.rules.domain.contradiction.text import Token, analyse
from apps.rules.domain.statements.english_verbs import ENDING

MIN_SHARED = 2


def find_end(old: Frame, new: Frame) -> Judged:
    """Return that the newer statement ends the state of the older one: "I own a car", "I sold my car"."""
    if old.is_event or old.is_negative:
        return None
    ended = written((*new.subject, *new.group, *new.rest))
    if is_over(old, new) or (ends_something(new) and is_ended(old, new)):
        return Reason.ENDED, ACT, written((*old.group, *old.rest)), ended
    return None


def is_over(old: Frame, new: Frame) -> bool:
    """Return whether it is said of what the older statement mentions that it is over: "the course is over"."""
    is_said = new.verb == "be" and len(new.rest) <= 2 and any(token.text in lists.OVER for token in new.rest)
    has_happened = new.verb in lists.ENDS and not new.rest[1:] and is_done(new)
    has_died = new.verb == "die" or (new.verb == "pass" and bool(new.rest) and new.rest[0].text == "away")
    if has_died and is_done(new):
        return old.verb in ("have", "own", "keep") and bool(new.subject_words) and new.subject_words <= old.content
    if not (is_said or has_happened) or new.is_negative or not new.subject_words:
        return False
    head = next((token.key for token in reversed(phrase(old.rest)) if token.is_content), "")
    is_it = head in new.subject_words or new.subject_words == old.subject_words or len(new.subject_words) > 1
    return new.subject_words <= old.content and is_it


def ends_something(new: Frame) -> bool:
    """Return whether a statement says that something was ended: "sold", "gave up", "was laid off"."""
    particles = lists.ENDING_WITH.get(new.verb, ())
    is_let = new.verb == "let" and any(token.text in lists.LAPSING for token in new.rest)
    is_handed = new.verb == "hand" and any(token.text == "to" for token in new.rest)
    is_end = (
        is_let
        or is_handed
        or new.verb in ENDING | lists.COMPLETING | lists.DISMISSING
        or (bool(new.rest) and new.rest[0].text in particles)
    )
    return is_end and is_done(new)


def is_ended(old: Frame, new: Frame) -> bool:
    """Return whether what a statement ends is what the older one is about."""
    rest = new.rest[1:] if new.rest and new.rest[0].text in lists.ADVERBS_OF_MOTION else new.rest
    if new.verb == "let":
        rest = tuple(token for token in rest if token.text not in lists.LAPSING)
    thing = phrase(rest)
    ended = keys_of(thing)
    is_contract = bool(ended) and ended <= lists.CONTRACTS and len(rest) > len(thing)
    if is_contract and rest[len(thing)].text in ("with", "for", "at", "to", "of"):
        ended = keys_of(phrase(rest[len(thing) + 1 :]))
    ended = ended - lists.CONTRACTS or ended
    is_same = old.subject_keys == new.subject_keys
    if is_same and new.verb in lists.CANCELLING_CONTRACTS and not ended:
        return True
    if not ended or (thing and thing[0].text in INDEFINITE and thing[0].text != "some"):
        return False
    if new.verb == "hand" or (new.verb == "move" and new.rest[0].text == "out"):
        return is_same and ended <= old.content
    if new.verb in lists.COMPLETING:
        return is_same and old.verb in lists.PREPARING and ended <= old.said | {key_of(old.verb)}
    if new.verb in lists.CANCELLING and (
        ended == old.subject_words or (not old.subject_words and ended <= old.content)
    ):
        return True
    # What our things are made with, by its name: "our internet comes from Vodafone", "we left Vodafone".
    names = frozenset(token.key for token in old.rest if token.name)
    is_of_ours = bool(old.subject) and old.subject[0].text in ("our", "my") and new.subject_keys == lists.SPEAKER
    if is_of_ours and new.verb in lists.LEAVING and ended and ended <= names:
        return True
    # The thing itself, not something about it: "the roof rack of my car".
    known = old.said | ({key_of(old.verb)} if old.verb in lists.POSSESSING else set())
    return is_same and ended <= known and (old.verb in lists.POSSESSING or new.verb in lists.CANCELLING)


def find_change_of_mind(old: Frame, new: Frame) -> Judged:
    """Return that the same subject likes what it disliked, or does what it did not do."""
    if not (old.is_definite and new.is_definite):
        return None
    ours, theirs = old.said, new.said
    if not theirs and any(token.text in ("it", "them", "that") for token in new.rest):
        theirs = ours if ours and ours <= keys_of(analyse(new.statement.text).whole.tokens) else theirs
    if old.subject_keys != new.subject_keys:
        # The same words are denied with another subject: "the insurance covers it", "it isn't covered by".
        is_same = old.content == new.content and len(old.content) >= MIN_SHARED and turning(old) == turning(new)
        is_turned_round = is_same and old.is_negative != new.is_negative and says_change(new)
        return (Reason.NEGATION, ACT, old.statement.body, new.statement.body) if is_turned_round else None
    pair = written((*old.group, *old.rest)), written((*new.group, *new.rest))
    if attitude_of(old) * attitude_of(new) < 0 and ours == theirs and ours:
        return Reason.OPPOSITE, ACT, *pair
    if is_reversed(old, new):
        return Reason.REPLACED, ACT, *pair
    if old.verb == "be" and len(ours) == 1 and not old.is_negative and not new.is_negative:
        [state] = ours
        # A thing was brought to the opposite of its state: "the ticket is open", "was closed".
        if is_done(new) and are_opposites(state, key_of(new.verb)):
            return Reason.OPPOSITE, ACT, *pair
        # A person is something that excludes what they were: "I'm single", "I'm engaged to Ana".
        is_state = bool(new.group) and not new.is_doing and not new.is_event
        if is_state and are_exclusive(state, key_of(new.group[-1].text)):
            return Reason.ATTRIBUTE, ACT, *pair
    is_denied = old.is_negative != new.is_negative and old.relation == new.relation
    return (Reason.NEGATION, ACT, *pair) if is_denied and is_turned(old, new, ours, theirs) else None


def is_turned(old: Frame, new: Frame, ours: frozenset[str], theirs: frozenset[str]) -> bool:
    """Return whether one statement denies all of the other, and nothing narrower. ours, theirs: what is said."""
    is_never = any(token.text == "never" for token in new.group) and any(":" not in key for key in theirs)
    if is_never and theirs <= ours:
        return True
    if ours == theirs and ours and turning(old) == turning(new) and new.statement.bounds == old.statement.bounds:
        return True
    is_within = ours <= theirs if old.is_negative else theirs <= ours
    could_not = old.is_negative and any(token.text in ("cant", "cannot", "couldnt") for token in old.group)
    return is_within and (could_not or (says_change(new) and (bool(ours) or old.verb not in ("be", "have"))))


def attitude_of(frame: Frame) -> int:
    """Return 1 for a liking, -1 for a dislike, 0 for neither."""
    verbs = [token for token in frame.group if not token.negator]
    if frame.verb in lists.BEARS:
        return -1 if frame.is_negative else 0
    if frame.verb in lists.LIKES:
        return -1 if any(token.negator for token in frame.group) else 1
    return -1 if frame.verb in lists.DISLIKES and len(verbs) == len(frame.group) else 0


def is_reversed(old: Frame, new: Frame) -> bool:
    """Return whether of two things the other one is preferred now: "tea over coffee", "coffee over tea"."""
    ours, theirs = significant(old.rest), significant(new.rest)
    if old.verb != "prefer" or new.verb != "prefer" or not any(token.text in ("over", "to") for token in ours):
        return False
    one, other = ([token.key for token in side if token.is_content] for side in (ours, theirs))
    return one != other and sorted(one) == sorted(other) and one == other[::-1]


def find_replacement(old: Frame, new: Frame) -> Judged:
    """Return that the newer statement names what it replaces: "from X to Y", "Y instead of X", "swapped X for Y"."""
    if old.is_negative or old.is_event:
        return None
    gone = replaced_in(new)
    left, value = keys_of(gone), old.said
    if left and left == old.subject_words == new.subject_words:
        return Reason.REPLACED, ACT, written(gone), written(new.rest)
    is_whole = left == value or any(token.name and token.key in left for token in old.rest)
    if not left or not left <= value or not is_whole:
        return None
    if old.subject_keys != lists.SPEAKER and not (old.subject_words & new.content) and new.subject_words - old.content:
        return None
    return Reason.REPLACED, ACT, written(gone), written(new.rest)


def replaced_in(new: Frame) -> Sequence[Token]:
    """Return the words for what a statement says is replaced; none where it does not say."""
    words = [token.text for token in new.rest]
    is_passive = new.group[:1] and new.group[0].text in ("was", "were", "has", "have", "got")
    for at, word in enumerate(words):
        goal = next((place for place in range(at + 1, len(words)) if words[place] in lists.GOALS), None)
        if word == "from" and goal is not None:
            return new.rest[at + 1 : goal]
        if at and words[at : at + 2] in (["instead", "of"], ["rather", "than"]):
            return phrase(new.rest[at + 2 :])
        if (word == "by" and new.verb == "replace" and is_passive) or words[at : at + 2] == ["favour", "of"]:
            return new.subject
        if at and word in ("for", "with", "by") and new.verb in lists.SWAPPING:
            return new.rest[:at]
    return ()


def find_new_holder(old: Frame, new: Frame) -> Judged:
    """Return that another one has a role that one has at a time: "Tomasz is Dad's main carer now"."""
    ours, theirs = old.said, new.said
    role = next((token.key for token in reversed(old.rest) if token.is_content), "")
    is_part = says_change(new) and theirs < ours and any(token.name for token in new.rest)
    if (
        old.relation != new.relation
        or not (ours == theirs or is_part)
        or not ours
        or old.is_negative
        or new.is_negative
        or old.is_event
    ):
        return None
    if old.subject_keys == new.subject_keys or old.subject_keys & new.subject_keys or role in lists.RELATIVES:
        return None
    is_role = old.rest[0].text in DEFINITE or old.rest[0].name or old.verb not in ("be", *lists.MANY)
    is_one = old.is_named or bool(old.subject_words & lists.PERSONS_AND_RELATIVES)
    if not is_role or not is_one or not new.is_definite or "speaker" in old.subject_keys | new.subject_keys:
        return None
    # Also where the sentence says what became of the one before: "Bea switched to sales, so Tom is our contact".
    is_told = bool(old.subject_words and new.subject_words) and old.subject_words <= keys_of(
        analyse(new.statement.text).whole.tokens
    )
    if not says_change(new) and not is_told:
        return None
    return Reason.REPLACED, ACT, written(old.subject), written(new.subject)

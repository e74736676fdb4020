"""Two short statements that are the same but for one place: "lives in Berlin", "lives in Munich"."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from apps.rules.domain.contradiction.evidence import UNLIKELY, Evidence, Reason, as_written
from apps.rules.domain.contradiction.lexicon import are_exclusive, are_opposites, key_of
from apps.rules.domain.contradiction.places import size_of
from apps.rules.domain.contradiction.single import (
    changes,
    has_one,
    is_numbered_place,
    is_port,
    is_predicate,
    is_role,
    is_setting,
    is_state,
    lasts,
    opens,
    takes_one,
)
from apps.rules.domain.contradiction.subjects import are_of_others
from apps.rules.domain.contradiction.text import VALUES, Clause, Kind, Passage, Token, is_identifier
from apps.rules.domain.contradiction.words import (
    ATTITUDES,
    FAVOURITES,
    INDEFINITE,
    OPENING,
    PARTICLES,
    SINGLE_VALUED,
    SOMEBODY,
    STARTING,
    UPDATE_CUES,
)

MAX_TOKENS = 30
MAX_REPLACED = 3
# What differs in a statement about somebody or something certain leaves room for one of the two only.
_MOVE, _LIVE = key_of("move"), key_of("live")
CERTAIN, LIKELY = 0.9, 0.75


@dataclass(frozen=True)
class Place:
    """Where a statement differs from another: its tokens from start to before end."""

    clause: Clause
    start: int
    end: int

    @property
    def tokens(self) -> tuple[Token, ...]:
        """The words that differ, and those without meaning between them."""
        return self.clause.tokens[self.start : self.end]

    @property
    def content(self) -> frozenset[str]:
        """The keys of its words, but for those that only say that something changed."""
        return frozenset(token.key for token in self.tokens if token.is_content and token.key not in UPDATE_CUES)

    @property
    def values(self) -> frozenset[tuple[Kind, str]]:
        """Of which kind and unit its values are."""
        return frozenset((token.kind, token.unit) for token in self.tokens if token.kind in VALUES)

    @property
    def count(self) -> int:
        """How many values it has."""
        return sum(token.kind in VALUES for token in self.tokens)

    @property
    def is_counted(self) -> bool:
        """ "I have 3 cats" and "the price is 5 euros" last; "a 5 year old son" is one of several."""
        before = self.clause.tokens[self.start - 1].text if self.start else ""
        return before not in INDEFINITE and (changes(self.clause) or lasts(self.clause) or has_one(self.clause))

    @property
    def is_certain_time(self) -> bool:
        """ "the meeting is on Monday", "moved to Monday"; not "a meeting on Monday"."""
        return has_one(self.clause) or changes(self.clause) or opens(self.clause, OPENING)

    @property
    def is_of_ours(self) -> bool:
        """A time of day of something of one's own, or of what begins: "my flight leaves at 7:15"."""
        ours = self.clause.tokens[0].text in ("my", "our") or opens(self.clause, STARTING)
        return self.kinds == {Kind.TIME} and ours

    @property
    def kinds(self) -> frozenset[Kind]:
        """Of which kind its values are."""
        return frozenset(kind for kind, _ in self.values)

    @property
    def is_state(self) -> bool:
        """It is how a certain thing is."""
        return is_state(self.clause, self.start, self.end)

    @property
    def is_role(self) -> bool:
        """It plays a part that one plays."""
        return is_role(self.clause, self.start, self.end)

    @property
    def is_certain_value(self) -> bool:
        """Whatever else is said, it is a value of a certain thing."""
        opening = self.kinds == {Kind.TIME} and opens(self.clause, OPENING | STARTING)
        return opening or (self.kinds == {Kind.NUMBER} and is_setting(self.clause, self.start))

    @property
    def is_attitude(self) -> bool:
        """What somebody thinks of something: "she [loves] dogs", not "a neighbour [loves] dogs"."""
        if not self.start or not _said(self) <= ATTITUDES or self.clause.tokens[0].text in INDEFINITE:
            return False
        verb = self.clause.tokens[self.start].text
        return self.clause.is_anchored or self.clause.tokens[0].text in SOMEBODY or verb.endswith(("s", "ed"))

    @property
    def is_predicate(self) -> bool:
        """What differs is all that is said of the subject."""
        return is_predicate(self.clause, self.start, self.end)

    @property
    def takes_one(self) -> bool:
        """There is one of what differs."""
        return takes_one(self.clause, self.start)

    @property
    def is_favourite(self) -> bool:
        """It is a favourite, of which there is one."""
        return any(token.key in FAVOURITES for token in self.clause.tokens[: self.start])

    @property
    def is_named(self) -> bool:
        """It is a name, or a word with figures in it."""
        return any(token.name or (token.is_content and not token.text.isalpha()) for token in self.tokens)

    @property
    def names_a_thing(self) -> bool:
        """It is the number of a thing: "room 5"."""
        return any(is_identifier(self.clause, at) for at in range(self.start, self.end))

    @property
    def is_numbered_place(self) -> bool:
        """It is the number of the place where something is: "on port 8080"."""
        return self.names_a_thing and self.end == self.start + 1 and is_numbered_place(self.clause, self.start)


def swap(first: Passage, second: Passage) -> Evidence | None:
    """Evidence from the one place where two short statements differ; None when they differ in more places."""
    if max(len(first.whole.tokens), len(second.whole.tokens)) > MAX_TOKENS:
        return None
    # What the matcher finds may depend on the order of its arguments.
    if _keys(second.whole) < _keys(first.whole):
        turned = swap(second, first)
        return turned and turned.swapped()
    found = _only_difference(first.whole, second.whole)
    judged = _judge(*found) if found else None
    if not found or not judged:
        return None
    reason, score = judged
    differing = (tuple(_text(place) for place in found),)
    common = as_written(first.whole.content & second.whole.content, first)
    return Evidence(reason, score, first.whole.words, second.whole.words, differing, common)  # type: ignore[arg-type]


def _keys(clause: Clause) -> list[str]:
    return [token.key for token in clause.tokens]


def _only_difference(first: Clause, second: Clause) -> tuple[Place, Place] | None:
    if bool(first.negators) != bool(second.negators):
        return None
    common = first.content & second.content
    if max(len(first.content), len(second.content)) - len(common) > MAX_REPLACED:
        return None
    if (not common and _frame(first) != _frame(second)) or are_of_others(first, second):
        return None
    ones, others = significant(first), significant(second)
    matcher = SequenceMatcher(None, _compared(first, ones), _compared(second, others), autojunk=False)
    blocks = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    if len(blocks) != 1 or blocks[0][0] != "replace":
        return None
    _, i, j, k, m = blocks[0]
    if max(j - i, m - k) > MAX_REPLACED:
        return None
    return Place(first, ones[i], ones[j - 1] + 1), Place(second, others[k], others[m - 1] + 1)


def _compared(clause: Clause, places: Sequence[int]) -> list[str]:
    """The keys of some words; who moved to a place lives in it."""
    keys = [clause.tokens[place].key for place in places]
    for at in range(len(keys) - 1):
        if keys[at] == _MOVE:
            keys[at : at + 2] = [_LIVE, "in" if keys[at + 1] == "to" else keys[at + 1]]
    return keys


def _frame(clause: Clause) -> list[str]:
    return [token.text for token in clause.tokens if token.function]


def significant(clause: Clause) -> tuple[int, ...]:
    """Where the words are that make a statement what it is: content, values, and small words that turn the meaning."""
    return tuple(
        place
        for place, token in enumerate(clause.tokens)
        if (token.is_content and token.key not in UPDATE_CUES - SINGLE_VALUED)
        or (token.kind in VALUES and not token.function)
        or token.text in PARTICLES
    )


def _judge(one: Place, other: Place) -> tuple[Reason, float] | None:
    anchored = one.clause.is_anchored and other.clause.is_anchored
    replaced = anchored and one.takes_one and other.takes_one and bool(one.clause.content & other.clause.content)
    if one.values & other.values:
        if replaced and one.content and other.content and one.content != other.content:
            return _judge_replaced(one, other)
        return _judge_values(one, other, anchored)
    opposed = _are(are_opposites, one, other)
    if opposed or _are(are_exclusive, one, other):
        reason, passing = (Reason.OPPOSITE, LIKELY) if opposed else (Reason.ATTRIBUTE, UNLIKELY)
        certain = (one.is_state and other.is_state) or (one.is_attitude and other.is_attitude)
        return reason, CERTAIN if certain else _weighed(anchored, _is_lasting(one, other), passing)
    if replaced:
        return _judge_replaced(one, other)
    if one.is_role and other.is_role and one.clause.content & other.clause.content:
        return Reason.REPLACED, LIKELY
    return None


def _judge_values(one: Place, other: Place, anchored: bool) -> tuple[Reason, float] | None:
    """Nothing but one value may differ: "3 cats" and "2 dogs" are no conflict."""
    if min(one.count, other.count) > 1:
        return None
    if one.content != other.content:
        return None
    if one.is_numbered_place and other.is_numbered_place:
        certain = is_port(one.clause, one.start) and is_port(other.clause, other.start)
        return Reason.VALUE, CERTAIN if certain else LIKELY
    if one.names_a_thing or other.names_a_thing:
        return None
    anchored = anchored or (one.is_certain_value and other.is_certain_value)
    if any(kind is Kind.NUMBER for kind, _ in one.values & other.values):
        return Reason.VALUE, _weighed(anchored, one.is_counted and other.is_counted, LIKELY)
    certain = one.is_certain_time or other.is_certain_time
    lasting = (lasts(one.clause) and lasts(other.clause)) or (one.is_of_ours and other.is_of_ours)
    return Reason.VALUE, _weighed(anchored, certain, LIKELY if lasting else UNLIKELY)


def _judge_replaced(one: Place, other: Place) -> tuple[Reason, float] | None:
    if not (one.content and other.content) or _particles(one) != _particles(other):
        return None
    definite = (one.is_named and other.is_named) or (one.is_favourite and other.is_favourite)
    within = size_of(one.content) != size_of(other.content)
    return Reason.REPLACED, CERTAIN if definite and not within else LIKELY


def _particles(place: Place) -> frozenset[str]:
    return frozenset(token.text for token in place.tokens if token.text in PARTICLES)


def _are(related: Callable[[str, str], bool], one: Place, other: Place) -> bool:
    """Nothing but two words differ, which are related: not "love painting" and "hate sailing"."""
    ours, theirs = (_said(place) for place in (one, other))
    return len(ours) == len(theirs) == 1 and related(*ours, *theirs)


def _said(place: Place) -> frozenset[str]:
    """Its words, particles among them."""
    return frozenset(token.key for token in place.tokens if token.is_content or token.text in PARTICLES)


def _is_lasting(one: Place, other: Place) -> bool:
    return (one.is_predicate or one.takes_one) and (other.is_predicate or other.takes_one)


def _weighed(anchored: bool, certain: bool, passing: float) -> float:
    """passing: the score of what may have happened one way and another time the other way."""
    if not anchored:
        return UNLIKELY
    return CERTAIN if certain else passing


def _text(place: Place) -> str:
    return " ".join(token.text for token in place.tokens)

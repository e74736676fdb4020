"""The place in a damaged JSON text up to which it was read, what is open there, and what was written (pure).

`Cursor` moves on, reads values and opens and closes containers; `json_repair_parser` decides which.
"""

from collections import Counter
from dataclasses import dataclass
from enum import Enum

from apps.llm.domain.json_repair.output import Output
from apps.llm.domain.json_repair.scalars import read_bare, read_call
from apps.llm.domain.json_repair.source import QUOTES, Source
from apps.llm.domain.json_repair.strings import StringEnds, StringPlace, StringSpelling
from apps.llm.domain.json_repair.types import RepairKind, RepairLog, RepairRefusal, RepairRefusedError

_CLOSERS = {"{": "}", "[": "]", "(": ")", "call": ")", "extra": "}"}
WRITTEN = {"{": ("{", "}"), "[": ("[", "]"), "(": ("[", "]"), "call": ("", ""), "extra": ("", "")}


class Expects(Enum):
    """What should come next in a container."""

    MEMBER = "member"
    COLON = "colon"
    VALUE = "value"
    ELEMENT = "element"
    COMMA = "comma"


@dataclass(slots=True)
class Open:
    """What is not closed yet: a container, a function call or a brace too many; of these two nothing is written."""

    opener: str
    expects: Expects
    is_empty: bool = True
    is_lone_word: bool = False

    @property
    def closer(self) -> str:
        return _CLOSERS[self.opener]

    @property
    def next_item(self) -> Expects:
        return Expects.MEMBER if self.opener == "{" else Expects.ELEMENT


class Cursor:
    """One reading of one text from one position."""

    def __init__(self, source: Source, ledger: RepairLog, *, start: int, max_depth: int) -> None:
        self._source = source
        self._ledger = ledger
        self._start = self._at = start
        self._comma_at = start
        self._max_depth = max_depth
        self._output = Output()
        self._stack: list[Open] = []
        self._closers: Counter[str] = Counter()
        self._ends = StringEnds(source)
        self._spelling = StringSpelling(source.text, ledger)

    # -- moving on

    def _char(self) -> str:
        return self._source.char(self._at)

    def _note(self, kind: RepairKind) -> None:
        self._ledger.add(kind, self._at)

    def _drop(self, kind: RepairKind, length: int = 1) -> None:
        self._note(kind)
        self._at += length

    def _space(self) -> None:
        """Keep white space, spelled as JSON does, and leave out comments."""
        while True:
            solid = self._source.solid(self._at)
            if solid > self._at:
                self._keep_space(self._source.text[self._at : solid])
                self._at = solid
            end = self._source.comment_end(self._at)
            if end is None:
                return
            self._drop(RepairKind.COMMENT, end - self._at)

    def _keep_space(self, space: str) -> None:
        if space.strip(" \t\r\n"):
            self._note(RepairKind.WHITESPACE)
            space = "".join(char if char in " \t\r\n" else " " for char in space)
        self._output.put_space(space)

    def _drop_noise(self) -> bool:
        """Leave out an ellipsis with its comma, or end the text at a code fence."""
        if self._source.text.startswith("...", self._at):
            self._drop(RepairKind.ELLIPSIS, 3)
            self._space()
            self._at += self._char() == ","
            return True
        return self._end_at_fence()

    def _end_at_fence(self) -> bool:
        if not self._source.text.startswith("```", self._at):
            return False
        if self._stack and self._stack[-1].is_empty:
            self._drop(RepairKind.FENCE, 3)
        else:
            self._note(RepairKind.FENCE)
            self._source.size = self._at
        return True

    # -- containers

    def _open(self, opener: str) -> None:
        if len(self._stack) >= self._max_depth:
            raise RepairRefusedError(RepairRefusal.TOO_DEEP)
        first = {"{": Expects.MEMBER, "call": Expects.VALUE}.get(opener, Expects.ELEMENT)
        container = Open(opener, first)
        self._stack.append(container)
        self._closers[container.closer] += 1
        if opener != "call":
            self._output.put(WRITTEN[opener][0])
            self._at += 1

    def _pop(self) -> Open:
        container = self._stack.pop()
        self._closers[container.closer] -= 1
        return container

    def _close_unclosed(self, container: Open) -> None:
        if container.opener != "extra":
            self._note(RepairKind.UNCLOSED)
            self._output.insert(WRITTEN[container.opener][1])

    def _strip_comma(self) -> None:
        if not self._stack[-1].is_empty and self._output.ends_with(","):
            self._ledger.add(RepairKind.TRAILING_COMMA, self._comma_at)
            self._output.take_back()

    def _is_member_ahead(self, position: int) -> bool:
        """Whether a comma and the name of a member follow."""
        comma = self._source.ahead(position)
        if self._source.char(comma) != ",":
            return False
        name = self._source.ahead(comma + 1)
        if self._source.char(name) in tuple(QUOTES):
            return self._source.is_quoted_key(name, sure=True)
        return self._source.is_bare_key(name)

    # -- values

    def _value(self, place: StringPlace) -> None:
        char = self._char()
        if char in ("{", "["):
            self._open(char)
        elif char == "(":
            self._note(RepairKind.TUPLE)
            self._open(char)
        elif char in tuple(QUOTES):
            self._string(place)
        else:
            self._bare(place)

    def _bare(self, place: StringPlace) -> None:
        argument = read_call(self._source, self._at)
        if argument is not None:
            self._drop(RepairKind.CALL, argument - self._at)
            self._open("call")
            return
        in_object = place is StringPlace.VALUE
        bare = read_bare(self._source, self._at, in_object=in_object, in_call=self._closers[")"] > 0)
        if bare is None:
            self._not_a_value(place)
            return
        if bare.kind is not None:
            self._note(bare.kind)
        self._output.put(bare.spelled)
        self._at = bare.end

    def _not_a_value(self, place: StringPlace) -> None:
        """A sign that begins nothing is left out; what should have stood here is still expected."""
        if place is StringPlace.ROOT:
            raise RepairRefusedError(RepairRefusal.UNREADABLE if self._stack else RepairRefusal.NO_JSON)
        self._drop(RepairKind.STRAY)
        self._stack[-1].expects = Expects.VALUE if place is StringPlace.VALUE else Expects.ELEMENT

    def _string(self, place: StringPlace) -> None:
        self._output.put('"' + self._string_content(place))
        self._output.put('"')
        while self._is_concatenated():
            self._concatenate(place)

    def _string_content(self, place: StringPlace) -> str:
        opening = self._at
        tripled = self._tripled_content(opening)
        if tripled is not None:
            return tripled
        end = self._ends.find(opening, place, (container.closer for container in self._stack))
        if self._source.text[opening] != '"':
            self._note(RepairKind.QUOTES)
        content = self._spelling.spell(opening + 1, end.content_end, at_end_of_text=end.at_end_of_text)
        self._at = end.resume
        if not end.closed:
            self._refuse_prose(opening, place)
            self._note(RepairKind.UNCLOSED_STRING)
            self._at = end.content_end
        return content

    def _tripled_content(self, opening: int) -> str | None:
        """The content between triple quotes, as Python has them; None where there are none."""
        quotes = self._source.text[opening] * 3
        if not self._source.text.startswith(quotes, opening):
            return None
        end = self._source.text.find(quotes, opening + 3, self._source.size)
        if end < 0:
            return None
        self._note(RepairKind.QUOTES)
        self._at = end + 3
        return self._spelling.spell(opening + 3, end, at_end_of_text=False)

    def _refuse_prose(self, opening: int, place: StringPlace) -> None:
        """Words in quotes at the start of a sentence are no JSON string whose end is missing."""
        if place is StringPlace.ROOT and not self._stack and self._source.closing_quote(opening) is not None:
            raise RepairRefusedError(RepairRefusal.NO_JSON)

    def _is_concatenated(self) -> bool:
        plus = self._source.ahead(self._at)
        return self._source.char(plus) == "+" and self._source.char(self._source.ahead(plus + 1)) in tuple(QUOTES)

    def _concatenate(self, place: StringPlace) -> None:
        self._space()
        self._drop(RepairKind.CONCATENATION)
        self._space()
        self._output.forget_space()
        self._output.take_back()
        self._output.put(self._string_content(place))
        self._output.put('"')

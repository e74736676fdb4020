"""The position in a damaged JSON text, the containers open there, and the output written so far (pure).

`Cursor` moves on, reads values, and opens and closes containers; `Parser` decides which.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from enum import Enum

from apps.llm.domain.json_repair.scalars import WordRuns, find_argument, read_bare_value
from apps.llm.domain.json_repair.source import QUOTE_SIGNS, Source
from apps.llm.domain.json_repair.strings import StringEnds, StringPlace, StringSpelling
from apps.llm.domain.json_repair.types import RepairKind, RepairLog, RepairRefusal, RepairRefusedError, WorkMeter

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
class OpenContainer:
    """What is not closed yet: a container, a function call or a brace too many; of these two nothing is written."""

    opener: str
    expects: Expects
    is_empty: bool = True
    is_lone_word: bool = False

    @property
    def closer(self) -> str:
        """Return the character that closes it."""
        return _CLOSERS[self.opener]

    @property
    def next_item(self) -> Expects:
        """Return what should come after a comma."""
        return Expects.MEMBER if self.opener == "{" else Expects.ELEMENT


@dataclass(slots=True)
class RepairOutput:
    """The repaired text while it is written: its pieces, with the white space at its end kept apart.

    Every operation costs its own length, whatever was written before.
    """

    pieces: list[str] = field(default_factory=list)
    space: list[str] = field(default_factory=list)

    def put(self, text: str) -> None:
        """Write after everything, white space included."""
        self.pieces += self.space
        self.space.clear()
        self.pieces.append(text)

    def insert(self, text: str) -> None:
        """Write before the white space at the end: `{"a": 1` + newline gets its brace before the newline."""
        self.pieces.append(text)

    def ends_with(self, piece: str) -> bool:
        """Return whether the last thing written, white space aside, is this piece."""
        return bool(self.pieces) and self.pieces[-1] == piece

    def take_back(self) -> None:
        """Remove the last thing written; the white space after it stays."""
        self.pieces.pop()


class Cursor:
    """One reading of one text from one position. depths: of the open containers, by the character that closes them."""

    def __init__(self, source: Source, log: RepairLog, meter: WorkMeter, *, start: int, max_depth: int) -> None:
        self.source = source
        self.log = log
        self.meter = meter
        self.start = self.at = start
        self.comma_at = start
        self.max_depth = max_depth
        self.output = RepairOutput()
        self.stack: list[OpenContainer] = []
        self.depths: defaultdict[str, list[int]] = defaultdict(list)
        self.last_closers = source.last_closers()
        self.fitting_closers = 0  # of `last_closers`, those that close what is open, outermost first
        self.string_ends = StringEnds(source, meter)
        self.words = WordRuns(source, meter)
        self.string_spelling = StringSpelling(source.text, log)

    # -- moving on

    def char(self) -> str:
        """Return the character at the position, or nothing at the end."""
        return self.source.char(self.at)

    def note(self, kind: RepairKind) -> None:
        """Log a repair at the position."""
        self.log.add(kind, self.at)

    def drop(self, kind: RepairKind, length: int = 1) -> None:
        """Leave out the text at the position."""
        self.note(kind)
        self.at += length

    def keep_space(self) -> None:
        """Keep white space, spelled as JSON does, and leave out comments."""
        while True:
            solid = self.source.skip_space(self.at)
            if solid > self.at:
                space = self.source.text[self.at : solid]
                if space.strip(" \t\r\n"):
                    self.note(RepairKind.WHITESPACE)
                    space = "".join(char if char in " \t\r\n" else " " for char in space)
                self.output.space.append(space)
                self.at = solid
            end = self.source.comment_end(self.at)
            if end is None:
                return
            self.meter.spend()
            self.drop(RepairKind.COMMENT, end - self.at)

    def drop_noise(self) -> bool:
        """Leave out an ellipsis with its comma, or end the text at a code fence; return whether there was one."""
        if self.source.text.startswith("...", self.at):
            self.drop(RepairKind.ELLIPSIS, 3)
            self.keep_space()
            self.at += self.char() == ","
            return True
        return self.end_at_fence()

    def end_at_fence(self) -> bool:
        """End the text at a code fence, or leave it out in an empty container; return whether there was one."""
        if not self.source.text.startswith("```", self.at):
            return False
        if self.stack and self.stack[-1].is_empty:
            self.drop(RepairKind.FENCE, 3)
        else:
            self.note(RepairKind.FENCE)
            self.source.size = self.at
        return True

    def has_member_ahead(self, position: int) -> bool:
        """Return whether a comma and the name of a member follow."""
        comma = self.source.skip_ahead(position)
        if self.source.char(comma) != ",":
            return False
        name = self.source.skip_ahead(comma + 1)
        if self.source.char(name) in QUOTE_SIGNS:
            return self.source.is_quoted_key(name, sure=True)
        return self.source.is_bare_key(name)

    # -- containers

    def open_container(self, opener: str) -> None:
        """Open a container, or a call, whose opener was read already."""
        if len(self.stack) >= self.max_depth:
            raise RepairRefusedError(RepairRefusal.TOO_DEEP)
        first = {"{": Expects.MEMBER, "call": Expects.VALUE}.get(opener, Expects.ELEMENT)
        self.push_container(OpenContainer(opener, first))
        if opener != "call":
            self.output.put(WRITTEN[opener][0])
            self.at += 1

    def push_container(self, container: OpenContainer) -> None:
        """Remember a container as the innermost one."""
        depth, last = len(self.stack), self.last_closers
        self.stack.append(container)
        self.depths[container.closer].append(depth)
        if self.fitting_closers == depth < len(last) and self.source.char(last[depth]) == container.closer:
            self.fitting_closers += 1

    def pop_container(self) -> OpenContainer:
        """Forget the innermost container."""
        container = self.stack.pop()
        self.depths[container.closer].pop()
        self.fitting_closers = min(self.fitting_closers, len(self.stack))
        return container

    def write_missing_closer(self, container: OpenContainer) -> None:
        """Close a container whose closer is missing; of a brace too many none is."""
        if container.opener != "extra":
            self.note(RepairKind.UNCLOSED)
            self.output.insert(WRITTEN[container.opener][1])

    def drop_trailing_comma(self) -> None:
        """Take back the comma that was written last."""
        if not self.stack[-1].is_empty and self.output.ends_with(","):
            self.log.add(RepairKind.TRAILING_COMMA, self.comma_at)
            self.output.take_back()

    # -- values

    def read_value(self, place: StringPlace) -> None:
        """Read a scalar, or open a container."""
        char = self.char()
        if char in ("{", "["):
            self.open_container(char)
        elif char == "(":
            self.note(RepairKind.TUPLE)
            self.open_container(char)
        elif char in QUOTE_SIGNS:
            self.read_string(place)
        else:
            self.read_unquoted(place)

    def read_unquoted(self, place: StringPlace) -> None:
        """Read a number, a keyword, words or the beginning of a call."""
        argument = find_argument(self.source, self.at)
        if argument is not None:
            self.drop(RepairKind.CALL, argument - self.at)
            self.open_container("call")
            return
        in_object = place is StringPlace.VALUE
        bare = read_bare_value(self.words, self.at, in_object=in_object, in_call=bool(self.depths[")"]))
        if bare is not None:
            if bare.kind is not None:
                self.note(bare.kind)
            self.log.is_truncated |= bare.is_cut
            self.output.put(bare.spelled)
            self.at = bare.end
        elif place is StringPlace.ROOT:
            raise RepairRefusedError(RepairRefusal.UNREADABLE if self.stack else RepairRefusal.NO_JSON)
        else:
            # A sign that begins nothing is left out; what should be here is still expected.
            self.drop(RepairKind.STRAY)
            self.stack[-1].expects = Expects.VALUE if in_object else Expects.ELEMENT

    def read_string(self, place: StringPlace) -> None:
        """Read a string, joined with the strings that `+` appends to it."""
        self.output.put('"' + self.read_string_content(place))
        self.output.put('"')
        while self.source.char(plus := self.source.skip_ahead(self.at)) == "+":
            if self.source.char(self.source.skip_ahead(plus + 1)) not in QUOTE_SIGNS:
                return
            self.keep_space()
            self.drop(RepairKind.CONCATENATION)
            self.keep_space()
            self.output.space.clear()
            self.output.take_back()
            self.output.put(self.read_string_content(place))
            self.output.put('"')

    def read_string_content(self, place: StringPlace) -> str:
        """Return the content of the string at the position as JSON spells it, and move behind the string."""
        source, opening = self.source, self.at
        quote = source.text[opening]
        if source.text.startswith(quote * 3, opening):  # as Python has them
            closing = source.text.find(quote * 3, opening + 3, source.size)
            if closing >= 0:
                self.note(RepairKind.QUOTES)
                self.at = closing + 3
                return self.string_spelling.spell(opening + 3, closing, at_end_of_text=False)
        fitting = self.last_closers[self.fitting_closers - 1] if self.fitting_closers else source.size
        end = self.string_ends.find(opening, place, fitting)
        self.log.is_truncated |= end.is_cut
        if quote != '"':
            self.note(RepairKind.QUOTES)
        content = self.string_spelling.spell(
            opening + 1, end.content_end, at_end_of_text=end.is_cut and end.content_end == source.size
        )
        self.at = end.resume
        if not end.closed:
            # Words in quotes at the start of a sentence are no JSON string whose end is missing.
            if place is StringPlace.ROOT and not self.stack and source.closing_quote(opening) is not None:
                raise RepairRefusedError(RepairRefusal.NO_JSON)
            self.note(RepairKind.UNCLOSED_STRING)
            self.at = end.content_end
        return content

"""Reads a damaged JSON text once, from left to right, and writes it down repaired (pure).

The text that was there is kept, white space included; only what is wrong is changed, added or left out (DESIGN
section 6). There is no recursion: what is open is a list, so depth costs nothing but its entries, and containers
are closed in the order in which they were opened, innermost first.
"""

import re

from apps.llm.domain.json_repair.cursor import WRITTEN, Cursor, Expects, OpenContainer
from apps.llm.domain.json_repair.scalars import read_bare_name
from apps.llm.domain.json_repair.source import QUOTE_SIGNS, QUOTES, SPACE, Source
from apps.llm.domain.json_repair.strings import StringPlace
from apps.llm.domain.json_repair.types import RepairKind, RepairLog, RepairRefusal, RepairRefusedError, WorkMeter

_WORD_IN_BRACKETS = re.compile(r"\[[^\W\d][\w -]{0,40}\]")
_WORD_OR_NUMBER_IN_BRACKETS = re.compile(r"\[\w[\w -]{0,40}\]")


class Parser(Cursor):
    """Decides what each character means in its place. `repaired()` is called once."""

    def __init__(self, source: Source, log: RepairLog, meter: WorkMeter, *, start: int, max_depth: int) -> None:
        super().__init__(source, log, meter, start=start, max_depth=max_depth)
        self._steps = {
            Expects.MEMBER: self.read_member,
            Expects.COLON: self.read_colon,
            Expects.VALUE: self.read_member_value,
            Expects.ELEMENT: self.read_element,
            Expects.COMMA: self.read_comma,
        }

    def repaired(self) -> str:
        """Return the repaired text; several values become one list. Raises RepairRefusedError."""
        is_string = self.char() in QUOTE_SIGNS
        self.read_root()
        is_list = self.read_more_roots(is_string=is_string)
        text = "".join(self.output.pieces).strip()
        return f"[{text}]" if is_list else text

    # -- roots and what surrounds them

    def read_root(self) -> None:
        """Read one value with everything in it."""
        self.read_value(StringPlace.ROOT)
        self.close_all()

    def close_all(self) -> None:
        """Read on until nothing is open."""
        while self.stack:
            self.meter.spend()
            self.keep_space()
            self._steps[self.stack[-1].expects]()

    def read_more_roots(self, *, is_string: bool) -> bool:
        """Read what follows the first value; return whether there are more values."""
        starts = ("{", "[", *QUOTES) if is_string else ("{", "[")
        several = False
        self.keep_space()
        while char := self.char():
            self.meter.spend()
            if char in starts:
                if not several:
                    self.refuse_marker(_WORD_IN_BRACKETS)
                    self.note(RepairKind.SEVERAL_VALUES)
                    several = True
                self.output.insert(",")
                self.read_root()
            elif not self.drop_after_root(char, starts):
                break
            self.keep_space()
        if self.char():
            if is_string:
                raise RepairRefusedError(RepairRefusal.NO_JSON)
            self.refuse_marker(_WORD_OR_NUMBER_IN_BRACKETS)
            self.note(RepairKind.TEXT_AFTER)
            self.at = self.source.size
        return several

    def drop_after_root(self, char: str, starts: tuple[str, ...]) -> bool:
        """Leave out a sign after the root, or continue the root; return False where words begin."""
        if char == "," and self.output.ends_with("}") and self.has_member_ahead(self.at):
            self.reopen_root()
        elif char == ",":
            follows = self.source.char(self.source.skip_ahead(self.at + 1))
            if follows in starts:
                self.at += 1
            elif follows:
                return False
            else:
                self.drop(RepairKind.TRAILING_COMMA)
        elif char in "}])":
            self.drop(RepairKind.EXTRA_CLOSER)
        elif char == ";":
            self.drop(RepairKind.STRAY)
        elif self.source.text.startswith("```", self.at):
            self.drop(RepairKind.FENCE, 3)
        else:
            return False
        return True

    def reopen_root(self) -> None:
        """Continue the root in `{"a": {"b": 1}}, "c": 2}`: a brace too many closed it, and a member of it follows."""
        self.note(RepairKind.EXTRA_CLOSER)
        self.output.take_back()
        is_empty = self.output.ends_with("{")
        self.push_container(OpenContainer("{", Expects.MEMBER if is_empty else Expects.COMMA, is_empty))
        self.close_all()

    def refuse_marker(self, marker: re.Pattern[str]) -> None:
        """Refuse `[NOTE] {"a": 1}` and `as in [1]: {"a": 1}`: the content of the first brackets is no value."""
        read = self.source.text[self.start : self.at].rstrip(SPACE)
        if marker.fullmatch(read) and re.search(r"[{\[]", self.source.text[self.at :]):
            raise RepairRefusedError(RepairRefusal.NO_JSON)

    # -- containers

    def close_container(self) -> None:
        """Close the innermost container: by the closer here, or because the text or an outer container ends."""
        self.drop_trailing_comma()
        char, container = self.char(), self.pop_container()
        if not char or (char != container.closer and self.depths[char] and not self.is_mistyped(char)):
            self.write_missing_closer(container)
            return
        if char != container.closer:
            self.note(RepairKind.WRONG_CLOSER)
        self.at += 1
        self.output.put(WRITTEN[container.opener][1])

    def is_mistyped(self, closer: str) -> bool:
        """Return whether a member follows that only the open container could take: `{"a": [1}, "b": 2}`."""
        closed = self.depths[closer][-1]
        taken = closed > 0 and self.stack[closed - 1].opener == "{"
        return not taken and self.has_member_ahead(self.at + 1)

    def read_member(self) -> None:
        """Read the name of a member, or the end of an object."""
        char, container = self.char(), self.stack[-1]
        if not char or char in "}])":
            self.close_container()
        elif char == ",":
            self.drop(RepairKind.EXTRA_COMMA)
        elif self.drop_noise():
            return
        elif char not in "{[":
            self.read_name(char, container)
        elif container.is_empty:
            # `{{"a": 1}}` has a brace too many, and so has its end.
            self.note(RepairKind.EXTRA_OPENER)
            self.output.take_back()
            container.opener = "extra"
            container.expects = Expects.COMMA
            self.open_container(char)
        else:
            # `[{"a": 1, {"b": 2}]` has a brace too few.
            self.drop_trailing_comma()
            self.write_missing_closer(self.pop_container())

    def read_name(self, char: str, container: OpenContainer) -> None:
        """Read the name of a member, with or without quotes; a missing one becomes an empty text."""
        container.is_empty = False
        container.expects = Expects.COLON
        container.is_lone_word = False
        if char in QUOTES:
            self.read_string(StringPlace.KEY)
        elif char == ":":
            self.note(RepairKind.MISSING_KEY)
            self.output.put('""')
        elif (name := read_bare_name(self.source, self.at)) is None:
            container.expects = Expects.MEMBER
            self.drop(RepairKind.STRAY)
        else:
            container.is_lone_word = len(self.stack) == 1 and self.output.ends_with("{")
            self.note(RepairKind.UNQUOTED_KEY)
            self.output.put(name.spelled)
            self.at = name.end

    def read_colon(self) -> None:
        """Read the colon after a name, or write the one that is missing."""
        char, container = self.char(), self.stack[-1]
        container.expects = Expects.VALUE
        if char == ":":
            self.at += 1
            self.output.put(":")
        elif not char or char in ",}])":
            # A name alone gets null, but a word in braces (`{name}`) is not JSON.
            if container.is_lone_word and char:
                raise RepairRefusedError(RepairRefusal.NO_JSON)
            self.note(RepairKind.MISSING_VALUE)
            self.log.is_truncated |= not char
            self.output.insert(": null")
            container.expects = Expects.COMMA
        else:
            self.note(RepairKind.MISSING_COLON)
            arrow = next((sign for sign in ("=>", "=") if self.source.text.startswith(sign, self.at)), "")
            self.at += len(arrow)
            if arrow:
                self.output.put(":")
            else:
                self.output.insert(":")

    def read_member_value(self) -> None:
        """Read the value of a member or the argument of a call; a missing value becomes null."""
        char, container = self.char(), self.stack[-1]
        if char == ":":
            self.drop(RepairKind.STRAY)
        elif not char or char in ",}])":
            if container.opener == "call":
                raise RepairRefusedError(RepairRefusal.UNREADABLE)
            self.note(RepairKind.MISSING_VALUE)
            self.log.is_truncated |= not char
            self.output.put("null")
            container.expects = Expects.COMMA
        elif not self.end_at_fence():
            container.is_empty = False
            container.expects = Expects.COMMA
            self.read_value(StringPlace.ROOT if container.opener == "call" else StringPlace.VALUE)

    def read_element(self) -> None:
        """Read an element, or the end of a list."""
        char, container = self.char(), self.stack[-1]
        if not char or char in "}])":
            self.close_container()
        elif char == ",":
            self.drop(RepairKind.EXTRA_COMMA)
        elif char == ":":
            self.drop(RepairKind.STRAY)
        elif self.is_member_of_outer(char, container):
            if self.output.ends_with(","):
                self.output.take_back()
            self.write_missing_closer(self.pop_container())
            self.output.insert(",")
            self.stack[-1].expects = Expects.MEMBER
        elif not self.drop_noise():
            container.is_empty = False
            container.expects = Expects.COMMA
            self.read_value(StringPlace.ELEMENT)

    def is_member_of_outer(self, char: str, container: OpenContainer) -> bool:
        """Return whether a name follows in a list that is itself a member: `{"a": [1, 2, "b": 3}`."""
        if container.is_empty or len(self.stack) < 2 or self.stack[-2].opener != "{":
            return False
        return char in QUOTES and self.source.is_quoted_key(self.at, sure=True)

    def read_comma(self) -> None:
        """Read the comma after an item or the end of a container, or write a comma that is missing."""
        char, container = self.char(), self.stack[-1]
        if not char or char in "}])":
            self.close_container()
        elif container.opener == "call":  # which has one argument
            raise RepairRefusedError(RepairRefusal.UNREADABLE)
        elif container.opener == "extra":  # a brace too many that nothing closes
            self.pop_container()
        elif char == ",":
            self.comma_at = self.at
            self.at += 1
            self.output.put(",")
            container.expects = container.next_item
        elif char in ":;":
            self.drop(RepairKind.STRAY)
        elif not self.end_at_fence():
            self.comma_at = self.at
            self.note(RepairKind.MISSING_COMMA)
            self.output.insert(",")
            container.expects = container.next_item

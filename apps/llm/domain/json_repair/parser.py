"""Reads a damaged JSON text once, from left to right, and writes it down repaired (pure).

The text that was there is kept, white space included; only what is wrong is changed, added or left out (DESIGN
section 6). There is no recursion: what is open is a list, so depth costs nothing but its entries, and containers
are closed in the order in which they were opened, innermost first.
"""

import re

from apps.llm.domain.json_repair.cursor import WRITTEN, Cursor, Expects, Open
from apps.llm.domain.json_repair.output import Output
from apps.llm.domain.json_repair.scalars import read_name
from apps.llm.domain.json_repair.source import QUOTES, SPACE, Source
from apps.llm.domain.json_repair.strings import StringPlace
from apps.llm.domain.json_repair.types import RepairKind, RepairLog, RepairRefusal, RepairRefusedError

_WORD_IN_BRACKETS = re.compile(r"\[[^\W\d][\w -]{0,40}\]")
_WORD_OR_NUMBER_IN_BRACKETS = re.compile(r"\[\w[\w -]{0,40}\]")


class Parser(Cursor):
    """Decides what each character means where it stands. `repaired()` is called once."""

    def __init__(self, source: Source, ledger: RepairLog, *, start: int, max_depth: int) -> None:
        super().__init__(source, ledger, start=start, max_depth=max_depth)
        self._steps = {
            Expects.MEMBER: self._member,
            Expects.COLON: self._colon,
            Expects.VALUE: self._member_value,
            Expects.ELEMENT: self._element,
            Expects.COMMA: self._comma,
        }

    def repaired(self) -> str:
        """The repaired text; RepairRefusedError where there is none."""
        is_string = self._char() in tuple(QUOTES)
        self._root()
        self._after_root(is_string=is_string)
        return self._output.text()

    # -- what stands around the root

    def _root(self) -> None:
        self._value(StringPlace.ROOT)
        self._finish()

    def _finish(self) -> None:
        while self._stack:
            self._space()
            self._steps[self._stack[-1].expects]()

    def _after_root(self, *, is_string: bool) -> None:
        starts = ("{", "[", *QUOTES) if is_string else ("{", "[")
        several = False
        self._space()
        while char := self._char():
            if char in starts:
                several = several or self._note_several()
                self._output.insert(",")
                self._root()
            elif not self._leave_out_after_root(char, starts):
                break
            self._space()
        if self._char():
            self._text_after(is_string=is_string)
        if several:
            self._output = _wrapped(self._output)

    def _note_several(self) -> bool:
        self._refuse_marker(_WORD_IN_BRACKETS)
        self._note(RepairKind.SEVERAL_VALUES)
        return True

    def _leave_out_after_root(self, char: str, starts: tuple[str, ...]) -> bool:
        if char == "," and self._output.ends_with("}") and self._is_member_ahead(self._at):
            self._reopen()
            return True
        if char == ",":
            follows = self._source.char(self._source.ahead(self._at + 1))
            if follows in starts:
                self._at += 1
            elif follows:
                return False
            else:
                self._drop(RepairKind.TRAILING_COMMA)
            return True
        if char in "}])":
            self._drop(RepairKind.EXTRA_CLOSER)
            return True
        if char == ";":
            self._drop(RepairKind.STRAY)
            return True
        if self._source.text.startswith("```", self._at):
            self._drop(RepairKind.FENCE, 3)
            return True
        return False

    def _reopen(self) -> None:
        """`{"a": {"b": 1}}, "c": 2}`: a brace too many closed the root, and a member of it follows."""
        self._note(RepairKind.EXTRA_CLOSER)
        self._output.take_back()
        is_empty = self._output.ends_with("{")
        self._stack.append(Open("{", Expects.MEMBER if is_empty else Expects.COMMA, is_empty))
        self._closers["}"] += 1
        self._finish()

    def _text_after(self, *, is_string: bool) -> None:
        if is_string:
            raise RepairRefusedError(RepairRefusal.NO_JSON)
        self._refuse_marker(_WORD_OR_NUMBER_IN_BRACKETS)
        self._note(RepairKind.TEXT_AFTER)
        self._at = self._source.size

    def _refuse_marker(self, marker: re.Pattern[str]) -> None:
        """`[NOTE] {"a": 1}`, `as in [1]: {"a": 1}`: what stands in the first brackets is no value of its own."""
        read = self._source.text[self._start : self._at].rstrip(SPACE)
        if marker.fullmatch(read) and re.search(r"[{\[]", self._source.text[self._at :]):
            raise RepairRefusedError(RepairRefusal.NO_JSON)

    # -- containers

    def _close(self) -> None:
        """Close the innermost container: as it stands here, or because the text or an outer one ends."""
        self._strip_comma()
        char, container = self._char(), self._pop()
        if not char or (char != container.closer and self._closers[char] and not self._is_mistyped(char)):
            self._close_unclosed(container)
            return
        if char != container.closer:
            self._note(RepairKind.WRONG_CLOSER)
        self._at += 1
        self._output.put(WRITTEN[container.opener][1])

    def _is_mistyped(self, closer: str) -> bool:
        """`{"a": [1}, "b": 2}`: a closer after which a member comes that only the container open here could take."""
        closed = next(depth for depth in range(len(self._stack) - 1, -1, -1) if self._stack[depth].closer == closer)
        taken = closed > 0 and self._stack[closed - 1].opener == "{"
        return not taken and self._is_member_ahead(self._at + 1)

    def _member(self) -> None:
        char, container = self._char(), self._stack[-1]
        if not char or char in "}])":
            self._close()
        elif char == ",":
            self._drop(RepairKind.EXTRA_COMMA)
        elif self._drop_noise():
            return
        elif char in "{[":
            self._container_for_member(container)
        else:
            self._name(char, container)

    def _container_for_member(self, container: Open) -> None:
        """`[{"a": 1, {"b": 2}]` has a brace too few; `{{"a": 1}}` has one too many, and so has its end."""
        if not container.is_empty:
            self._strip_comma()
            self._close_unclosed(self._pop())
            return
        self._note(RepairKind.EXTRA_OPENER)
        self._output.take_back()
        container.opener = "extra"
        container.expects = Expects.COMMA
        self._open(self._char())

    def _name(self, char: str, container: Open) -> None:
        container.is_empty = False
        container.expects = Expects.COLON
        container.is_lone_word = False
        if char in QUOTES:
            self._string(StringPlace.KEY)
        elif char == ":":
            self._note(RepairKind.MISSING_KEY)
            self._output.put('""')
        else:
            self._bare_name(container)

    def _bare_name(self, container: Open) -> None:
        name = read_name(self._source, self._at)
        if name is None:
            container.expects = Expects.MEMBER
            self._drop(RepairKind.STRAY)
            return
        container.is_lone_word = len(self._stack) == 1 and self._output.ends_with("{")
        self._note(RepairKind.UNQUOTED_KEY)
        self._output.put(name.spelled)
        self._at = name.end

    def _colon(self) -> None:
        char, container = self._char(), self._stack[-1]
        container.expects = Expects.VALUE
        if char == ":":
            self._at += 1
            self._output.put(":")
        elif not char or char in ",}])":
            self._missing_value(container)
        else:
            self._missing_colon()

    def _missing_value(self, container: Open) -> None:
        """A name alone gets null, but a word in braces (`{name}`) is not JSON."""
        if container.is_lone_word and self._char():
            raise RepairRefusedError(RepairRefusal.NO_JSON)
        self._note(RepairKind.MISSING_VALUE)
        self._output.insert(": null")
        container.expects = Expects.COMMA

    def _missing_colon(self) -> None:
        self._note(RepairKind.MISSING_COLON)
        arrow = next((sign for sign in ("=>", "=") if self._source.text.startswith(sign, self._at)), "")
        self._at += len(arrow)
        if arrow:
            self._output.put(":")
        else:
            self._output.insert(":")

    def _member_value(self) -> None:
        char, container = self._char(), self._stack[-1]
        if char == ":":
            self._drop(RepairKind.STRAY)
        elif not char or char in ",}])":
            if container.opener == "call":
                raise RepairRefusedError(RepairRefusal.UNREADABLE)
            self._note(RepairKind.MISSING_VALUE)
            self._output.put("null")
            container.expects = Expects.COMMA
        elif not self._end_at_fence():
            container.is_empty = False
            container.expects = Expects.COMMA
            self._value(StringPlace.ROOT if container.opener == "call" else StringPlace.VALUE)

    def _element(self) -> None:
        char, container = self._char(), self._stack[-1]
        if not char or char in "}])":
            self._close()
        elif char == ",":
            self._drop(RepairKind.EXTRA_COMMA)
        elif char == ":":
            self._drop(RepairKind.STRAY)
        elif self._is_member_of_outer(char, container):
            self._close_before_member()
        elif not self._drop_noise():
            container.is_empty = False
            container.expects = Expects.COMMA
            self._value(StringPlace.ELEMENT)

    def _close_before_member(self) -> None:
        if self._output.ends_with(","):
            self._output.take_back()
        self._close_unclosed(self._pop())
        self._output.insert(",")
        self._stack[-1].expects = Expects.MEMBER

    def _is_member_of_outer(self, char: str, container: Open) -> bool:
        """`{"a": [1, 2, "b": 3}`: a name where an element should stand, in a list that is itself a member."""
        if container.is_empty or len(self._stack) < 2 or self._stack[-2].opener != "{":
            return False
        return char in QUOTES and self._source.is_quoted_key(self._at, sure=True)

    def _comma(self) -> None:
        char, container = self._char(), self._stack[-1]
        if not char or char in "}])":
            self._close()
        elif container.opener in ("call", "extra"):
            self._after_argument(container)
        elif char == ",":
            self._comma_at = self._at
            self._at += 1
            self._output.put(",")
            container.expects = container.next_item
        elif char in ":;":
            self._drop(RepairKind.STRAY)
        elif not self._end_at_fence():
            self._comma_at = self._at
            self._note(RepairKind.MISSING_COMMA)
            self._output.insert(",")
            container.expects = container.next_item

    def _after_argument(self, container: Open) -> None:
        """A call has one argument; a brace too many that nothing closes is forgotten."""
        if container.opener == "call":
            raise RepairRefusedError(RepairRefusal.UNREADABLE)
        self._pop()


def _wrapped(output: Output) -> Output:
    """The values written, as one list."""
    whole = Output()
    whole.put(f"[{output.text()}]")
    return whole

"""What a model thinks before it answers: the text between `<think>` and `</think>` asks for nothing.

Marks may be missing. A thought that is not ended reaches to the end of the text, and one whose beginning is missing (as
where the prompt of a model ends with it) begins with the text, whatever was read before: in doubt something is a
thought. A mark is none in the string of a JSON object, in a VCP value, or directly between backticks.
"""

import re

from apps.llm.domain.protocol.results import Span
from apps.llm.domain.protocol.tokens import THOUGHTS, VALUE_BEGINS, Layout, OutputToken, TokenKind

_NOT_BLANK = re.compile(r"\S")


class ThoughtFinder:
    """Reads a text once, from mark to mark. begin: of the thought that is open.

    mixed_until: the place at which an object ends that holds a mark outside its strings.
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.thoughts: list[Span] = []
        self.begin: int | None = None
        self.mixed_until = -1

    def find(self) -> list[Span]:
        """Return the thoughts, in order and apart; the marks are part of them."""
        place = 0
        while place < len(self.layout.tokens):
            token = self.layout.tokens[place]
            following = place + 1
            if token.kind in THOUGHTS:
                self.read_mark(token)
            elif self.begin is None:
                following = self.after_data(place)
            place = following
        return self.thoughts if self.begin is None else [*self.thoughts, (self.begin, len(self.layout.text))]

    def read_mark(self, token: OutputToken) -> None:
        """Begin or end a thought, unless the mark is in code."""
        text = self.layout.text
        if text[token.start - 1 : token.start] == "`" and text[token.end : token.end + 1] == "`":
            return
        if token.kind is TokenKind.THOUGHT_BEGIN:
            self.begin = token.start if self.begin is None else self.begin
        elif self.begin is None:
            self.thoughts = [(0, token.end)]
        else:
            self.thoughts.append((self.begin, token.end))
            self.begin = None

    def after_data(self, place: int) -> int:
        """Return the place behind the object or value that begins here, whose marks are text; else the next place."""
        layout, kind = self.layout, self.layout.tokens[place].kind
        closing: int | None = None
        if kind in VALUE_BEGINS:
            closing = layout.end_of_value(place)
        elif kind is TokenKind.OPEN and place > self.mixed_until:
            closing = layout.closing.get(place)
            marks = [] if closing is None else layout.thoughts_between(place, closing)
            if not all(layout.in_string_of(place, mark) and layout.in_proper_string(mark) for mark in marks):
                self.mixed_until, closing = closing or -1, None
        return (place if closing is None else closing) + 1


def without_thoughts(text: str, thoughts: list[Span]) -> str:
    """Return the text with blanks in place of its thoughts, so that all positions stay."""
    parts, position = list[str](), 0
    for start, end in thoughts:
        parts += text[position:start], _NOT_BLANK.sub(" ", text[start:end])
        position = end
    return "".join(parts) + text[position:]

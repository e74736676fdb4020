"""The repaired text while it is written: its pieces, with the white space at its end kept apart (pure)."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class Output:
    """What was written so far. Every operation costs its own length, whatever was written before."""

    _pieces: list[str] = field(default_factory=list)
    _space: list[str] = field(default_factory=list)

    def put(self, text: str) -> None:
        """Write after everything, white space included."""
        self._pieces += self._space
        self._space.clear()
        self._pieces.append(text)

    def put_space(self, space: str) -> None:
        """Write white space."""
        self._space.append(space)

    def insert(self, text: str) -> None:
        """Write before the white space at the end: `{"a": 1` + newline gets its brace before the newline."""
        self._pieces.append(text)

    def ends_with(self, piece: str) -> bool:
        """Whether the last thing written, white space aside, is this piece."""
        return bool(self._pieces) and self._pieces[-1] == piece

    def take_back(self) -> None:
        """Remove the last thing written; the white space after it stays."""
        self._pieces.pop()

    def forget_space(self) -> None:
        """Remove the white space at the end."""
        self._space.clear()

    def text(self) -> str:
        """Everything, without white space around it."""
        return "".join(self._pieces).strip()

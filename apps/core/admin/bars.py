"""Small pictures of what happened lately, as bars; each says in words what it shows."""

from dataclasses import dataclass

from django.template.loader import render_to_string


@dataclass(frozen=True)
class Bar:
    """A bar of a picture. x, y, height, width: in its own units. tone: good, bad, or quiet. title: for the mouse."""

    x: int
    y: int
    height: int
    tone: str
    title: str
    width: int = 4


@dataclass(frozen=True)
class Bars:
    """A picture of bars. says: its contents in words, for those who do not see it."""

    bars: tuple[Bar, ...]
    width: int
    height: int
    says: str

    def render(self) -> str:
        """Render the picture."""
        return render_to_string("admin/bars.html", {"bars": self})

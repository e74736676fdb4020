"""The pictures of the documentation (docs/pictures): pages of a hub with the sample household.

`uv run python -m tests.pictures` takes them again.
"""

from typing import NamedTuple

MAX_BYTES = 150_000


class Picture(NamedTuple):
    """A page, whose address the world knows by the same name, as one viewer sees it."""

    name: str
    viewer: str
    height: int = 750
    is_in_both_themes: bool = False

    @property
    def files(self) -> dict[str, str]:
        """Return the names of its files, with the theme of each."""
        if self.is_in_both_themes:
            return {f"{self.name}-{theme}.webp": theme for theme in ("light", "dark")}
        return {f"{self.name}.webp": "light"}


ALL = (
    Picture("home", "person", is_in_both_themes=True),
    Picture("decision", "owner", is_in_both_themes=True),
    Picture("receipt", "owner", height=1000),
    Picture("knowledge", "owner"),
    Picture("timeline", "person"),
    Picture("notes", "person"),
)

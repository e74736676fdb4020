"""Which paths of files are accepted."""

import pytest

from apps.sync.domain.paths import MAX_PATH_CHARS, PATH_TOO_LONG, Wanted, path_problem


@pytest.mark.parametrize("letter", ["a", "ä"])
def test_path_of_the_most_characters_is_accepted_and_no_longer_one(letter: str) -> None:
    assert path_problem((letter * MAX_PATH_CHARS).encode()) is None
    problem = path_problem((letter * (MAX_PATH_CHARS + 1)).encode())
    assert problem is not None
    assert problem[0] == PATH_TOO_LONG


def test_patterns_hold_below_the_folder_too():
    wanted = Wanted("docs/adr", ("*.md", "docs/adr/more/*.txt"), ("draft-*",))
    assert [wanted.has(path) for path in ("docs/adr/1.md", "docs/adr/more/1.txt", "docs/adr/more/1.md")] == [
        True, True, False,
    ]  # fmt: skip
    assert not wanted.has("docs/adr/draft-1.md")

"""Which paths of files are accepted."""

import pytest

from apps.sync.domain.paths import MAX_PATH_CHARS, PATH_TOO_LONG, path_problem


@pytest.mark.parametrize("letter", ["a", "ä"])
def test_path_of_the_most_characters_is_accepted_and_no_longer_one(letter: str) -> None:
    assert path_problem((letter * MAX_PATH_CHARS).encode()) is None
    problem = path_problem((letter * (MAX_PATH_CHARS + 1)).encode())
    assert problem is not None
    assert problem[0] == PATH_TOO_LONG

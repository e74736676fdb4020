"""Paths of files in sources: which are accepted, how refused ones are shown, and which of them a source wants."""

import fnmatch
import hashlib
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

MAX_PATH_CHARS = 600
DEFAULT_PATTERNS = (
    "**/*.md", "**/*.markdown", "**/*.rst", "**/*.txt", "**/*.mediawiki", "**/*.adoc", "**/kep.yaml",
)  # fmt: skip
SKIPPED_FOLDERS = frozenset({b"node_modules"})

PATH_UNSAFE = "path_unsafe"
PATH_TOO_LONG = "path_too_long"

# By these a name can be shown as another one.
_REORDERING = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029")

# Nearly all paths are of these characters, and none of their names is empty or only dots.
_PLAIN = re.compile(rb"[ -\[\]-~]+")
_NO_NAME = re.compile(rb"(?:\A|/)\.{0,2}(?:/|\Z)")

Match = Callable[[str], bool]


def path_problem(raw: bytes) -> tuple[str, str] | None:
    """Return the code and the reason for which a path is refused, or None. Paths are relative, with slashes."""
    if len(raw) <= MAX_PATH_CHARS and _PLAIN.fullmatch(raw) and not _NO_NAME.search(raw):
        return None
    try:
        path = raw.decode()
    except UnicodeDecodeError:
        return PATH_UNSAFE, "The name is not UTF-8."
    if any(unicodedata.category(character) == "Cc" or character in _REORDERING for character in path):
        return PATH_UNSAFE, "The name contains control characters."
    if "\\" in path:
        return PATH_UNSAFE, "The name contains a backslash."
    if any(name in {"", ".", ".."} for name in path.split("/")):
        return PATH_UNSAFE, "The path is absolute, or leads out of its folder."
    if len(path) > MAX_PATH_CHARS:
        return PATH_TOO_LONG, f"The path has more than {MAX_PATH_CHARS} characters."
    return None


def shown_path(raw: bytes) -> str:
    """Return a path as text that can be stored and shown; a refused one is escaped and made unique by a digest."""
    if path_problem(raw) is None:
        return raw.decode()
    text = raw.decode(errors="backslashreplace")
    escaped = "".join(one if one.isprintable() else f"\\u{ord(one):04x}" for one in text)
    return f"{escaped[: MAX_PATH_CHARS - 9]}#{hashlib.sha256(raw).hexdigest()[:8]}"


def is_skipped(name: bytes) -> bool:
    """Return whether a file or folder of this name is not part of any source: hidden ones, and installed packages."""
    is_hidden = name.startswith(b".") and name not in {b".", b".."} and b"/" not in name
    return is_hidden or name in SKIPPED_FOLDERS


@dataclass(frozen=True)
class Wanted:
    """Which paths a source consists of: below its folder, matching a pattern of include and none of exclude.

    In patterns `*` and `?` mean any characters but slashes, `[abc]` one of these, and `**` any number of folders. They
    hold for the whole path in the repository, or for the path below the folder.
    """

    folder: str = ""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    _included: Match = field(init=False, repr=False, compare=False)
    _excluded: Match = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_included", compile_patterns(self.include or DEFAULT_PATTERNS))
        object.__setattr__(self, "_excluded", compile_patterns(self.exclude))

    @property
    def folders(self) -> tuple[str, ...]:
        """Return the names of the folders that lead to the files."""
        return tuple(name for name in self.folder.split("/") if name not in {"", "."})

    def has(self, path: str) -> bool:
        """Return whether a path below the folder is wanted: patterns hold for all of it, or for what is below."""
        below = "/".join(path.split("/")[len(self.folders) :]) if self.folders else path
        is_included = self._included(path) or (below != path and self._included(below))
        return is_included and not (self._excluded(path) or (below != path and self._excluded(below)))


def can_match(pattern: str) -> bool:
    """Return whether any path can match a pattern: it has a part, and none that no path has."""
    parts = [part for part in pattern.split("/") if part]
    return bool(parts) and not {".", ".."}.intersection(parts)


def compile_patterns(patterns: Sequence[str]) -> Match:
    """Return a function that says whether a path matches one of them. Its time is bounded by pattern times path."""
    names, paths = [], []
    for pattern in patterns:
        parts = [part for part in pattern.split("/") if part]
        if parts and pattern.endswith("/"):
            parts.append("**")
        if len(parts) == 2 and parts[0] == "**" != parts[1]:
            # Nearly all patterns are of this form, which needs no more than the name.
            names.append(re.compile(fnmatch.translate(parts[1])).match)
        else:
            paths.append([None if part == "**" else re.compile(fnmatch.translate(part)) for part in parts])

    def matches(path: str) -> bool:
        name = path[path.rfind("/") + 1 :]
        for match in names:
            if match(name):
                return True
        return bool(paths) and any(_matches(parts, path.split("/")) for parts in paths)

    return matches


def _matches(parts: Sequence[re.Pattern[str] | None], names: Sequence[str]) -> bool:
    # reached: how many parts can stand for the names so far; None is `**`.
    reached = _past_folders(parts, {0})
    for name in names:
        following = set()
        for at in reached:
            if at == len(parts):
                continue
            part = parts[at]
            if part is None:
                following.add(at)
            elif part.match(name):
                following.add(at + 1)
        reached = _past_folders(parts, following)
    return len(parts) in reached


def _past_folders(parts: Sequence[re.Pattern[str] | None], reached: set[int]) -> set[int]:
    """Add the places after `**`, which may stand for no folder."""
    for at in sorted(reached):
        place = at
        while place < len(parts) and parts[place] is None:
            place += 1
            reached.add(place)
    return reached

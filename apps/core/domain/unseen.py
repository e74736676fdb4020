"""Characters that a reader does not see, or that move what is around them: shown as marks, on all pages alike.

Two texts that look alike must be alike for those who decide by reading. What a script needs stays as it is: joiners in
words and emoji, variation selectors behind what they vary (Unicode UTS 51, UAX 31), up to MAX_MARKS combining marks.
"""

import re
import unicodedata

# The most that a language stacks on one letter; further ones would cover the lines around.
MAX_MARKS = 6

# Controls; what Unicode calls ignorable by default; directions, isolates and separators of lines; blank letters.
_UNSEEN = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_PICTURES = "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
_JOINED = "\u0600-\u109f\u1780-\u18af\ua800-\uabff\U00011000-\U00011fff"
_IDEOGRAPHS = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_COMBINING = (
    "\u0300-\u034e\u0350-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u064b-\u065f\u06d6-\u06dc\u06df-\u06e4"
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u0f71-\u0f84\u0f8d-\u0fbc\u1ab0-\u1aff"
    "\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a\ufe20-\ufe2f"
)
# Cyrillic, and the Greek letters that look like Latin ones.
_ALIKE = "\u0400-\u052f\u0391\u0392\u0395-\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bf"

_USUAL = "|".join((
    f"(?<=[{_PICTURES}])\ufe0f?\u200d(?=[{_PICTURES}])",
    f"(?<=[0-9#*{_PICTURES}])[\ufe0e\ufe0f]",
    f"(?<=[{_JOINED}])[\u200c\u200d](?=[{_JOINED}])",
    "(?<=[\u1820-\u18aa])[\u180b-\u180d]",
    f"(?<=[{_IDEOGRAPHS}])[\ufe00-\ufe02\U000e0100-\U000e01ef]",
    "(?<=\U0001f3f4)[\U000e0020-\U000e007e]{1,16}\U000e007f",
))  # fmt: skip
# Every part of it takes time in proportion to the text: a run of foreign letters is tried at its beginning only.
FOUND = re.compile(
    f"(?P<usual>{_USUAL})|(?P<unseen>[{_UNSEEN}]+)|(?<=[{_COMBINING}]{{{MAX_MARKS}}})(?P<marks>[{_COMBINING}]+)"
    f"|(?<=[A-Za-z])(?P<behind>[{_ALIKE}]+)|(?<![{_ALIKE}])(?P<before>[{_ALIKE}]++)(?=[A-Za-z])"
)

_PLAIN = re.compile(r"[\t\n\r\x20-\x7e]*+")


def is_plain(text: str) -> bool:
    """Return whether text has nothing to mark, for being visible ASCII."""
    return _PLAIN.fullmatch(text) is not None


def code_points(run: str) -> str:
    """Return a run of characters as `U+202E`, and `U+202E +3` for that one and three more."""
    first = f"U+{ord(run[0]):04X}"
    return first if len(run) == 1 else f"{first} +{len(run) - 1}"


def name_of(run: str) -> str:
    """Return the name of the first character of a run."""
    return unicodedata.name(run[0], "control character").capitalize()


def visible(text: str) -> str:
    """Return text with each run of unseen characters as a mark: `ana[U+200B]`."""

    def mark(found: re.Match[str]) -> str:
        if run := found["unseen"]:
            return f"[{code_points(run)}]"
        return f"[+{len(found['marks'])} marks]" if found["marks"] else found[0]

    return text if is_plain(text) else FOUND.sub(mark, text)


def is_named(typed: str, name: str) -> bool:
    """Return whether a person typed a name as it is, or as pages show it: with marks, and without spaces around."""
    return typed.strip() in {name.strip(), visible(name).strip()}


def storable(text: str) -> str:
    """Return a text without what PostgreSQL does not keep: NUL, and halves of characters, which become `?`."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()

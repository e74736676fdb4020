"""Text of a file: from bytes, and cleaned of what does not belong into a value."""

import codecs
import re

from apps.sync.domain.readers.found import Refusal, UnreadableError

MAX_PATH_CHARS = 600
MAX_ID_CHARS = 200
MAX_TITLE_CHARS = 300
MAX_REFERENCE_CHARS = 300
MAX_REFERENCES = 100
MAX_TAG_CHARS = 100
MAX_TAGS = 50
MAX_CONSTRAINT_CHARS = 1_000
MAX_CONSTRAINTS = 100
MAX_STATUS_CHARS = 2_000

# A summary that is taken from the text, and one that was written as such.
SUMMARY_CHARS = 300
WRITTEN_SUMMARY_CHARS = 600

# Before marks are taken out of a piece of text.
MAX_MARKED_CHARS = 4_000

MAX_FRONT_MATTER_CHARS = 64_000
MAX_FRONT_MATTER_DEPTH = 20
MAX_FRONT_MATTER_NODES = 5_000

MAX_HEADER_LINES = 100


# Control characters, marks that turn the direction of text, and halves of surrogate pairs (which YAML can escape).
UNPRINTABLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
LFS_POINTER = "version https://git-lfs.github.com/spec/"

SENTENCE_END = re.compile(r"[.!?][\"')\]”’]*(?=\s)|[。！？][」』”’）]*")
ABBREVIATIONS = ("e.g.", "i.e.", "etc.", "vs.", "cf.", "dr.", "mr.", "ms.", "mrs.", "st.", "no.", "fig.", "approx.")
FOLDED = {ord(char): None for char in " \t-_"}


def decode(data: bytes) -> str:
    """Return the text of a file with line feeds only. Raises UnreadableError."""
    if not data.strip():
        raise UnreadableError(Refusal.EMPTY, "The file is empty.")
    if data.startswith(UTF_16):
        raise UnreadableError(Refusal.NOT_TEXT, "The file is in UTF-16; it must be in UTF-8.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UnreadableError(Refusal.NOT_TEXT, f"Line {line} is not in UTF-8.") from error
    if "\x00" in text:
        line = text.count("\n", 0, text.index("\x00")) + 1
        raise UnreadableError(Refusal.NOT_TEXT, f"Line {line} has a NUL character, which is not allowed in text.")
    if text.startswith(LFS_POINTER):
        raise UnreadableError(
            Refusal.NOT_TEXT, "The file is a pointer of Git LFS; its content is not in the repository."
        )
    return text.replace("\r\n", "\n").replace("\r", "\n")


def clean(text: str, limit: int) -> str:
    """Return a text on one line, without what cannot be seen, cut at a word to at most `limit` characters."""
    words = " ".join(UNPRINTABLE.sub("", text).split())
    if len(words) <= limit:
        return words
    head = words[: limit - 1]
    cut = head.rfind(" ")
    return (head[:cut] if cut > limit // 2 else head).rstrip(" ,;:、，") + "…"


def cut_at_sentence(text: str, limit: int) -> str:
    """Return the whole sentences, English or Chinese, that fit; the beginning of the first one if it is longer."""
    text = clean(text, len(text) + 1)
    if len(text) <= limit:
        return text
    end = 0
    for match in SENTENCE_END.finditer(text, 0, limit + 1):
        if match.end() <= limit and not text[: match.end()].casefold().endswith(ABBREVIATIONS):
            end = match.end()
    return text[:end] if end >= limit // 6 else clean(text, limit)


def fold(text: str) -> str:
    """Return a word to compare by: without case, blanks, hyphens and underscores."""
    return text.casefold().translate(FOLDED)


def word_set(words: str) -> frozenset[str]:
    """Return the words of a table."""
    return frozenset(words.split())

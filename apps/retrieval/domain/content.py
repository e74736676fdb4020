"""The text by which exact duplicates are known, and its hash (spec 002 section 9)."""

import hashlib
import re

from apps.retrieval.domain.text.normal import nfkc

# What JavaScript calls white space; Python's own notion differs (DESIGN section 6).
_JS_SPACE = "\t\n\x0b\x0c\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200B)))
_SPACES = re.compile(f"[{_JS_SPACE}]+")
_INVISIBLE = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
_CLOSING = ".!?,;:"
_SURROGATES = re.compile("[\ud800-\udfff]")


def normalise_content(content: str) -> str:
    """Return the text by which exact duplicates are known: the pipeline of spec 002 section 9, step by step."""
    # strip, not a pattern anchored at the end: that one takes quadratic time on a long run inside the text.
    text = nfkc(content).lower().strip(_JS_SPACE)
    text = _INVISIBLE.sub("", _SPACES.sub(" ", text))
    return text.rstrip(_CLOSING).strip(_JS_SPACE)


def text_code(digest: str) -> int:
    """Return a number of 63 bits at most for a hash of a content. Two contents rarely have the same one."""
    return int.from_bytes(digest[:8].encode("ascii", "replace"), "big")


def content_hash(content: str) -> str:
    """Return the SHA-256 of the normalised content, in hex."""
    text = _SURROGATES.sub("\ufffd", normalise_content(content))
    return hashlib.sha256(text.encode()).hexdigest()

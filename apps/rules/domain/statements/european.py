"""Reading German, French and Spanish: a plain minimum, by words. What is not recognised is an assertion."""

import re
from dataclasses import asdict
from functools import lru_cache

from apps.core.domain.caches import SizedCache
from apps.rules.domain.statements.european_words import EUROPEAN
from apps.rules.domain.statements.statement import Mood, Statement, Tense

MAX_CHARS, MAX_SENTENCES, MAX_SENTENCE_CHARS = 4000, 60, 400

_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_SENTENCE = re.compile(
    r"(?<=[!?;…])\s+|(?<=[^\d\W]\.)\s+(?=[^\W\d_a-z])|(?<=\d\.)\s+(?=(?!Januar|Februar|März|April|Ma|Jun|Jul|Aug|Sep|Okt|Nov|Dez)[A-ZÀ-Ý])|\n+|;"
)
_SPACES = re.compile(r"\s+")
_APOSTROPHES = str.maketrans(dict.fromkeys("’ʼ`´", "'"))
_END = " .!…;:,"


@lru_cache(maxsize=8)
def patterns_of(language: str) -> dict[str, re.Pattern[str]]:
    """Return the compiled lists of a language of EUROPEAN by their names."""
    listed = asdict(EUROPEAN[language])
    del listed["signs"]
    return {name: re.compile(pattern) for name, pattern in listed.items()}


def split_european(text: str) -> list[str]:
    """Return the sentences of a text, as written; at most MAX_SENTENCES of its first MAX_CHARS characters."""
    plain = _CODE.sub("\n", text[:MAX_CHARS])
    found = (sentence.strip() for sentence in _SENTENCE.split(plain))
    return [sentence[:MAX_SENTENCE_CHARS] for sentence in found if sentence][:MAX_SENTENCES]


@SizedCache("statements", megabytes=1).remember
def read_european(language: str, sentence: str) -> Statement:
    """Read a sentence of a language of EUROPEAN."""
    patterns = patterns_of(language)
    plain = _SPACES.sub(" ", sentence.translate(_APOSTROPHES).lower()).strip()
    opener = patterns["correction"].match(plain)
    body = (plain[opener.end() :] if opener else plain).strip(_END)
    mood = mood_of(patterns, plain.rstrip(" \"'»)"), body)
    past = patterns["past"].search(body) or patterns["event"].search(body)
    tense = Tense.FUTURE if mood in (Mood.PLAN, Mood.WISH) else Tense.PAST if past else Tense.PRESENT
    return Statement(
        text=sentence,
        body=body,
        language=language,
        mood=mood,
        tense=tense,
        negative=bool(patterns["negative"].search(body)),
        additive=bool(patterns["additive"].search(body)),
        corrects=bool(opener),
        changes=bool(patterns["change"].search(body) or patterns["ended"].search(body)),
        bounds=tuple(sorted({found[0] for found in patterns["bounds"].finditer(body)})),
    )


def mood_of(patterns: dict[str, re.Pattern[str]], plain: str, body: str) -> Mood:
    """Return the mood of a folded sentence. plain: with its end and its opener."""
    if plain.endswith("?") or plain.startswith("¿"):
        return Mood.QUESTION
    if patterns["wish"].search(body):
        return Mood.WISH
    if patterns["condition"].search(body):
        return Mood.CONDITION
    if patterns["report"].search(body):
        return Mood.REPORT
    return Mood.PLAN if patterns["plan"].search(body) else Mood.ASSERTION

"""The language of a text: English, Chinese, German, French, Spanish, or none of those that can be read."""

import re

from apps.core.domain.caches import SizedCache
from apps.retrieval.domain.text.languages import FUNCTION_WORDS, STOPWORDS
from apps.rules.domain.statements.european_words import EUROPEAN
from apps.rules.domain.wordlists import words

# Enough to tell a language, and little to read.
MAX_CHARS, MAX_WORDS = 600, 80
ENGLISH, CHINESE, UNKNOWN = "en", "zh", ""

_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_KANA = re.compile(r"[\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9d]")
_LATIN = re.compile(r"[a-zà-öø-\u024f]")
_OTHER = re.compile(r"[\u0370-\u1dff\u1100-\u11ff\uac00-\ud7a3]")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`]*`|https?://\S+|\S+@\S+", re.DOTALL)
_ELIDED = re.compile(r"(?:[ljdnmtsc]|qu)'[^\W\d_]{2}")
_MARKS = {"de": re.compile("[äöüß]"), "fr": re.compile("[àâçèêëîïôùûœ]"), "es": re.compile("[ñ¿¡áíóú]")}

# Words of English statements that other lists have as well, or that only English has.
_ENGLISH = (STOPWORDS | {"user", "prefers", "likes", "lives", "works", "has", "its"}) - {"me", "an", "so", "am", "was"}
_SIGNS = {
    code: words(listed.signs) - STOPWORDS - {"son", "mon", "comment", "pour", "has"}
    for code, listed in EUROPEAN.items()
}
_SIGNS_AND_NAMES = {code: words(listed.signs) for code, listed in EUROPEAN.items()}
# English words that are as usual in another language, so that they speak for neither.
_SHARED = {
    "de": words("in an am was so war die hat man will also fast her art"),
    "fr": words("on or me a as plus an la"),
    "es": words("a me no o he has en la son van"),
}
_OTHER_SIGNS = {
    name: words(listed) - STOPWORDS
    for name, listed in FUNCTION_WORDS.items()
    if name not in ("german", "french", "spanish")
}
# Of names and phrases in English sentences: "La Paz", "El Niño", "Da Vinci", "de facto".
_IN_NAMES = words("la le el los las de del des du mit da di do van von der den das al en un il san tu es ma sa")


def language_of(text: str) -> str:
    """Return "en", "zh", "de", "fr", "es", or "" for a text in none of them. Accepts any str; linear.

    By script, then by function words. A text that nothing speaks against is English, as most short notes are.
    """
    return _language_of(text[:MAX_CHARS])


@SizedCache("languages of texts", megabytes=1.5, entry_bytes=400, char_bytes=1).remember
def _language_of(text: str) -> str:
    if text.isascii():
        return language_of_words(_CODE.sub(" ", text))
    plain = _CODE.sub(" ", text)
    han, kana = len(_HAN.findall(plain)), len(_KANA.findall(plain))
    if kana * 5 >= max(han, 1) and kana > 1:
        return UNKNOWN
    lowered = plain.lower()
    latin, other = len(_LATIN.findall(lowered)), len(_OTHER.findall(lowered))
    if other > latin + han:
        return UNKNOWN
    if han and is_chinese(lowered, han):
        return CHINESE
    return language_of_words(plain)


def is_chinese(lowered: str, han: int) -> bool:
    """Return whether a text with Chinese characters is Chinese rather than English with a Chinese name in it."""
    found = _WORD.findall(re.sub(_HAN, " ", lowered))[:MAX_WORDS]
    english = sum(word in _ENGLISH for word in found)
    begins = re.search(r"\w", lowered)
    if begins and _HAN.match(begins[0]):
        return han * 2 >= english
    return han > 4 * english if english else han * 2 >= len(found)


def language_of_words(text: str) -> str:
    """Return the language of a text in Latin letters by its function words."""
    written = _WORD.findall(text)[:MAX_WORDS]
    found = [word.replace("’", "'").lower() for word in written]
    said = frozenset(found)
    english = len([word for word in found if word in _ENGLISH])
    best, score, sure = ENGLISH, 0, 0
    lowered = "" if text.isascii() else text.lower()
    # A name begins with a capital letter: "El Paso", "Le Monde".
    names = {word.lower() for word in written[1:] if word[0].isupper()}
    for code, signs in _SIGNS.items():
        hits = said & signs
        if code == "fr":
            # A word that has lost its vowel before another one: "l'équipe", "j'habite".
            hits |= {word for word in said if _ELIDED.match(word) and word[2:] not in ("ll", "ve", "re")}
        own = len(hits - _IN_NAMES) + bool(_MARKS[code].search(lowered))
        count = len(hits - names)
        if count > score or (count == score and own > sure):
            best, score, sure = code, count, own
    against = english
    if best != ENGLISH:
        against = len([word for word in found if word in _ENGLISH and word not in _SHARED[best]])
    if is_read(score, sure, against, len(found)) and not is_other(said, score):
        return best
    return UNKNOWN if is_other(said, max(score, english)) else marked(text, english, score)


def is_read(score: int, sure: int, english: int, count: int) -> bool:
    """Return whether signs of a language outweigh what is English in a text."""
    if sure == 0 or score <= english:
        return False
    return score >= 2 or (count <= 5 and english == 0)


def is_other(found: frozenset[str], score: int) -> bool:
    """Return whether a text has more function words of a language that is not read here."""
    best = max([len(found & signs) for signs in _OTHER_SIGNS.values()], default=0)
    return best >= 2 and best > score


def marked(text: str, english: int, score: int) -> str:
    """Return the language of a text without a clear sign: letters of one language and no English word decide."""
    if english or text.isascii():
        return ENGLISH
    codes = [code for code, letters in _MARKS.items() if letters.search(text.lower())]
    return codes[0] if len(codes) == 1 and score else ENGLISH


def common_language(first: str, second: str) -> str:
    """Return the language that two texts have in common, "" for none. Symmetric.

    A text that nothing speaks against being English, such as "Fumo.", has the language of the other one.
    """
    one, other = language_of(first), language_of(second)
    if one == other:
        return one
    for text, found, language in ((first, one, other), (second, other, one)):
        if found == ENGLISH and language in EUROPEAN and is_undecided(text[:MAX_CHARS], language):
            return language
    return UNKNOWN


def is_undecided(text: str, language: str) -> bool:
    """Return whether a text has no English function word that the other language lacks."""
    found = {word.lower() for word in _WORD.findall(_CODE.sub(" ", text))[:MAX_WORDS]}
    return found.isdisjoint(_ENGLISH - _SHARED[language] - _SIGNS_AND_NAMES[language])

"""Contradictions in German, French and Spanish: only the plainest is acted on, everything else is noticed at most."""

import re
from itertools import islice, product

from apps.core.domain.caches import SizedCache
from apps.rules.domain.contradiction.evidence import Evidence, Reason, strongest
from apps.rules.domain.statements.european import patterns_of, read_european, split_european
from apps.rules.domain.statements.european_words import EUROPEAN
from apps.rules.domain.statements.statement import Statement, Tense

SURE, WEAK = 0.9, 0.6
MAX_PAIRS, MAX_ACTED_CHARS, MAX_ACTED_SENTENCES = 200, 800, 6
MAX_SPAN = 3
MIN_WORD = 4

_WORD = re.compile(r"[$€£]?\d+(?:[.,:]\d+)*%?|(?:[^\W\d_]|\.(?=[^\W\d_]))+(?:-[^\W\d_]+)*|[€$£%]")
_NUMBER = re.compile(r"[$€£]?\d+(?:[.,]\d+)*%?")
_FRENCH_NOT = re.compile(r"\b(?:ne\b|n')|\b(?:pas|plus|jamais)\b")
# Numbers after these words name a thing: "room 5".
_NAMED = re.compile(
    r"(?:zimmer|raum|haus|linie|gleis|tor|gate|nummer|nr|salle|chambre|ligne|quai|porte|numéro|bâtiment|sala|habitación|línea|puerta|edificio|número|version|versión|kapitel|chapitre|capítulo)$"
)


def find_european(language: str, older: str, newer: str) -> Evidence | None:
    """Return the strongest evidence that a newer text contradicts an older one of the same language; None for none.

    The first passage and the first of each differing pair are of the older text. Accepts any str.
    """
    if older == newer:
        return None
    sentences, others = sentences_of(language, older), sentences_of(language, newer)
    pairs = islice(product(sentences, others), MAX_PAIRS)
    found = strongest(compare(language, *pair) for pair in pairs)
    is_long = len(older) > MAX_ACTED_CHARS or len(sentences) > MAX_ACTED_SENTENCES
    if found and is_long and found.score > WEAK:
        return Evidence(found.reason, WEAK, found.first, found.second, found.differing, found.common)
    return found


@SizedCache("statements", megabytes=1).remember
def sentences_of(language: str, text: str) -> tuple[Statement, ...]:
    """Return the statements of a text."""
    return tuple(read_european(language, sentence) for sentence in split_european(text))


def compare(language: str, older: Statement, newer: Statement) -> Evidence | None:
    """Return the evidence that one statement contradicts an older one."""
    if not older.can_decide or not newer.can_decide:
        return None
    found = find_flip(language, older, newer) or find_span(language, older, newer) or find_hint(language, older, newer)
    if found is None or found.score <= WEAK:
        return found
    is_past = Tense.PAST in (older.tense, newer.tense)
    if is_past or newer.additive or older.bounds != newer.bounds:
        return Evidence(found.reason, WEAK, found.first, found.second, found.differing, found.common)
    return found


@SizedCache("statements", megabytes=0.5).remember
def words_of(language: str, body: str) -> tuple[str, ...]:
    """Return the words of a statement with dates and times of day in one form, without words of change."""
    listed = EUROPEAN[language]
    plain = replace_times(language, patterns_of(language).change.sub(" ", body))
    plain = re.sub(
        r"(\d{1,2})\.? (?:de )?(" + "|".join(listed.months) + r")\b",
        lambda m: f"{m[1]}.{listed.months.index(m[2]) + 1}",
        plain,
    )
    return tuple(_WORD.findall(plain.replace("'", " ")))


def replace_times(language: str, plain: str) -> str:
    """Return a text with times of day as 16:00, where they are written with the words of the language."""
    listed = EUROPEAN[language]
    for number, word in enumerate(listed.numbers):
        plain = re.sub(
            rf"\b{word}\b(?= (?:uhr|heures?|y media|y cuarto|de la (?:tarde|noche|mañana)))", str(number), plain
        )
    return re.sub(
        rf"{listed.clock}(?P<half>(?: (?:{listed.afternoon}))?)",
        lambda found: clock_of(found.groupdict()),
        plain,
    )


def clock_of(has: dict[str, str | None]) -> str:
    """Return a time of day of 24 hours."""
    later = has["later"] or ""
    minute = int(has["minute"] or (30 if "media" in later else 15 if "cuarto" in later else later or 0))
    hour = int(has["hour"] or 0)
    if has["half"] and hour < 12:
        hour += 12
    return f" {hour}:{minute:02} "


def find_flip(language: str, older: Statement, newer: Statement) -> Evidence | None:
    """Return the evidence that one statement says the other's words with a "not"."""
    if older.negative == newer.negative:
        return None
    one, other = (affirmed(language, statement.body) for statement in (older, newer))
    if one != other or len(one) < 2:
        return None
    return Evidence(Reason.NEGATION, SURE, older.text, newer.text, (), (" ".join(one),))


def affirmed(language: str, body: str) -> tuple[str, ...]:
    """Return the words of a statement without those that deny it and the articles that go with them."""
    patterns, listed = patterns_of(language), EUROPEAN[language]
    if language == "fr":
        # "de la viande" is denied as "de viande".
        plain = _FRENCH_NOT.sub(" ", re.sub(r"\bde (?:la |l')", " ", body))
    else:
        plain = patterns.negative.sub(lambda found: kept_of(found[0]), body)
    plain = patterns.change.sub(" ", plain)
    return tuple(_WORD.findall(re.sub(listed.dropped, " ", plain).replace("'", " ")))


def kept_of(denied: str) -> str:
    """Return the noun in "kein Vegetarier mehr", "" where only the "not" was found."""
    found = re.match(r"kein\w* (\w+) mehr", denied)
    return found[1] if found else " "


def find_span(language: str, older: Statement, newer: Statement) -> Evidence | None:
    """Return the evidence that two statements have the same words but for one value or one span."""
    if older.negative != newer.negative:
        return None
    one, other = words_of(language, older.body), words_of(language, newer.body)
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    end = 0
    while end < min(len(one), len(other)) - start and one[-1 - end] == other[-1 - end]:
        end += 1
    value, new = one[start : len(one) - end], other[start : len(other) - end]
    if start == 0 or not value or not new or max(len(value), len(new)) > MAX_SPAN:
        return None
    score = score_span(language, " ".join(one[:start]), value, new, one[len(one) - end :], newer)
    reason = Reason.VALUE if kind_of(language, value) else Reason.REPLACED
    pair = (" ".join(value), " ".join(new))
    return Evidence(reason, score, older.text, newer.text, (pair,), (" ".join(one[:start]),)) if score else None


def score_span(
    language: str, before: str, value: tuple[str, ...], new: tuple[str, ...], after: tuple[str, ...], newer: Statement
) -> float:
    """Return how sure it is that the second span takes the place of the first one, 0 for no evidence."""
    listed = EUROPEAN[language]
    kind, other = kind_of(language, value), kind_of(language, new)
    sure = newer.changes or newer.corrects
    single = re.search(rf"(?:{listed.single})$", before)
    if kind != other:
        return 0
    if kind:
        definite = re.search(listed.definite, before) and not _NAMED.search(before)
        return SURE if definite or (single and not _NAMED.search(before)) else WEAK
    if single and len(after) == 0:
        return SURE if sure or all(len(span) == 1 for span in (value, new)) else WEAK
    return WEAK if sure else 0


def kind_of(language: str, span: tuple[str, ...]) -> str:
    """Return the kind of a value: number, time, date, weekday; "" for other words."""
    if len(span) != 1:
        return ""
    word, listed = span[0], EUROPEAN[language]
    if re.fullmatch(r"\d{1,2}:\d\d", word):
        return "time"
    if re.fullmatch(r"\d{1,2}\.\d{1,2}", word):
        return "date"
    if _NUMBER.fullmatch(word):
        return "number"
    return "weekday" if word.rstrip("s") in {day.rstrip("s") for day in listed.weekdays} else ""


def find_hint(language: str, older: Statement, newer: Statement) -> Evidence | None:
    """Return weak evidence: the newer statement reports a change or denies something of the same matter."""
    if newer.additive or not (newer.changes or newer.corrects or older.negative != newer.negative):
        return None
    one, other = words_of(language, older.body), words_of(language, newer.body)
    common = {word for word in one if len(word) >= MIN_WORD} & set(other)
    if not common or len(common) * 4 < len(one):
        return None
    return Evidence(Reason.CHANGE, WEAK, older.text, newer.text, (), tuple(sorted(common)))


def restated_european(language: str, first: str, second: str) -> float:
    """Return 1 for two texts with the same words in the same order, times and dates in one form; else 0."""
    if first == second:
        return 1.0
    one, other = sentences_of(language, first), sentences_of(language, second)
    if [(s.mood, s.tense, s.negative) for s in one] != [(s.mood, s.tense, s.negative) for s in other]:
        return 0.0
    words, others = (tuple(plain_of(language, s.body) for s in side) for side in (one, other))
    return 1.0 if words == others != () else 0.0


def plain_of(language: str, body: str) -> tuple[str, ...]:
    """Return the words of a statement without the small words before a time."""
    found = words_of(language, body)
    return tuple(
        word
        for at, word in enumerate(found)
        if word not in ("a", "à", "um", "las", "la") or ":" not in "".join(found[at + 1 : at + 2])
    )

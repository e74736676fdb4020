"""The entry to the languages other than English: what is read of them, and what the words of Chinese show.

What German, French and Spanish texts say of each other is left to the judge of pairs: rules over their words found
nothing that it did not. They are read all the same, for questions, plans and the past.
"""

from apps.rules.domain.contradiction.chinese.compare import find_chinese, restates_chinese
from apps.rules.domain.contradiction.evidence import Evidence
from apps.rules.domain.statements.chinese import read_chinese, split_chinese
from apps.rules.domain.statements.european import read_european, split_european
from apps.rules.domain.statements.european_words import EUROPEAN
from apps.rules.domain.statements.statement import Statement


def find_in_language(language: str, older: str, newer: str) -> Evidence | None:
    """Return the strongest evidence that a newer text contradicts an older one, both in one language; None for none.

    language: as `language_of` names it; English has its own entry. The first passage is the older text's.
    """
    return find_chinese(older, newer) if language == "zh" else None


def restated_share_in(language: str, first: str, second: str) -> float:
    """Return how much two texts of one language say the same, in [0, 1]; symmetric."""
    if first == second:
        return 1.0
    return restates_chinese(first, second) if language == "zh" else 0.0


def read_in(language: str, text: str) -> tuple[Statement, ...]:
    """Return the statements of a text in one language; none for a language that is not read here."""
    if language == "zh":
        return tuple(read_chinese(sentence) for sentence in split_chinese(text))
    if language in EUROPEAN:
        return tuple(read_european(language, sentence) for sentence in split_european(text))
    return ()

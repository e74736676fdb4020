"""Facts in the turns of a conversation, found by patterns."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date

from apps.notes.domain.extraction.chinese import ChineseReader, split_chinese
from apps.notes.domain.extraction.english.find import EnglishReader
from apps.notes.domain.extraction.fact import Fact, ReadFact, Turn
from apps.notes.domain.extraction.known import Known, Recalled
from apps.notes.domain.extraction.prose import (
    MAX_SENTENCE_CHARS,
    MAX_SENTENCES,
    clean_text,
    mask_quotes,
    own_lines,
    unmask,
)
from apps.rules.domain.statements.language import CHINESE, ENGLISH, language_of
from apps.rules.domain.statements.read import split_into_sentences

# Of more turns the last are read.
MAX_TURNS = 500


def extract_facts(turns: Sequence[Turn], *, recalled: Sequence[str] = ()) -> list[Fact]:
    """Return what is worth knowing later in the turns of users, in their order. Accepts any text; linear in time.

    What is left out: questions, code, quotes, logs, texts to be worked on, small talk, suppositions, requests about the
    task in hand, and what only repeats `recalled`, the texts that the assistant was given from memory. Of what is said
    twice one is taken, of what is corrected the later. Where several people write, each content begins with the name.
    """
    known = Known(Recalled(recalled))
    speakers = {turn.speaker for turn in turns if turn.role == "user" and turn.speaker}
    for number, turn in list(enumerate(turns))[-MAX_TURNS:]:
        if turn.role != "user":
            continue
        prefix = f"{turn.speaker}: " if len(speakers) > 1 and turn.speaker else ""
        for found in facts_of_turn(turn.text, turn.at.date() if turn.at else None):
            known.add(found, number, prefix)
    return known.facts()


def facts_of_turn(text: str, at: date | None) -> Iterator[ReadFact]:
    """Yield the facts of one message, in its order."""
    masked: list[str] = []
    english, chinese = EnglishReader(at), ChineseReader(at)
    sentences = 0
    for line in own_lines(clean_text(text)):
        language = language_of(line)
        split = split_chinese if language == CHINESE else split_into_sentences
        for sentence in split(mask_quotes(line, masked)):
            sentences += 1
            if sentences > MAX_SENTENCES:
                return
            if len(sentence) > MAX_SENTENCE_CHARS or not sentence.strip():
                continue
            if language == CHINESE:
                found = chinese.read(sentence.strip())
            else:
                found = english.read(sentence.strip()) if language_of(sentence) == ENGLISH else []
            for fact in found:
                yield replace(fact, content=unmask(fact.content, masked), quote=unmask(fact.quote, masked))

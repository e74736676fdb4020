"""What is known already: texts recalled from memory, and the facts found before in the same conversation."""

import re
from collections.abc import Iterable, Sequence

from apps.notes.domain.extraction.fact import Fact, ReadFact
from apps.retrieval.domain.text.languages import STOPWORDS
from apps.retrieval.domain.text.stems import stem
from apps.rules.domain import wordlists
from apps.rules.domain.contradiction.judgement import DECISIVE, find_evidence
from apps.rules.domain.statements.chinese_folds import FOLD
from apps.rules.domain.statements.language import CHINESE, language_of

_NUMBER = r"(?:\d[\d.,:/-]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty)"
_LAST_NUMBER = re.compile(rf"\b{_NUMBER}\b(?!.*\b{_NUMBER}\b)", re.IGNORECASE)
_LAST_NAME = re.compile(r"(?<=[a-z0-9,] )[A-Z][\w'-]*(?: [A-Z][\w'-]*)*(?!.* [A-Z])")
_CHINESE_VALUE = re.compile(
    r"^(.*(?:住在|搬到|搬去|来自|來自|叫做|叫|喜欢|喜歡|改用|采用|採用|使用|在|是|用|住|姓|去|到))[^，。]+"
)
_CHINESE_NUMBER = re.compile(r"[0-9一二两兩三四五六七八九十百]+(?:岁|歲|点|點|个|個|号|號|日|月|天|年|公斤|公分)")
MAX_RECALLED_CHARS, MAX_RECALLED = 200_000, 5000
# Earlier facts that a fact is compared with: the latest of the same kind.
COMPARED = 6
# How many turns after a fact "I meant Bergen" still speaks of it.
CORRECTED_TURNS = 2
_SPLIT = re.compile(r"[\n。！？!?;；]+|(?<=[a-z0-9)]\.) ")
_WORD = re.compile(r"[a-z0-9]+(?:'[a-z]+)?|[\u3400-\u9fff]+|[^\W\d_a-z]+")
_BRACKETS = re.compile(r"\s*[(（][\d/:-]{4,}[)）]")
_NOT = re.compile(r"\b(?:not|no|never|none|cannot)\b|n't\b|[不没無沒别別]")
_SMALL = STOPWORDS | wordlists.words("i'm i've my me we our user users the a an really just also very now currently")
# Sentences about the speaker: "I live in Oslo" says nothing of "My sister lives in Oslo".
_FIRST = re.compile(
    r"\W*(?:(?:i|we|the user|user)\b|i'|我(?!的?[家妹姐姊弟哥爸媽妈太老先女兒儿男朋同室])|用[戶户]|使用者)",
    re.IGNORECASE,
)


def replace_value(content: str, value: str) -> str:
    """Return a fact with another value in place of the one of the same kind, "" where that is not certain.

    The kinds: names with capital letters, numbers, and of Chinese what follows the verb.
    """
    if not value:
        return ""
    if language_of(content) == CHINESE:
        number = _CHINESE_NUMBER.fullmatch(value)
        if number:
            return _CHINESE_NUMBER.sub(value, content, count=1) if _CHINESE_NUMBER.search(content) else ""
        found = _CHINESE_VALUE.match(content)
        return f"{found[1]}{value}{content[found.end() :]}" if found else ""
    last = _LAST_NUMBER if re.fullmatch(rf"{_NUMBER}(?: .*)?", value, re.IGNORECASE) else _LAST_NAME
    if last is _LAST_NAME and not value[0].isupper():
        return ""
    if last is _LAST_NUMBER and " " in value:
        return ""
    places = list(last.finditer(content))
    return f"{content[: places[-1].start()]}{value}{content[places[-1].end() :]}" if places else ""


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text that say something, without endings; pairs of characters of Chinese."""
    found: set[str] = set()
    for word in _WORD.findall(_BRACKETS.sub("", text).lower().translate(FOLD)):
        if "\u3400" <= word[0] <= "\u9fff":
            found.update(word[at : at + 2] for at in range(max(1, len(word) - 1)))
        elif word not in _SMALL:
            found.add(stem(word.removesuffix("'s"), "english"))
    return frozenset(found)


def is_negated(text: str) -> bool:
    """Return whether a text has a word that denies."""
    return _NOT.search(text.lower()) is not None


class Recalled:
    """Sentences of texts that the assistant was given from memory, by their words."""

    def __init__(self, texts: Iterable[str]) -> None:
        """Read the sentences of the texts, up to MAX_RECALLED_CHARS and MAX_RECALLED."""
        self.sentences: list[tuple[frozenset[str], bool, bool]] = []
        self.places: dict[str, list[int]] = {}
        left = MAX_RECALLED_CHARS
        for text in texts:
            for sentence in _SPLIT.split(text[:left]):
                if sentence.strip() and len(self.sentences) < MAX_RECALLED:
                    self.add(sentence)
            left -= min(left, len(text))

    def add(self, sentence: str) -> None:
        words = words_of(sentence)
        for word in words:
            self.places.setdefault(word, []).append(len(self.sentences))
        self.sentences.append((words, is_negated(sentence), bool(_FIRST.match(sentence.lstrip("-*• ")))))

    def has(self, content: str) -> bool:
        """Return whether a recalled sentence says all that a fact does: each of its words, and "not" where it does."""
        words = words_of(content)
        if not words or any(word not in self.places for word in words):
            return False
        rarest = min(words, key=lambda word: len(self.places[word]))
        negated, first = is_negated(content), bool(_FIRST.match(content))
        return any(
            words <= known and negated is denied and (first is spoken or not first)
            for known, denied, spoken in (self.sentences[at] for at in self.places[rarest])
        )


class Known:
    """The facts of a conversation so far: each once, and of what was corrected the later."""

    def __init__(self, recalled: Recalled) -> None:
        self.recalled = recalled
        self.found: dict[tuple[str, frozenset[str], bool], Fact] = {}

    def add(self, found: ReadFact, turn: int, prefix: str) -> None:
        """Add a fact unless it is known, and take back those that it corrects."""
        if found.value:
            self.correct(found, turn, prefix)
            return
        if self.recalled.has(found.content):
            return
        key = (prefix, words_of(found.content), is_negated(found.content))
        for other in self.corrected(found, prefix):
            del self.found[other]
        if key in self.found:
            return
        content = prefix + found.content
        self.found[key] = Fact(content, found.category, turn, found.quote, found.confidence, found.pattern)

    def correct(self, found: ReadFact, turn: int, prefix: str) -> None:
        """Put another value into the fact before; take that back where it cannot be said which value is meant."""
        last = next((key for key in reversed(self.found) if key[0] == prefix), None)
        if last is None or turn - self.found[last].turn > CORRECTED_TURNS:
            return
        fact = self.found.pop(last)
        content = replace_value(fact.content.removeprefix(prefix), found.value)
        if content:
            self.add(ReadFact(content, fact.category, found.quote, fact.confidence, fact.pattern, True), turn, prefix)

    def corrected(self, found: ReadFact, prefix: str) -> Sequence[tuple[str, frozenset[str], bool]]:
        """Return the keys of earlier facts of the same person that a fact contradicts."""
        alike = [
            key
            for key, fact in self.found.items()
            if key[0] == prefix and (fact.category is found.category or fact.pattern == found.pattern)
        ]
        least = 0.0 if found.corrects else DECISIVE
        scores = {
            key: find_evidence(self.found[key].content.removeprefix(prefix), found.content) for key in alike[-COMPARED:]
        }
        return [key for key, evidence in scores.items() if evidence and evidence.score >= least]

    def facts(self) -> list[Fact]:
        """Return the facts in the order in which they were said."""
        return list(self.found.values())

"""Reading texts as statements: sentences and their clauses, each with its mood, tense and polarity."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import replace

from apps.core.domain.caches import SizedCache
from apps.rules.domain.statements.english import is_inverted, read_body, read_english, strip_openers
from apps.rules.domain.statements.english_verbs import base_of
from apps.rules.domain.statements.statement import Mood, Statement

MAX_CHARS = 4000
MAX_STATEMENTS = 60
# A sentence of more clauses enumerates: what one of them supposes does not concern the others.
FEW_CLAUSES = 3
_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_SPACES = re.compile(r"[^\S\n]+")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]»”’]{0,3} +|[\n。！？；]+|; *")
_ABBREVIATED = re.compile(
    r"(?:^|[\s(])(?:dr|mr|mrs|ms|prof|st|no|vs|etc|co|approx|e\.g|i\.e|a\.m|p\.m|jr|sr|dept|ext|vol|fig|est|[a-z])\.$",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(
    r", +(?:(?:and|but|so) )?|: +| +[-–—]+ +| (?=(?:but|because|since|now that|so that|although|though|whereas)\b)",
    re.IGNORECASE,
)
_CONDITIONAL = re.compile(r"\b(?:if|unless|suppose|imagine|in case)\b", re.IGNORECASE)
_CLAUSE_START = re.compile(
    r"(?:i|we|you|he|she|it|they|there|user|the|a|an|my|our|his|her|their|its|this|that|these|those|not|no|so|if|please|because"
    r"|since|but|although|though|whereas|now|as|on|in|at|and|who|which|everybody|everyone|nobody|all|some|both|two|keys)\b"
    r"|(?-i:[A-Z])|\S+ (?:is|are|was|were|has|have|can|will)\b",
    re.IGNORECASE,
)
_ADVERBIAL = re.compile(
    r"(?:in|on|at|for|with|from|during|since|after|until|under|by|as of) (?:[^\s,]+ ?){1,5}", re.IGNORECASE
)
# "Revised quote: 11,400 euros", "MRI appointment: 12 March", "Status of the ticket: in review".
_LABEL = re.compile(
    r"^((?:the |my |our )?(?:[\w'-]+ ){1,6}[\w'-]+): ((?:the )?[$€£]?\d.*|(?:mon|tues|wednes|thurs|fri|satur|sun)day.*"
    r"|on the \d.*|(?:[\w-]+ ){0,2}[\w-]+\.?)$",
    re.IGNORECASE,
)
_AND_PERSON = re.compile(r" and (?=(?:i|we|he|she|they|it|user)\b)", re.IGNORECASE)
_BE = frozenset(("is", "are", "am", "was", "were", "has", "have", "had", "can", "i'm", "we're"))
_DEFINITE = re.compile(r"(?:i|we|he|she|they|it|the|my|our|his|her|their|its|this)\b", re.IGNORECASE)
_REASON = re.compile(r"(?:now that|since)\b", re.IGNORECASE)
_SAYS = re.compile(r"(?:says?|said|according to|claims?|thinks?) (?-i:[A-Z])", re.IGNORECASE)


def split_into_sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text; "Dr. Brandt" and "a.m." do not end one."""
    start = 0
    for end in _SENTENCE_END.finditer(text):
        if end[0].startswith(" ") and _ABBREVIATED.search(text[max(start, end.start() - 8) : end.start()]):
            continue
        yield text[start : end.start()]
        start = end.end()
    yield text[start:]


@SizedCache("statements", megabytes=0.5, char_bytes=10).remember
def statements_of(text: str) -> tuple[Statement, ...]:
    """Read a text as statements, one for each clause, at most MAX_STATEMENTS; code blocks are skipped."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    text = _SPACES.sub(" ", _CODE.sub("\n", text[:MAX_CHARS]))
    found: list[Statement] = []
    for sentence in split_into_sentences(text):
        if sentence.strip():
            is_short = len(found) <= FEW_CLAUSES
            corrected = is_short and any(statement.corrects for statement in found)
            read = read_sentence(sentence.strip())
            found += [replace(statement, corrects=True) for statement in read] if corrected else read
        if len(found) >= MAX_STATEMENTS:
            break
    return tuple(found[:MAX_STATEMENTS])


def read_sentence(sentence: str) -> list[Statement]:
    """Read the clauses of a sentence: what holds for the whole of it holds for each."""
    labelled = _LABEL.sub(r"\1 is \2", sentence) if ": " in sentence else sentence
    body, corrects = strip_openers(labelled.strip().replace("’", "'"))
    parts = join_parts([clause for part in _CLAUSE_END.split(body) for clause in split_at_and(part) if clause.strip()])
    if len(parts) < 2:
        return [read_body(sentence, parts[0] if parts else body, corrects)]
    clauses = [read_english(part) for part in parts]
    asks = [clause.mood is Mood.QUESTION for clause in clauses]
    is_question = body.rstrip(" \"')]»”").endswith(("?", "？")) or asks[0]
    if any(clause.mood is Mood.COMMAND for clause in clauses) and not is_question:
        return [replace(clause, text=sentence, corrects=corrects) for clause in clauses]
    is_short = len(clauses) <= FEW_CLAUSES
    # Of "I run 5 km now, how can I improve?" only the second part asks.
    is_asked = is_question and (asks[0] or (not any(asks[:-1]) and not is_inverted(parts[-1])))
    mood = Mood.QUESTION if is_asked else Mood.CONDITION if is_short and _CONDITIONAL.search(body) else None
    if clauses[0].mood is Mood.REPORT or (is_short and _SAYS.match(parts[-1])):
        mood = Mood.REPORT
    holder = next((clause.holder for clause in clauses if clause.holder), "")
    return [
        replace(
            clause,
            text=sentence,
            mood=mood or clause.mood,
            holder=clause.holder or (holder if mood is Mood.REPORT else ""),
            corrects=corrects or clause.corrects,
            additive=clause.additive or (is_short and clauses[0].additive),
            changes=clause.changes or (at + 1 < len(parts) and bool(_REASON.match(parts[at + 1]))),
        )
        for at, clause in enumerate(clauses)
    ]


def split_at_and(part: str) -> list[str]:
    """Split a clause at "and I" where a verb precedes: not "Sam and I got married"."""
    found = _AND_PERSON.search(part)
    if not found or not any(base_of(word) or word in _BE for word in part[: found.start()].lower().split()[1:]):
        return [part]
    return [part[: found.start()], part[found.end() :]]


def join_parts(parts: list[str]) -> list[str]:
    """Join what is no clause to one that is: "short, detailed answers", "in the config, the port is"."""
    joined: list[str] = []
    for part in parts:
        if joined and not _CLAUSE_START.match(part):
            joined[-1] = f"{joined[-1]}, {part}"
        elif len(joined) == 1 and _ADVERBIAL.fullmatch(joined[0]):
            joined[0] = f"{joined[0]} {part}" if _DEFINITE.match(part) else f"{part.rstrip('. ')} {joined[0].lower()}"
        else:
            joined.append(part)
    return joined

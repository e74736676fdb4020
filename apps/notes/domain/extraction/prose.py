"""What a person says in their own words in a message: without code, quotes, logs and texts that are to be worked on."""

import re
import unicodedata
from collections.abc import Iterator

# A longer message is a paste: what its writer says is at its beginning.
MAX_CHARS = 20_000
MAX_SENTENCES = 200
MAX_SENTENCE_CHARS = 400
# A quote of more than these is what someone else says; a shorter one is a name or a title.
MAX_TITLE_WORDS, MAX_TITLE_HAN = 3, 8
# Stand for what is quoted: characters of the private area, which no text of people uses.
FIRST_MASK, MASKS = 0xE000, 6000

_MASKED = re.compile(f"[{chr(FIRST_MASK)}-{chr(FIRST_MASK + MASKS)}]")
_INVISIBLE = re.compile(
    r"[\u0000-\u0008\u000b-\u001f\u007f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ue000-\uf8ff\ufeff]"
)
_PLAIN = str.maketrans(
    {"’": "'", "‘": "'", "ʼ": "'", "`": "`", "\u00a0": " ", "\u3000": " ", "\u2028": "\n", "\u2029": "\n"}
)
_SPACES = re.compile(r"[^\S\n]+")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_INLINE_FENCE = re.compile(r"```[^`\n]*```")
_BULLET = re.compile(r"^\s*(?:[-*•+–]|\d{1,3}[.)、]|#{1,6}|\[[ x]\])\s+")
_QUOTED = re.compile(
    r'"[^"\n]+"|“[^“”\n]+”|«[^«»\n]+»|「[^「」\n]+」|『[^『』\n]+』|`[^`\n]+`'
    r"|(?<!\w)'(?:[^'\n]|(?<=\w)'(?=\w))+'(?!\w)"
)
_WORD = re.compile(r"[^\W_]+")
_HAN = re.compile(r"[\u3400-\u9fff]")
# Lines of logs, of traces, of a terminal, of tables and of differences between files.
_LOG = re.compile(
    r"\s*(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d|\[?(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE"
    r"|FATAL|CRITICAL)\b"
    r"|Traceback \(|File \"|at [\w.$<>]+\(|\$ \S|>|\.\.\. |\+\+\+ |--- \S|@@ |diff --git|npm ERR|error\["
    r"|\w*(?:Error|Exception):"
    r"|\||<[/!\w])"
)
_CODE = re.compile(
    r"\s*(?:def |class \w+[:({]|import \w|from \S+ import|const |let \w+ ?=|var |function\b.*[({]|return\b.*;"
    r"|if \(|for \(|while \("
    r"|#include|SELECT\b.*\bFROM\b|INSERT INTO|UPDATE \w+ SET|CREATE TABLE|public |private |@\w+\s*$|//|/\*"
    r"|\* @|[\w.\[\]\"']+ ?[:+-]?= ?\S"
    r"|[\w.]+\(.*\)[;:]?\s*$|[{}()\[\];]+\s*$|\"[\w-]+\"\s*:)|.*(?:[{;]|=>|\);)\s*$"
)
# From here on a message has the text of someone else: a mail with its head.
_MAIL = re.compile(r"\s*(?:from|to|cc|subject|sent|寄件者|收件者|主旨|发件人|收件人|主题)\s*[:：] ?\S", re.IGNORECASE)
_SPOKEN = re.compile(r"\s*(?:\[?[\d:apm ]{3,12}\]? ?)?[^\W\d_][\w.]{0,20}(?: [A-Z]\w{0,20})?\s?[:：] ?\S")
# What follows the colon of a request is the material of it.
_TASK = re.compile(
    r".{0,60}\b(?:translate|translation|proofread|rephrase|paraphrase|rewrite|reword|summari[sz]e|summary"
    r"|polish|shorten|spell-?check"
    r"|improve|edit|fix|correct|review|check|explain|analy[sz]e|classify|debug|extract|grammar|what does"
    r"|what do you think (?:of|about)"
    r"|here(?:'s| is| are)|this is (?:the|my|an?|what)|the (?:error|log|output|message|text|mail|email"
    r"|following)|says?|said|wrote|reads?"
    r"|example|sentences?|write|draft|continue)\b.{0,120}:\s*(?P<rest>.*)$",
    re.IGNORECASE,
)
_TASK_ZH = re.compile(
    r".{0,30}(?:翻[譯译]|潤[飾色]|润[饰色]|改[寫写]|校[對对]|摘要|[總总][結结]|文法|語法|语法|修改|解[釋释]|分析|以下|下面|例句|例如|比如|這[段句篇封]"
    r"|这[段句篇封]|[寫写]道|[寫写]著|[寫写]着|[說说]|[內内]容|[訊讯]息|[錯错][誤误]).{0,60}[：:]\s*(?P<rest>.*)$"
)


def clean_text(text: str) -> str:
    """Return the beginning of a message with plain apostrophes and spaces, without invisible characters."""
    plain = _INVISIBLE.sub("", text[:MAX_CHARS].replace("\r\n", "\n").replace("\r", "\n").translate(_PLAIN))
    return unicodedata.normalize("NFC", _SPACES.sub(" ", plain))


def own_lines(text: str) -> Iterator[str]:
    """Yield the lines of a cleaned message that its writer says: no code, quotes, logs, or material of a request."""
    lines = _INLINE_FENCE.sub(" ", text).split("\n")
    spoken = sum(1 for line in lines if _SPOKEN.match(line) and not _BULLET.match(line))
    in_fence = False
    for line in lines:
        if _FENCE.match(line):
            in_fence = not in_fence
            continue
        if in_fence or not line.strip() or _LOG.match(line) or _CODE.match(line):
            continue
        if _MAIL.match(line):
            return
        if spoken > 1 and _SPOKEN.match(line) and not _BULLET.match(line):
            continue
        if line.rstrip().endswith((":", "：")) or _TASK.match(line) or _TASK_ZH.match(line):
            if _TASK.match(line) or _TASK_ZH.match(line):
                return
            continue
        yield _BULLET.sub("", line, count=1).strip(" *_")


def mask_quotes(line: str, masked: list[str]) -> str:
    """Return a line with one character for each longer quote; what they stand for is added to `masked`."""

    def mask(found: re.Match[str]) -> str:
        inside = found[0][1:-1]
        han = len(_HAN.findall(inside))
        if (han and han <= MAX_TITLE_HAN) or (not han and len(_WORD.findall(inside)) <= MAX_TITLE_WORDS):
            return found[0]
        masked.append(found[0])
        return chr(FIRST_MASK + (len(masked) - 1) % MASKS)

    return _QUOTED.sub(mask, line)


def has_mask(text: str) -> bool:
    """Return whether something quoted was taken out of a text."""
    return _MASKED.search(text) is not None


def unmask(text: str, masked: list[str]) -> str:
    """Return a text with its quotes."""
    return _MASKED.sub(lambda found: masked[ord(found[0]) - FIRST_MASK], text)

"""Facts in Chinese sentences, traditional and simplified. The content is in the words and the script of the person."""

import re
from dataclasses import dataclass, replace
from datetime import date

from apps.notes.domain.extraction import chinese_patterns as patterns
from apps.notes.domain.extraction.dates import CHINESE_DATE, resolve_chinese_dates
from apps.notes.domain.extraction.fact import Category, Pattern, ReadFact
from apps.notes.domain.extraction.prose import has_mask
from apps.rules.domain.statements.chinese import fold_chinese, mood_of, mood_of_question, read_report
from apps.rules.domain.statements.chinese_folds import FOLD
from apps.rules.domain.statements.chinese_words import CONDITIONS, CORRECTS

MAX_CONTENT_CHARS, MIN_CONTENT_CHARS, MAX_VALUE_CHARS = 90, 4, 10
_SENTENCE = re.compile(r"[^。！!？?；;\n]+[。！!？?；;]*")
_PART = re.compile(r"[^，,：:~～…]+")
_LEAD = re.compile(
    "^(?:嗨|哈喽|哈啰|你好|您好|大家好|早安|晚安|对了|另外|还有|顺便(?:说一下|一提|提一下)?|跟你说|告诉你|话说|嗯+|哦+|喔+|啊+|欸|唉|其实|老实说|说真的|说实话|坦白说"
    "|因为|所以|不过|但是|但|而且|然后|好的?|好啊|可以|谢谢|没错|对|是的|基本上|总之|首先|第一|再来|补充一下|更新一下|备注|提醒一下|附带一提|只是|虽然|由于|以及|并且"
    "|于是|那么|喂|ok|hi|hello|哎呀|目前(?=我))[\\s,，、:：!！~]*"
)
_REMEMBERS = re.compile(
    "^(?:请|麻烦|拜托|也|你|您|要|帮我|还有|那|千万|一定|务必|好好)*(?:记住|记得(?!我们|吗|上次|那|当时|没)|记下来?|记一下|记着|别忘了?|别忘记|不要忘了?"
    "|不要忘记|勿忘|牢记|备忘|笔记一下|存一下)(?:一件事|这点|这件事|喔|哦|了)?[\\s,，、:：!！]*"
)
_REPAIR = re.compile(
    f"^(?:(?:啊|抱歉|不好意思|等等|不对|{CORRECTS}|我刚刚?|刚才|了|应该是|说成|才对|更正)[\\s,，、:：!！]*)+"
)
_CORRECTION = re.compile("抱歉|不好意思|我是要?说|说错|记错|写错|搞错|更正|不对|应该是|口误|打错")
_CONDITION = re.compile(CONDITIONS)
_SUPPOSED = re.compile(
    "假设|扮演|假装|想像|想象|故事|小说里|电影里|主角|剧情|角色|例如|比如|比方说|呵呵|才怪|开玩笑|骗你的|最好是|真有你的"
)
_QUESTION_WORD = re.compile("什么|怎么|哪|谁|吗|呢$|几点|多少|为何|是否|是不是|有没有|会不会|能不能|可不可以|要不要")
_POINTS = re.compile(
    "^(?:这|那(?!我们|就|些年)|它|他|她|上面|以上|如下|你(?!以后|之后|今后)|您(?!以后))|这个(?!月|周|礼拜|星期|项目|专案|暑|寒|年|学期|周末)|那个|它"
    "|这样|那样|这些|那些|这段|这句|刚才|你的|你说|上述|前者|后者|这里|那里|那边|这边"
)
_KIN = re.compile(patterns.KIN)
_COMPARED = re.compile("比起|跟|和|相比")
_OWN_SENTENCE = re.compile("我|你|您|请|帮|这|那|谢|想问|可以|能")
_TAIL = re.compile("(?:谢谢|感谢|拜托了?|哈哈+|呵呵|喔|哦|啦|耶|唷|哟|呀|啊|吼|齁|~|～|xd|谢啦)+$", re.IGNORECASE)
_TODAY = re.compile("今天|今日|今早|今晨")
_DONE = re.compile("[^好为除到不解罢得]了(?!解)|过(?!年|节|期|夜|敏|来|去)")
_AHEAD = re.compile("要|会|将|打算|准备|预计|得|需要|必须|晚上|傍晚|今晚|等[下会]|待会|稍后")
_PAST_DATE = ("昨", "前天", "去年", "上", "前年")
_FESTIVAL = re.compile(
    "国庆|春节|过年|中秋|端午|清明|暑假|寒假|圣诞|元旦|跨年|连假|五一|十一长假|年底|月底|月初|年初|周末|[0-9]{1,2}/[0-9]{1,2}"
)


@dataclass(frozen=True, slots=True)
class FoldedClause:
    """A clause, folded, and where it is in its sentence."""

    plain: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class PatternMatch:
    """Where in a sentence a fact is said, by which pattern, and the subject that it leaves out."""

    start: int
    end: int
    pattern: Pattern
    subject: str = ""


def split_chinese(line: str) -> list[str]:
    """Return the sentences of a line with the marks that end them."""
    return [found.strip() for found in _SENTENCE.findall(line) if found.strip()]


class ChineseReader:
    """Reads the sentences of one turn in their order, so that 她 of a sentence is the sister of the one before."""

    def __init__(self, at: date | None) -> None:
        """at: the day of the turn, None where it is not known."""
        self.at = at
        self.person = ""

    def read(self, sentence: str) -> list[ReadFact]:
        """Return the facts of a sentence, in its order."""
        person, self.person = self.person, ""
        if person and sentence[0] in "他她":
            sentence = person + sentence[1:]
        folded = sentence.translate(FOLD)
        if _SUPPOSED.search(folded) or len(sentence) < MIN_CONTENT_CHARS:
            return []
        corrects = bool(_CORRECTION.search(folded[:12]))
        parts, remembers = parts_of(folded)
        is_question = mood_of_question(fold_chinese(sentence)) is not None
        if is_question:
            parts = parts[:-1]
        ordered = self.find_order(sentence, parts) if not is_question else None
        if ordered:
            return [ordered]
        if has_mask(sentence) or _CONDITION.search(folded):
            return []
        found = self.facts_of(sentence, parts, corrects)
        if not found and remembers and parts and not is_question:
            found = self.checked(self.make(sentence, parts[0].start, parts[-1].end, patterns.LAST[0], corrects))
        if not found and corrects and len(parts) == 1 and 0 < len(parts[0].plain) <= MAX_VALUE_CHARS:
            value = sentence[parts[0].start : parts[0].end]
            return [ReadFact("", patterns.LAST[0].category, sentence, 0.0, "", True, value)]
        if found:
            # Whom the fact is about, such as 我妹妹; the speaker otherwise.
            content = found[-1].content
            kin = _KIN.match(content.translate(FOLD))
            self.person = content[: kin.end()] if kin else ""
        return found

    def find_order(self, sentence: str, parts: list[FoldedClause]) -> ReadFact | None:
        """Return the standing instruction that a sentence is, from the clause that says it on."""
        for number, part in enumerate(parts):
            rest = squeezed(sentence[part.start : parts[-1].end])
            for pattern in patterns.ORDERED:
                if pattern.regex.match(rest) and not is_asked(rest):
                    first = parts[number - 1] if number and not part.plain.startswith(("以后", "今后", "从")) else part
                    if number and first is not part and first.plain.startswith("我"):
                        first = part
                    made = self.make(sentence, first.start, parts[-1].end, pattern, False)
                    return made if len(made.content) <= MAX_CONTENT_CHARS else None
        return None

    def facts_of(self, sentence: str, parts: list[FoldedClause], corrects: bool) -> list[ReadFact]:
        """Return the facts of the clauses. A clause without a subject of its own belongs to the one before it."""
        spans: list[PatternMatch] = []
        is_open = speaks = False
        for number, part in enumerate(parts):
            asked = is_asked(part.plain)
            pattern = None if asked else match(part.plain)
            own = match(f"我{part.plain}") if speaks and not pattern and not asked else None
            is_mine = part.plain.startswith("我") and not _KIN.match(part.plain)
            if own and spans and own.name not in (spans[-1].pattern.name, "likes", "plans-to"):
                spans.append(PatternMatch(part.start, part.end, own, "我"))
            elif pattern and (not is_open or is_mine or spans[-1].pattern.name != pattern.name):
                compared = number and not is_open and _COMPARED.match(parts[number - 1].plain)
                spans.append(PatternMatch(parts[number - 1].start if compared else part.start, part.end, pattern))
            elif is_open and not asked and not _OWN_SENTENCE.match(part.plain):
                spans[-1] = replace(spans[-1], end=part.end)
            else:
                is_open = speaks = False
                continue
            is_open = True
            speaks = (is_mine or speaks) and spans[-1].pattern.category is not Category.PEOPLE
        made = [self.make(sentence, span.start, span.end, span.pattern, corrects, span.subject) for span in spans]
        return [fact for one in made for fact in self.checked(one)]

    def make(
        self, sentence: str, start: int, end: int, pattern: Pattern, corrects: bool, subject: str = ""
    ) -> ReadFact:
        """Return the fact that a part of a sentence states."""
        quote = sentence[start:end].strip(" ，,：:、。！!；;~～…")
        folded = _TAIL.search(quote.translate(FOLD))
        plain = quote[: folded.start()] if folded else quote
        content = subject + resolve_chinese_dates(plain.rstrip(" ，,：:、。！!；;~～…"), self.at) + "。"
        return ReadFact(content, pattern.category, quote, pattern.confidence, pattern.name, corrects)

    def checked(self, found: ReadFact) -> list[ReadFact]:
        """Return a fact that can be understood without what was said before it, in a list; else an empty one."""
        folded = found.content.translate(FOLD)
        if not MIN_CONTENT_CHARS <= len(folded) - 1 <= MAX_CONTENT_CHARS:
            return []
        pointed = _POINTS.search(folded)
        return [] if pointed and not _KIN.match(folded) else [found]


def parts_of(folded: str) -> tuple[list[FoldedClause], bool]:
    """Return the clauses of a folded sentence without what opens them, and whether it asks to remember something."""
    parts: list[FoldedClause] = []
    remembers = False
    for found in _PART.finditer(folded.rstrip("。！!？?；; ")):
        start, end = found.span()
        while start < end:
            opener = (
                (_REMEMBERS.match(folded[start:end]) if not parts else None)
                or (_REPAIR.match(folded[start:end]) if not parts else None)
                or _LEAD.match(folded[start:end])
            )
            if not opener or not opener[0]:
                break
            remembers = remembers or bool(_REMEMBERS.match(folded[start:end]) and not parts)
            start += opener.end()
        while start < end and folded[start].isspace():
            start += 1
        if start < end:
            parts.append(FoldedClause(squeezed(folded[start:end]), start, end))
    return parts, remembers


def squeezed(text: str) -> str:
    """Return a text in lower case and simplified characters, without spaces."""
    return "".join(text.translate(FOLD).lower().split())


def is_asked(plain: str) -> bool:
    """Return whether a clause has a word that asks."""
    return _QUESTION_WORD.search(plain) is not None


def match(plain: str) -> Pattern | None:
    """Return the first pattern that a folded clause matches."""
    whole = fold_chinese(plain)
    reported, _, _ = read_report(whole)
    if reported:
        return None
    mood = mood_of(whole)
    for pattern in patterns.STATED:
        if mood in pattern.moods and pattern.regex.match(plain):
            if pattern.needs_date and not has_date(plain):
                continue
            return pattern
    return None


def has_date(plain: str) -> bool:
    """Return whether a folded clause says when, and not a day that is over."""
    dates = [found[0] for found in CHINESE_DATE.finditer(plain) if found["back"] != "前"]
    ahead = [found for found in dates if not found.startswith(_PAST_DATE)]
    if dates and not ahead:
        return False
    if all(_TODAY.match(found) for found in ahead) and _DONE.search(plain) and not _AHEAD.search(plain):
        return False
    return (bool(ahead) or bool(_FESTIVAL.search(plain))) and not plain.endswith("了")

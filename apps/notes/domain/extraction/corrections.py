"""Corrections that name only the value: "I live in Oslo. Sorry, I meant Bergen."."""

import re

from apps.rules.domain.statements.language import CHINESE, language_of

_NUMBER = r"(?:\d[\d.,:/-]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty)"
_LAST_NUMBER = re.compile(rf"\b{_NUMBER}\b(?!.*\b{_NUMBER}\b)", re.IGNORECASE)
_LAST_NAME = re.compile(r"(?<=[a-z0-9,] )[A-Z][\w'-]*(?: [A-Z][\w'-]*)*(?!.* [A-Z])")
_CHINESE_VALUE = re.compile(
    r"^(.*(?:住在|搬到|搬去|来自|來自|叫做|叫|喜欢|喜歡|改用|采用|採用|使用|在|是|用|住|姓|去|到))[^，。]+"
)
_CHINESE_NUMBER = re.compile(r"[0-9一二两兩三四五六七八九十百]+(?:岁|歲|点|點|个|個|号|號|日|月|天|年|公斤|公分)")


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

"""Settings of a person's notes as `memory-config.json` has them, and changes of its text (spec 001)."""

import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields, replace
from typing import Any

MAX_MODEL_CHARS = 200
DEFAULT_MODEL = "gpt-4o-mini"
_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True, slots=True)
class Range:
    """The least and the greatest value of a number, both included."""

    least: float
    greatest: float


def number(default: float, least: float, greatest: float) -> Any:
    """Return a field of a number within limits."""
    return field(default=default, metadata={"range": Range(least, greatest)})


@dataclass(frozen=True, slots=True)
class MemoryConfig:
    """Settings of one person's notes. The file and the API have the same names in camelCase.

    enabled: whether conversations are listened to at all. auto_extract: whether facts are extracted after a turn.
    flush_threshold: the share of the context window at which notes are flushed. min_new_messages: fewer than these
    since the last extraction wait for more.
    """

    enabled: bool = True
    auto_extract: bool = True
    flush_threshold: float = number(0.75, 0.01, 1.0)
    extract_interval_seconds: int = number(60, 0, 86_400)
    min_new_messages: int = number(4, 1, 1_000)
    llm_gating_enabled: bool = False
    llm_gating_model: str = DEFAULT_MODEL
    llm_extraction_enabled: bool = False
    llm_extraction_model: str = DEFAULT_MODEL
    llm_extraction_max_messages: int = number(20, 1, 200)
    llm_compaction_enabled: bool = False
    llm_compaction_model: str = DEFAULT_MODEL
    llm_compaction_fact_threshold: int = number(30, 1, 100_000)
    llm_compaction_auto_apply: bool = False


# What holds while a file is broken and nothing is known of a former one: its person may have turned listening off.
SAFE = MemoryConfig(enabled=False, auto_extract=False)


@dataclass(frozen=True, slots=True)
class ConfigProblem:
    """Something that is wrong with a file of settings. attr: the setting in camelCase; None for the whole file."""

    code: str
    detail: str
    attr: str | None = None


class BrokenConfigError(Exception):
    """A file of settings that is no JSON object. Its text says why, without what is in the file."""


def camel_name(name: str) -> str:
    """Return the name that a setting has in the file and in the API."""
    return re.sub(r"_([a-z])", lambda found: found[1].upper(), name)


SETTINGS: Mapping[str, Field[Any]] = {camel_name(each.name): each for each in fields(MemoryConfig)}


def parse_config(text: bytes, former: MemoryConfig = SAFE) -> tuple[MemoryConfig, tuple[ConfigProblem, ...]]:
    """Return the settings of a file, with what is wrong with single ones. Missing ones have their defaults.

    former: where the value of one that is wrong comes from. Raises BrokenConfigError for a text that is not an object
    of JSON in UTF-8.
    """
    values, problems = {}, []
    for name, value in parse_object(text).items():
        if name not in SETTINGS:
            continue
        checked, expected = check(SETTINGS[name], value)
        if expected is not None:
            checked = getattr(former, SETTINGS[name].name)
            detail = f"Expected {expected}: {json.dumps(checked)} holds until that is mended."
            problems.append(ConfigProblem("invalid_setting", detail, name))
        values[SETTINGS[name].name] = checked
    return replace(MemoryConfig(), **values), tuple(problems)


def differences(config: MemoryConfig) -> dict[str, Any]:
    """Return the settings that are not the defaults, by their names in the file."""
    return {
        name: getattr(config, each.name)
        for name, each in SETTINGS.items()
        if getattr(config, each.name) != each.default
    }


def parse_object(text: bytes) -> dict[str, Any]:
    """Return the object that a file has; an empty one for a file without any text. Raises BrokenConfigError."""
    try:
        plain = text.decode("utf-8-sig")
        document = json.loads(plain) if plain.strip() else {}
    except UnicodeDecodeError as error:
        raise BrokenConfigError("is not UTF-8") from error
    except (ValueError, RecursionError) as error:
        raise BrokenConfigError("is not JSON") from error
    if not isinstance(document, dict):
        raise BrokenConfigError("is not a JSON object")
    return document


def check(setting: Field[Any], value: Any) -> tuple[Any, str | None]:
    """Return a value as the setting has it, and what is expected instead where it cannot be that."""
    if isinstance(setting.default, bool):
        return value, None if isinstance(value, bool) else "true or false"
    if isinstance(setting.default, str):
        is_text = isinstance(value, str) and bool(value.strip()) and len(value) <= MAX_MODEL_CHARS
        if is_text and all(unicodedata.category(char) not in {"Cc", "Cs"} for char in value):
            return value, None
        return value, f"the name of a model of at most {MAX_MODEL_CHARS} characters"
    limits: Range = setting.metadata["range"]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    is_in_range = is_number and limits.least <= value <= limits.greatest
    if isinstance(setting.default, int):
        expected = f"a whole number from {limits.least:.0f} to {limits.greatest:.0f}"
        return (int(value), None) if is_in_range and value == int(value) else (value, expected)
    return (float(value), None) if is_in_range else (value, f"a number from {limits.least} to {limits.greatest}")


@dataclass(frozen=True)
class Member:
    """A member of an object: where its name begins, and where its value begins and ends in the text."""

    name: str
    begin: int
    start: int
    stop: int


def list_members(text: str) -> list[Member]:
    """List the members of an object as they are in a text that is valid JSON, those of one name more than once too."""
    found: list[Member] = []
    at = after_space(text, after_space(text, 0) + 1)
    while text[at] != "}":
        begin = at
        name, at = _DECODER.raw_decode(text, at)
        start = after_space(text, after_space(text, at) + 1)  # after the colon
        _, stop = _DECODER.raw_decode(text, start)
        found.append(Member(name, begin, start, stop))
        at = after_space(text, stop)
        if text[at] == ",":
            at = after_space(text, at + 1)
    return found


def set_members(text: str, values: Mapping[str, Any]) -> str:
    """Return the text of an object in which members have these values; new ones come last, set out like the others."""
    members = list_members(text)
    known = {member.name: member for member in members}  # of several, readers take the last one
    texts = {name: json.dumps({name: value}, ensure_ascii=False)[1:-1] for name, value in values.items()}
    added = "".join(f",{lead(text, members)}{texts[name]}" for name in values if name not in known)
    if not members:
        opening = text.index("{")
        return f"{text[:opening]}{json.dumps(dict(values), ensure_ascii=False, indent=2)}{text[text.rindex('}') + 1 :]}"
    end = members[-1].stop
    text = text[:end] + added + text[end:]
    for member in sorted(known.values(), key=lambda each: each.start, reverse=True):
        if member.name in values:
            value = json.dumps(values[member.name], ensure_ascii=False)
            text = text[: member.start] + value + text[member.stop :]
    return text


def lead(text: str, members: list[Member]) -> str:
    """Return the white space that separates a member of the object from what is before it."""
    if len(members) > 1:
        return text[text.index(",", members[-2].stop) + 1 : members[-1].begin]
    return text[text.index("{") + 1 : members[0].begin] if members else ""


def after_space(text: str, at: int) -> int:
    """Return where the white space that begins at an offset ends."""
    found = _SPACE.match(text, at)
    return at if found is None else found.end()

"""One way of writing numbers, times of day, dates and amounts: "half past two in the afternoon" is 14:30."""

import re

from apps.rules.domain.contradiction.words import MONTHS, NUMBER_WORDS

_MONTH_NAMES = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_TENS = {word: value for word, value in NUMBER_WORDS.items() if value in range(20, 100, 10)}
_SMALL = {
    word: value for word, value in NUMBER_WORDS.items() if value < 20 and not word.endswith(("th", "st", "ird", "ce"))
}
_SMALL = {word: value for word, value in _SMALL.items() if word not in ("second", "dozen")}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000}
_PARTS = {"morning": 0, "am": 0, "afternoon": 12, "evening": 12, "pm": 12}
EARLY, LAST_HOUR = 5, 24
_QUARTERS = {"half": 30, "quarter": 15, "a quarter": 15}
_BEFORE_TIME = re.compile(r"(?:^|\b(?:at|by|around|about|from|until|till|to|before|after)|,) ?$", re.IGNORECASE)
_RANGE = re.compile(r"\b(?:from|between) $", re.IGNORECASE)
_COUNT = "|".join(sorted({*_TENS, *_SMALL, *_SCALES}, key=len, reverse=True))
_HOUR_WORD = "|".join(word for word, value in _SMALL.items() if 1 <= value <= 12)
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_DAY = r"(?:the )?(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_PART_OF_DAY = (
    r"(?:(?P<half>[ap])\.?m\b\.?"
    r"|(?:in the (?P<part>morning|afternoon|evening)|(?P<night>at night)|(?P<midday>noon|midday))\b)"
)
_WRITTEN = re.compile(rf"\b(?:{_COUNT})(?:(?:[ -]| and )(?:{_COUNT}))+\b", re.IGNORECASE)
_ONE_NUMBER = re.compile(rf"\b(?!one\b|zero\b)(?:{'|'.join({*_SMALL, *_TENS})})\b", re.IGNORECASE)
_SCALED = re.compile(r"\b(\d+(?:\.\d+)?) ?(k|thousand|million|m)\b(?!\.\w)", re.IGNORECASE)
_CURRENCY = re.compile(r"\b(EUR|USD|GBP|CHF|JPY) ?(\d[\d,]*(?:\.\d+)?)\b")
_CLOCK = re.compile(
    rf"\b(?:(?P<before>half|(?:a )?quarter|(?:\d{{1,2}}|{_COUNT})(?: minutes?)?) (?P<side>past|to|after|before) )?"
    rf"(?P<hour>\d{{1,2}}|{_HOUR_WORD})(?:(?P<mark>[:.h])(?P<minute>\d\d))?(?P<clock> ?o'?clock)?\b\s*{_PART_OF_DAY}?",
    re.IGNORECASE,
)
_NOON = re.compile(r"(?<!after)\b(?:(?:12(?::00)?|twelve) )?(noon|midday|midnight)\b", re.IGNORECASE)
_PHONE = re.compile(r"(?<![\w.])\+?\(?\d{2,}\)?(?:[ -]\(?\d{2,}\)?)+(?![\w:]|\.\d)")
MIN_PHONE = 7
_AGE = re.compile(r"\b(\d+)(?: years? old|-years?-old| years? of age)\b", re.IGNORECASE)
_SHARES = {
    "half": "50",
    "a half": "50",
    "one half": "50",
    "a quarter": "25",
    "one quarter": "25",
    "three quarters": "75",
    "a third": "33.3",
    "one third": "33.3",
    "two thirds": "66.7",
    "a fifth": "20",
    "a tenth": "10",
}
_SHARE = re.compile(
    rf"\b({'|'.join(sorted(_SHARES, key=len, reverse=True))})(?= of (?:the|my|our|all|his|her|their)\b)", re.IGNORECASE
)
_PLAIN = (
    (re.compile(r"\bhalf a dozen\b", re.IGNORECASE), "6"),
    (re.compile(r"\b(?:a|one) dozen\b", re.IGNORECASE), "12"),
    (re.compile(r"\btwo dozen\b", re.IGNORECASE), "24"),
    (re.compile(r"\bhalf a million\b", re.IGNORECASE), "500000"),
    (re.compile(r"\b(?:a|one) hundred\b", re.IGNORECASE), "100"),
    (re.compile(r"\b(?:a|one) thousand\b", re.IGNORECASE), "1000"),
    (re.compile(r"\b(?:a )?quarter of an hour\b", re.IGNORECASE), "15 minutes"),
    (re.compile(r"\bthree[- ]quarters of an hour\b", re.IGNORECASE), "45 minutes"),
    (re.compile(r"\b(\d+) and a half\b(?! past)", re.IGNORECASE), r"\1.5"),
    (re.compile(r"\bhalf a (year|month|week|day|kilo|litre|liter|mile)\b", re.IGNORECASE), r"0.5 \1s"),
    (re.compile(r"\b(?:one time|once) (?:an? |per |every |each )(day|week|month|year)\b", re.IGNORECASE), r"every \1"),
    (re.compile(r"(\d\S*(?: \w+)?) (?:an?|per|each|/) (day|week|month|year)\b", re.IGNORECASE), r"\1 every \2"),
    (re.compile(r"\beach (day|week|month|year)\b", re.IGNORECASE), r"every \1"),
    (re.compile(r"\beveryday|\bdaily\b", re.IGNORECASE), "every day"),
    (re.compile(r"\bweekly\b", re.IGNORECASE), "every week"),
    (re.compile(r"\bmonthly\b", re.IGNORECASE), "every month"),
    (re.compile(r"\b(?:yearly|annually)\b", re.IGNORECASE), "every year"),
    (re.compile(r"\btwice\b", re.IGNORECASE), "2 times"),
    (re.compile(r"\bonce\b", re.IGNORECASE), "1 time"),
    (
        re.compile(r"(?<=\d) ?(?:times|time) (?:an? |per |every )(day|week|month|year)\b", re.IGNORECASE),
        r" times every \1",
    ),
    (re.compile(r"\b(?:monday to friday|mon ?- ?fri)\b", re.IGNORECASE), "weekdays"),
    (re.compile(r"\b(?:the )?(\d+)(?:st|nd|rd|th) of the month\b", re.IGNORECASE), r"day \1 every month"),
)
_LONG_DURATION = re.compile(
    r"\b(\d+) ?(?:h|hrs?|hours?)(?:,? and |,? )(\d+) ?(?:m|mins?|minutes?)\b|\b(\d+) ?h ?(\d\d)\b", re.IGNORECASE
)
_WEEKDAY_SHORT = {"mon": "Monday", "tue": "Tuesday", "tues": "Tuesday", "wed": "Wednesday", "thu": "Thursday",
                  "thur": "Thursday",
                  "thurs": "Thursday", "fri": "Friday", "sat": "Saturday", "sun": "Sunday"}  # fmt: skip
# Names of days that are words as well, only where they cannot be.
_DAY_NAME = re.compile(r"\b(Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)\b\.?(?=,| \d|$)")
_ISO = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b")
_DOTTED = re.compile(r"\b(\d{1,2})\.(\d{1,2})\.(\d{4}|\d\d)?(?!\d)")
_SLASHED = re.compile(r"\b(\d{1,2})/(\d{1,2})/(\d{4})\b")
_DAY_MONTH = re.compile(rf"\b{_DAY} (?:of )?(?P<month>{_MONTH})\b\.?(?:,? (?P<year>\d{{4}})\b)?", re.IGNORECASE)
_MONTH_DAY = re.compile(rf"\b(?P<month>{_MONTH})\b\.? {_DAY}\b(?!:)(?:,? (?P<year>\d{{4}})\b)?", re.IGNORECASE)
_FULL_MONTH = "|".join(_MONTH_NAMES)
_SHORT_RANGE = re.compile(
    rf"\b(?:from )?(\d{{1,2}})(?: to | until | till | through | ?[-–] ?)(\d{{1,2}}) ({_FULL_MONTH})\b", re.IGNORECASE
)
_TO = r"(?: to | until | till | through | ?[-–] ?)"
_DATE_RANGE = re.compile(
    rf"\b(?:from )?(\d{{1,2}} (?:{_FULL_MONTH})){_TO}(\d{{1,2}} (?:{_FULL_MONTH}))\b", re.IGNORECASE
)
_TIME_RANGE = re.compile(rf"\b(?:from )?(\d{{1,2}}:\d\d){_TO}(\d{{1,2}}:\d\d)\b")
_FIRST_TO_TENTH = {
    word: value for word, value in NUMBER_WORDS.items() if word.endswith(("th", "second", "third", "first"))
}
_ORDINALS = {
    **_FIRST_TO_TENTH,
    "eleventh": 11, "twelfth": 12, "thirteenth": 13, "fourteenth": 14, "fifteenth": 15, "sixteenth": 16,
    "seventeenth": 17,
       "eighteenth": 18, "nineteenth": 19, "twentieth": 20, "thirtieth": 30,
    **{f"twenty-{word}": 20 + value for word, value in _FIRST_TO_TENTH.items() if value < 10},
    "thirty-first": 31,
}  # fmt: skip
_ORDINAL = "|".join(sorted(_ORDINALS, key=len, reverse=True))
_WORD_DAY = re.compile(
    rf"\b(?:the )?({_ORDINAL})(?= (?:of )?(?:{_MONTH})\b)|(?<=[a-y] )(?:the )?({_ORDINAL})(?=\W*$)", re.IGNORECASE
)
_FEW_POUNDS = re.compile(r"(?<=\d) ?pounds?\b", re.IGNORECASE)
_MASS = re.compile(r"\b(?:weigh\w*|kg|kilos?|kilograms?|heavy|heavier|lighter)\b", re.IGNORECASE)
_ANY = re.compile(
    rf"\d|\b(?:{_COUNT}|half|quarter|third|fifth|tenth|dozen|noon|mid(?:day|night)|daily|everyday|each"
    rf"|(?:week|month|year)ly|annually|once|twice"
    rf"|{_ORDINAL}|monday to friday|mon ?- ?fri|one)\b",
    re.IGNORECASE,
)


def rewrite(text: str) -> str:
    """Return a text with its numbers, times, dates and amounts written in one way. Accepts any str."""
    if not _ANY.search(text):
        return text
    text = _ISO.sub(lambda found: date(int(found[3]), int(found[2]), found[1]), text)
    text = _DOTTED.sub(lambda found: date(int(found[1]), int(found[2]), found[3] or "", found[0]), text)
    text = _SLASHED.sub(of_slashes, text)
    text = _WORD_DAY.sub(lambda found: str(_ORDINALS[(found[1] or found[2]).lower()]), text)
    text = _MONTH_DAY.sub(of_names, _DAY_MONTH.sub(of_names, text))
    text = _DAY_NAME.sub(lambda found: _WEEKDAY_SHORT[found[1].lower()], text)
    text = _DATE_RANGE.sub(r"\1 to \2", _SHORT_RANGE.sub(r"\1 \3 to \2 \3", text))
    text = _NOON.sub(lambda found: "00:00" if found[1].lower() == "midnight" else "12:00", text)
    text = _CLOCK.sub(of_clock, text)
    text = _TIME_RANGE.sub(r"\1 to \2", text)
    text = _SHARE.sub(lambda found: f"{_SHARES[found[1].lower()]}%", text)
    for pattern, written in _PLAIN[:8]:
        text = pattern.sub(written, text)
    text = _WRITTEN.sub(lambda found: str(count(found[0])), text)
    text = re.sub(
        rf"\b({_HOUR_WORD}) and a half\b", lambda found: f"{_SMALL[found[1].lower()]}.5", text, flags=re.IGNORECASE
    )
    text = _ONE_NUMBER.sub(lambda found: str(count(found[0])), text)
    for pattern, written in _PLAIN[8:]:
        text = pattern.sub(written, text)
    text = _LONG_DURATION.sub(
        lambda found: f"{60 * int(found[1] or found[3]) + int(found[2] or found[4])} minutes", text
    )
    text = re.sub(
        rf"\b({_COUNT})(?=[ -]years?[ -]old\b)", lambda found: str(count(found[0])), text, flags=re.IGNORECASE
    )
    text = _AGE.sub(r"\1", text)
    text = _CURRENCY.sub(r"\2 \1", text)
    text = _SCALED.sub(of_scale, text)
    text = _FEW_POUNDS.sub(" lb" if _MASS.search(text) else " quid", text)
    return _PHONE.sub(of_phone, text)


def date(day: int, month: int, year: str = "", written: str = "") -> str:
    """Return a date in one form, the text as written where it is none."""
    if not (1 <= month <= len(_MONTH_NAMES) and 1 <= day <= 31):
        return written or f"{year}-{month:02d}-{day:02d}"
    return f"{day} {_MONTH_NAMES[month - 1]} {year}".rstrip()


def of_slashes(found: re.Match[str]) -> str:
    """Return a date with slashes in one form, where only one reading is possible."""
    first, second = int(found[1]), int(found[2])
    if first != second and max(first, second) <= len(_MONTH_NAMES):
        return found[0]
    return date(max(first, second), min(first, second), found[3], found[0])


def of_names(found: re.Match[str]) -> str:
    """Return a date with the name of a month in one form."""
    if found["month"][0].islower() and found["month"] in ("may", "march", "mar", "dec"):
        return found[0]
    return date(int(found["day"]), MONTHS[found["month"].lower()], found["year"] or "", found[0])


def of_clock(found: re.Match[str]) -> str:
    """Return a time of day on the clock of 24 hours; anything else as written."""
    follows = _BEFORE_TIME.search(found.string[: found.start()]) is not None
    is_certain = bool(found["clock"] or found["half"] or found["mark"] == ":")
    is_of_day = bool(found["part"] or found["night"] or found["midday"])
    if found["before"]:
        is_spoken = found["before"].lower() in _QUARTERS or "minute" in found["before"]
        is_time = not _RANGE.search(found.string[: found.start()]) and (is_spoken or is_certain or is_of_day)
    else:
        is_time = is_certain or (is_of_day and (follows or bool(found["mark"])))
    hour = number(found["hour"])
    if not is_time or hour > LAST_HOUR:
        return found[0]
    minute = int(found["minute"] or 0)
    if found["before"]:
        minutes = _QUARTERS.get(found["before"].lower()) or number(found["before"].split()[0])
        minute += minutes if found["side"].lower() in ("past", "after") else -minutes
    if hour <= 12:
        half, part = (found["half"] or "").lower(), (found["part"] or "").lower()
        is_late = half == "p" or part in ("afternoon", "evening") or (found["night"] and hour >= EARLY and hour != 12)
        if half or part or found["night"]:
            hour = hour % 12 + 12 * bool(is_late)
    total = (60 * hour + minute) % (24 * 60)
    space = " " if found[0].endswith(" ") else ""
    return f"{total // 60}:{total % 60:02d}{space}"


def of_scale(found: re.Match[str]) -> str:
    """Return a number without "k" or "million"; "5 m" may be metres."""
    unit = found[2].lower()
    if unit == "m":
        return found[0]
    return f"{float(found[1]) * (1000 if unit in ('k', 'thousand') else 1_000_000):.12g}"


def of_phone(found: re.Match[str]) -> str:
    """Return a number of a telephone without its spaces."""
    digits = re.sub(r"\D", "", found[0])
    return digits if len(digits) >= MIN_PHONE else found[0]


def number(text: str) -> int:
    """Return the number that digits or one word say."""
    return int(text) if text.isdigit() else count(text)


def count(text: str) -> int:
    """Return the number that some words say: "two hundred and five"."""
    total, current = 0, 0
    for word in re.split(r"[ -]", text.lower()):
        if word == "hundred":
            current = max(current, 1) * 100
        elif word in _SCALES:
            total, current = total + max(current, 1) * _SCALES[word], 0
        elif word != "and":
            current += _TENS.get(word, 0) + _SMALL.get(word, 0)
    return total + current

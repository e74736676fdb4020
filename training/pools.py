"""Names, places and numbers by the hundred: a judge that meets twenty names while it learns knows those by heart."""

import random
from collections.abc import Callable, Sequence
from typing import Any

from faker import Faker

# Where the first names and places of a language come from.
LOCALES = {
    "en": ("en_US", "en_GB", "en_IN", "pl_PL", "es_ES", "tr_TR"),
    "zh": ("zh_TW",),
    "de": ("de_DE",),
    "fr": ("fr_FR",),
    "es": ("es_ES",),
    "ja": ("ja_JP",),
}
# Cities of the other locales are made up.
REAL_CITIES = {"en": ("en_IN", "de_DE", "pl_PL", "es_ES"), "fr": ("de_DE", "es_ES")}
DAYS = {
    "en": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
    "zh": "星期一 星期二 星期三 星期四 星期五 星期六 星期日",
    "de": "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag",
    "fr": "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "es": "lunes martes miércoles jueves viernes sábado domingo",
    "ja": "月曜日 火曜日 水曜日 木曜日 金曜日 土曜日 日曜日",
}
MONTHS = {
    "en": "January February March April May June July August September October November December",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
}
DATES = {"en": ("{} {}", "{} {}", "{1} {0}"), "de": ("{}. {}",), "fr": ("{} {}",), "es": ("{} de {}",)}
SIZE = 600


class Pools:
    """Draws what fills a slot, in a language: names, places, dates, times and numbers."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)  # noqa: S311
        self.people, self.cities, self.companies = {}, {}, {}
        for lang, locales in LOCALES.items():
            self.people[lang] = self.gather(locales, lambda faker: faker.first_name(), seed)
            self.people[lang] += self.gather(locales, lambda faker: faker.name(), seed)[: SIZE // 3]
            self.cities[lang] = self.gather(REAL_CITIES.get(lang, locales), lambda faker: faker.city(), seed)
            self.companies[lang] = self.gather(locales[:4], lambda faker: faker.company(), seed)
        self.makers: dict[str, Callable[[str], str]] = {
            "@person": lambda lang: self.chance.choice(self.people[lang]),
            "@city": lambda lang: self.chance.choice(self.cities[lang]),
            "@company": lambda lang: self.chance.choice(self.companies[lang]),
            "@weekday": lambda lang: self.chance.choice(DAYS[lang].split()),
            "@month": self.month,
            "@date": self.date,
            "@year": lambda _: str(self.chance.randint(1998, 2027)),
            "@clock": lambda _: f"{self.chance.randint(6, 22)}:{self.chance.choice((0, 5, 10, 15, 30, 40, 45)):02}",
        }

    def gather(self, locales: Sequence[str], ask: Callable[[Any], str], seed: int) -> list[str]:
        """Return different answers of several locales, as many of each."""
        found: list[str] = []
        for locale in locales:
            faker = Faker(locale)
            faker.seed_instance(seed)
            found += sorted({ask(faker) for _ in range(SIZE // len(locales))})
        return found

    def month(self, lang: str) -> str:
        """Return a month."""
        number = self.chance.randint(1, 12)
        return f"{number}月" if lang in ("zh", "ja") else MONTHS[lang].split()[number - 1]

    def date(self, lang: str) -> str:
        """Return a day of the year."""
        day = self.chance.randint(1, 28)
        if lang in ("zh", "ja"):
            return f"{self.month(lang)}{day}日"
        return self.chance.choice(DATES[lang]).format(day, self.month(lang))

    def draw(self, what: Sequence[str], lang: str) -> str:
        """Return one of several entries, or, of one that begins with @, what it names."""
        first = what[0]
        if first.startswith("@int "):
            low, high = map(int, first.split()[1:])
            return str(self.chance.randint(low, high))
        return self.makers[first](lang) if first in self.makers else self.chance.choice(what)

    def draw_two(self, what: Sequence[str], lang: str) -> tuple[str, str]:
        """Return two that differ."""
        one = other = self.draw(what, lang)
        while other == one:
            other = self.draw(what, lang)
        return one, other

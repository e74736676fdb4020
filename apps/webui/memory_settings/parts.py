"""The parts of the settings of memory: which there are, what each says of itself, and what a form of one changes."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.notes.domain.settings import SETTINGS, MemoryConfig, Range, check

Words = str | Promise
PERCENT = 100


class SettingKind(StrEnum):
    """How a setting is entered. PERCENT: a share of one, entered as percent."""

    SWITCH = "switch"
    MODEL = "model"
    NUMBER = "number"
    PERCENT = "percent"


@dataclass(frozen=True)
class Setting:
    """A setting. name: as in the file. along: others that are switched on with this one, which is nothing without."""

    name: str
    kind: SettingKind
    label: Words
    along: tuple[str, ...] = ()

    def value(self, config: MemoryConfig) -> Any:
        """Return the value that holds; of a switch, whether it has an effect."""
        names = (self.name, *self.along)
        values = [getattr(config, SETTINGS[name].name) for name in names]
        return all(values) if self.kind is SettingKind.SWITCH else values[0]

    def shown(self, config: MemoryConfig) -> str:
        """Return the value as a form has it: of a switch `on` or nothing."""
        value = self.value(config)
        if self.kind is SettingKind.SWITCH:
            return "on" if value else ""
        return str(round(PERCENT * value)) if self.kind is SettingKind.PERCENT else str(value)

    @property
    def limits(self) -> Range:
        """Return the least and the greatest number that a form takes."""
        found: Range = SETTINGS[self.name].metadata["range"]
        factor = PERCENT if self.kind is SettingKind.PERCENT else 1
        return Range(round(factor * found.least), round(factor * found.greatest))

    def read(self, text: str) -> dict[str, Any]:
        """Return what a form sets, by names as in the file. Raises ValueError for what cannot be, in words."""
        if self.kind is SettingKind.SWITCH:
            return dict.fromkeys((self.name, *self.along), True) if text == "on" else {self.name: False}
        value: Any = text
        if self.kind is not SettingKind.MODEL:
            value = int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else text
            value = value / PERCENT if self.kind is SettingKind.PERCENT and isinstance(value, int) else value
        checked, expected = check(SETTINGS[self.name], value)
        if expected is not None:
            raise ValueError(self.expected())
        return {self.name: checked}

    def expected(self) -> str:
        """Return in words what a form may have here."""
        if self.kind is SettingKind.MODEL:
            return _("Choose one of the models.")
        least, greatest = self.limits.least, self.limits.greatest
        limits = {"least": f"{least:,}", "greatest": f"{greatest:,}"}
        return _("A whole number from %(least)s to %(greatest)s.") % limits


@dataclass(frozen=True)
class SettingsPart:
    """Settings that are one form. name: in its address. explanation: shown below the switch."""

    name: str
    title: Words
    explanation: Words
    settings: tuple[Setting, ...]
    is_by_model: bool = False

    @property
    def switch(self) -> Setting:
        """Return the setting that switches the part on."""
        return self.settings[0]

    @property
    def model(self) -> Setting | None:
        """Return the setting that chooses a model."""
        return next((one for one in self.settings if one.kind is SettingKind.MODEL), None)


AUTO = SettingsPart(
    "auto",
    gettext_lazy("Automatic memory"),
    gettext_lazy(
        "After each turn of a conversation, facts worth keeping become memories and lines of MEMORY.md. When this "
        "is off, only what you or an assistant saves on purpose is kept."
    ),
    (Setting("autoExtract", SettingKind.SWITCH, gettext_lazy("Learn from conversations"), ("enabled",)),),
)
GATE = SettingsPart(
    "gate",
    gettext_lazy("Quality gate"),
    gettext_lazy(
        "A model judges each new fact before it is kept, and drops what is trivial, passing or already known. The "
        "facts are sent to the model’s provider."
    ),
    (
        Setting("llmGatingEnabled", SettingKind.SWITCH, gettext_lazy("Use a model to judge new facts")),
        Setting("llmGatingModel", SettingKind.MODEL, gettext_lazy("Model that judges")),
    ),
    is_by_model=True,
)
EXTRACTION = SettingsPart(
    "extraction",
    gettext_lazy("Smart extraction"),
    gettext_lazy(
        "A model reads the latest messages of a conversation and finds facts that fixed rules miss. If the model "
        "does not answer, the rules are used instead. The messages are sent to the model’s provider."
    ),
    (
        Setting("llmExtractionEnabled", SettingKind.SWITCH, gettext_lazy("Use a model to find facts")),
        Setting("llmExtractionModel", SettingKind.MODEL, gettext_lazy("Model that finds facts")),
        Setting("llmExtractionMaxMessages", SettingKind.NUMBER, gettext_lazy("Maximum messages it reads")),
    ),
    is_by_model=True,
)
COMPACTION = SettingsPart(
    "compaction",
    gettext_lazy("Compaction"),
    gettext_lazy(
        "When MEMORY.md has grown long, a model proposes a shorter one that says the same: facts that belong "
        "together are merged. Its facts are sent to the model’s provider. You decide about each proposal, unless "
        "you have it applied automatically."
    ),
    (
        Setting("llmCompactionEnabled", SettingKind.SWITCH, gettext_lazy("Use a model to keep MEMORY.md short")),
        Setting("llmCompactionModel", SettingKind.MODEL, gettext_lazy("Model that shortens")),
        Setting("llmCompactionFactThreshold", SettingKind.NUMBER, gettext_lazy("Start when there are more facts than")),
        Setting(
            "llmCompactionAutoApply", SettingKind.SWITCH, gettext_lazy("Apply it automatically if no fact is dropped")
        ),
    ),
    is_by_model=True,
)
TIMES = SettingsPart(
    "times",
    gettext_lazy("When to learn"),
    gettext_lazy(
        "Conversations are read when enough has been said, and once more before an assistant forgets the beginning of "
        "a long one."
    ),
    (
        Setting("enabled", SettingKind.SWITCH, gettext_lazy("Read conversations")),
        Setting("minNewMessages", SettingKind.NUMBER, gettext_lazy("New messages needed before looking for facts")),
        Setting("extractIntervalSeconds", SettingKind.NUMBER, gettext_lazy("Minimum seconds between extractions")),
        Setting(
            "flushThreshold",
            SettingKind.PERCENT,
            gettext_lazy("How full an assistant’s context may get before facts are saved (percent)"),
        ),
    ),
)
PARTS = {part.name: part for part in (AUTO, GATE, EXTRACTION, COMPACTION, TIMES)}


def changes_of(part: SettingsPart, sent: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the settings that a form changes, and what is wrong with others, by their names as in the file.

    `was.<name>` is what the form had shown: what is like it is left as it may be by now.
    """
    values: dict[str, Any] = {}
    problems: dict[str, str] = {}
    for one in part.settings:
        before = sent.get(f"was.{one.name}")
        if before is None:  # the form had no such field
            continue
        text = sent.get(one.name, "").strip()
        if text == before:
            continue
        try:
            values |= one.read(text)
        except ValueError as error:
            problems[one.name] = str(error)
    return values, problems

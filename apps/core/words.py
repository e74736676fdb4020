"""The types of words that people see: text, text that is translated when it is shown, and words of a number."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from django.utils.translation import ngettext

if TYPE_CHECKING:
    from django.utils.functional import _StrOrPromise

Words: TypeAlias = "_StrOrPromise"


@dataclass(frozen=True, slots=True)
class Counted:
    """Words for one of something and for several, chosen and translated by `counted % values`.

    key: of the number in the values; None where the number is the only value. In place of Django's `ngettext_lazy`,
    which makes two classes for each: 34 KB.
    """

    one: str
    several: str
    key: str | None = None

    def __mod__(self, values: Any) -> str:
        """Return the words with their values. Raises KeyError where the number is not among them."""
        number = values[self.key] if isinstance(values, Mapping) and self.key else values
        words: str = ngettext(self.one, self.several, number) % values
        return words

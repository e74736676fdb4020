"""The type of words that people see: text, or text that is translated when it is shown."""

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from django.utils.functional import _StrOrPromise

Words: TypeAlias = "_StrOrPromise"

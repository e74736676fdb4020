"""Kinds of events. What applications call them says something of a person, so an address has a digest of the name."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

SOURCES: Mapping[str, str | Promise] = {
    "user": gettext_lazy("you said so"),
    "conversation": gettext_lazy("from a conversation"),
    "skill": gettext_lazy("noted by a skill of an assistant"),
    "system": gettext_lazy("noted by a system"),
    "inferred": gettext_lazy("guessed by an assistant"),
}


@dataclass(frozen=True)
class Kind:
    """A kind of events. token: its name in an address. count: how many events of it there are."""

    name: str
    count: int

    @property
    def token(self) -> str:
        """Return the name of the kind in an address."""
        return kind_token(self.name)


def kind_token(name: str) -> str:
    """Return the name of a kind in an address."""
    return blake2b(name.encode(), digest_size=8).hexdigest()


def kind_named(token: str, kinds: Iterable[Kind]) -> Kind | None:
    """Return the kind that a token names, of those that there are."""
    return next((kind for kind in kinds if kind.token == token), None)


def source_in_words(source: str) -> str:
    """Return where an event comes from, in plain words; a word of the application's own as it is."""
    known = SOURCES.get(source)
    return str(known) if known is not None else _("from %(source)s") % {"source": source}

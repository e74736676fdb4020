"""Which models a person can choose for their notes: those that the providers of the hub offer, and the chosen one."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from apps.llm.services import models_listing


@dataclass(frozen=True)
class Offer:
    """The models that are offered. problem: why there may be more or none, in words; empty otherwise."""

    names: tuple[str, ...] = ()
    problem: str = ""

    def choices(self, stored: str) -> list[tuple[str, str]]:
        """Return each model with its words. The stored one is always among them."""
        known = [(name, name) for name in self.names]
        if stored in self.names:
            return known
        words = stored if self.problem else _("%(model)s (not offered now)") % {"model": stored}
        return [(stored, words), *known]


def models_offered() -> Offer:
    """Ask the providers of the hub, at most once in a while, which models they have."""
    listing = models_listing()
    if not listing.providers:
        return Offer(
            problem=_("No chat model is set up in this hub, so this has no effect yet. The operator can set one up.")
        )
    names = tuple(dict.fromkeys(model.name for model in listing.models))
    if any(provider.list.problem for provider in listing.providers):
        problem = _("The provider is not answering, or does not list its models. Your choice is kept.")
        return Offer(names, problem)
    return Offer(names)

"""The available models, from what providers list and what is configured, with the known prices."""

from dataclasses import dataclass

from apps.core.domain.clock import SYSTEM_CLOCK, Clock
from apps.llm.models import Price
from apps.llm.pricing.prices import find_prices, prices_in_force
from apps.llm.providers.configured import ModelRole, configured_roles
from apps.llm.providers.model_lists import ModelList, model_list


@dataclass(frozen=True)
class ListedProvider:
    """A configured provider with what it said."""

    name: str
    role: ModelRole
    list: ModelList


@dataclass(frozen=True)
class ListedModel:
    """One model. role: None where it is not configured. is_listed: its provider named it."""

    name: str
    provider: str
    role: ModelRole | None
    is_listed: bool
    prices: tuple[Price, ...]


@dataclass(frozen=True)
class ModelsListing:
    """models: the configured ones first, then each provider's others in its order."""

    providers: tuple[ListedProvider, ...]
    models: tuple[ListedModel, ...]


def models_listing(*, clock: Clock = SYSTEM_CLOCK) -> ModelsListing:
    """Return which models there are. Asks the providers where that was not done lately; never raises ChatError."""
    roles = configured_roles()
    if not roles:
        return ModelsListing((), ())
    configured = {(provider.name, provider.model): role for role, provider in roles}
    asked = tuple(ListedProvider(provider.name, role, model_list(provider)) for role, provider in roles)
    listed = dict.fromkeys((provider.name, name) for provider in asked for name in provider.list.names)
    table = prices_in_force(clock=clock)
    models = tuple(
        ListedModel(
            name=name,
            provider=provider,
            role=configured.get((provider, name)),
            is_listed=(provider, name) in listed,
            prices=find_prices(table, provider, name),
        )
        for provider, name in {**dict.fromkeys(configured), **listed}
    )
    return ModelsListing(asked, models)

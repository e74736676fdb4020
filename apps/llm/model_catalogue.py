"""The models that there are, out of what providers say and what is configured, with the prices that are known."""

from collections.abc import Iterator
from dataclasses import dataclass

from apps.core.domain.clock import SYSTEM_CLOCK, Clock
from apps.llm.models import Price
from apps.llm.pricing.price_list import PriceTable, find_prices, prices_in_force
from apps.llm.providers.configured import ModelRole, configured_roles
from apps.llm.providers.model_lists import ModelList, model_list

Key = tuple[str, str]


@dataclass(frozen=True)
class ListedProvider:
    """A configured provider with what it said."""

    name: str
    role: ModelRole
    list: ModelList


@dataclass(frozen=True)
class ListedModel:
    """One model. role: None of one that is not configured. is_listed: its provider named it."""

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
    """Which models there are. Asks the providers where that was not done lately; never raises ChatError."""
    configured = {(provider.name, provider.model): role for role, provider in configured_roles()}
    asked = [ListedProvider(provider.name, role, model_list(provider)) for role, provider in configured_roles()]
    if not asked:
        return ModelsListing((), ())
    named = dict.fromkeys((provider.name, name) for provider in asked for name in provider.list.names)
    table = prices_in_force(clock=clock)
    models = (_model(key, configured.get(key), key in named, table) for key in _ordered(configured, named))
    return ModelsListing(tuple(asked), tuple(models))


def _ordered(configured: dict[Key, ModelRole], named: dict[Key, None]) -> Iterator[Key]:
    yield from configured
    yield from (key for key in named if key not in configured)


def _model(key: Key, role: ModelRole | None, is_listed: bool, table: PriceTable) -> ListedModel:
    provider, name = key
    return ListedModel(name, provider, role, is_listed, find_prices(table, provider, name))

"""The available models, from what providers list and what is configured, with the known prices."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from apps.core.domain.clock import SYSTEM_CLOCK, Clock
from apps.llm.domain.chat import ChatProvider, ChatRequest
from apps.llm.models import Price
from apps.llm.pricing.prices import find_prices, prices_in_force
from apps.llm.providers.configured import ModelRole, chat_providers, configured_roles
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


@dataclass(frozen=True)
class ChosenModel:
    """A model that a person chose by its name, and the provider that has it."""

    provider: ChatProvider
    name: str

    def ask(self, request: ChatRequest) -> ChatRequest:
        """Return a request to the model. It goes to its provider alone: no other one has been chosen."""
        return replace(request, model=None if self.name == self.provider.model else self.name)


def model_choose(name: str, providers: Sequence[ChatProvider] | None = None) -> ChosenModel | None:
    """Return the model of a name: of a provider that is configured with it, else of the first that lists it.

    None where no provider has it. providers: None for the configured ones. May ask them for their lists, as
    `models_listing` does; never raises ChatError.
    """
    asked = chat_providers() if providers is None else tuple(providers)
    own = next((each for each in asked if each.model == name), None)
    provider = own or next((each for each in asked if name in model_list(each).names), None)
    return None if provider is None else ChosenModel(provider, name)

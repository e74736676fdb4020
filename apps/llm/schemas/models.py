"""What the lists of models and of tools look like."""

from collections.abc import Sequence
from typing import Any

from rest_framework import serializers

from apps.core.domain.scope import Access, Permission
from apps.core.schemas.fields import JSONObjectField
from apps.llm.domain.tools import Tool
from apps.llm.model_catalogue import ListedModel, ListedProvider, ModelsListing
from apps.llm.models import Price
from apps.llm.schemas.status import ROLES, iso, money

AnySerializer = serializers.Serializer[Any]
PERMISSIONS = [permission.value for permission in Permission]


class PriceOutput(AnySerializer):
    """US dollars for a million tokens, as decimal text, in calls with more input than `above_input_tokens`."""

    above_input_tokens = serializers.IntegerField()
    input_per_million_usd = serializers.CharField()
    output_per_million_usd = serializers.CharField()
    valid_from = serializers.DateField()
    source = serializers.CharField(help_text="Where the price was found.")


class ListedModelOutput(AnySerializer):
    """A model."""

    id = serializers.CharField(help_text="As it is configured.")
    provider = serializers.CharField()
    role = serializers.ChoiceField(choices=ROLES, allow_null=True, help_text="What it is configured for.")
    listed = serializers.BooleanField(help_text="The provider says that it has it.")
    prices = PriceOutput(many=True, help_text="One, and others for longer prompts; empty where none is known.")


class ListedProviderOutput(AnySerializer):
    """A provider, and whether it said which models it has."""

    name = serializers.CharField()
    role = serializers.ChoiceField(choices=ROLES)
    count = serializers.IntegerField(help_text="The models that it named.")
    problem = serializers.CharField(allow_null=True, help_text="Why it could not be asked.")
    asked_at = serializers.DateTimeField(allow_null=True, help_text="When it answered last.")


class ModelsListOutput(AnySerializer):
    """Which models there are, the configured ones first."""

    configured = serializers.BooleanField()
    providers = ListedProviderOutput(many=True)
    models = ListedModelOutput(many=True)
    count = serializers.IntegerField()


class ToolOutput(AnySerializer):
    """A tool that models may ask for."""

    name = serializers.CharField()
    description = serializers.CharField()
    parameters = JSONObjectField(help_text="A JSON Schema (draft 2020-12).")
    permission = serializers.ChoiceField(choices=PERMISSIONS)
    allowed = serializers.BooleanField(help_text="This key has the permission.")


class ToolListOutput(AnySerializer):
    """The tools of this hub."""

    results = ToolOutput(many=True)
    count = serializers.IntegerField()


def models_json(listing: ModelsListing) -> dict[str, Any]:
    """A listing as ModelsListOutput describes it."""
    return {
        "configured": bool(listing.providers),
        "providers": [_provider_json(provider) for provider in listing.providers],
        "models": [_model_json(model) for model in listing.models],
        "count": len(listing.models),
    }


def tools_json(tools: Sequence[Tool], access: Access) -> dict[str, Any]:
    """Tools as ToolListOutput describes them, for a caller."""
    results = [
        {
            "name": tool.name,
            "description": tool.description,
            "parameters": dict(tool.parameters),
            "permission": tool.permission.value,
            "allowed": access.allows(tool.permission),
        }
        for tool in tools
    ]
    return {"results": results, "count": len(results)}


def _provider_json(provider: ListedProvider) -> dict[str, Any]:
    return {
        "name": provider.name,
        "role": provider.role.value,
        "count": len(provider.list.names),
        "problem": provider.list.problem,
        "asked_at": iso(provider.list.asked_at),
    }


def _model_json(model: ListedModel) -> dict[str, Any]:
    return {
        "id": model.name,
        "provider": model.provider,
        "role": model.role and model.role.value,
        "listed": model.is_listed,
        "prices": [_price_json(price) for price in model.prices],
    }


def _price_json(price: Price) -> dict[str, Any]:
    return {
        "above_input_tokens": price.above_input_tokens,
        "input_per_million_usd": money(price.input_per_million),
        "output_per_million_usd": money(price.output_per_million),
        "valid_from": price.valid_from.isoformat(),
        "source": price.source,
    }

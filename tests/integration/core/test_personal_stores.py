"""Every table with data of a person has a store that exports and forgets it."""

import pytest
from django.apps import apps
from django.db.models import Model

from apps.core.personal.registry import personal_stores, register_store
from apps.core.personal.store import PersonalStore


def is_ours(model: type[Model]) -> bool:
    return model.__module__.startswith("apps.")


def has_user(model: type[Model]) -> bool:
    return any(field.name == "user_id" for field in model._meta.get_fields())


def refers_to(model: type[Model], others: set[type[Model]]) -> bool:
    return any(field.related_model in others for field in model._meta.fields)


def test_every_table_of_a_user_has_a_store() -> None:
    models = {model for model in apps.get_models() if is_ours(model)}
    answered = {model for store in personal_stores() for model in store.models}

    personal = {model for model in models if has_user(model)}
    personal |= {model for model in models if refers_to(model, personal)}

    assert {model._meta.label for model in personal - answered} == set()


def test_a_table_has_one_store() -> None:
    answered = [model for store in personal_stores() for model in store.models]

    assert len(answered) == len(set(answered))


def test_a_second_store_of_a_name_is_refused() -> None:
    class Second(PersonalStore):
        name = "memories"
        order = 1_000

    with pytest.raises(ValueError, match="memories"):
        register_store(Second())

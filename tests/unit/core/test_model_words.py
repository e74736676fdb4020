"""Names of models and fields are shown in the language of the reader, and stay English where they are written."""

import pytest
from django.apps import apps
from django.db.models import Field, Model
from django.utils.functional import Promise
from django.utils.translation import override

from apps.core.model_words import NOT_WORDS, is_ours, own_fields, words_of
from apps.semantic.models import Memory, MemoryStatus, RoutingPolicy


def test_names_are_in_the_language_of_the_reader() -> None:
    with override("zh-hant"):
        assert str(Memory._meta.verbose_name) == "記憶"
        assert str(RoutingPolicy._meta.verbose_name_plural) == "路由政策"
        assert str(apps.get_model("sync.KnowledgeItem")._meta.verbose_name_plural) == "知識項目"
        assert str(Memory._meta.get_field("user_id").verbose_name) == "使用者 ID"
        assert Memory(status=MemoryStatus.SUPERSEDED).get_status_display() == "已被取代"


def test_names_are_as_before_in_english() -> None:
    with override(None):
        assert str(apps.get_model("sync.KnowledgeItem")._meta.verbose_name_plural) == "knowledge items"
        assert str(Memory._meta.get_field("user_id").verbose_name) == "user id"
        assert Memory(status=MemoryStatus.SUPERSEDED).get_status_display() == "Superseded"


def test_migrations_know_nothing_of_it() -> None:
    field = Memory._meta.get_field("user_id")
    assert isinstance(field, Field)
    assert "verbose_name" not in field.deconstruct()[3]


@pytest.mark.parametrize("model", [one for one in apps.get_models() if is_ours(one)], ids=lambda one: one._meta.label)
def test_every_word_of_a_model_is_marked(model: type[Model]) -> None:
    found: list[object] = [model._meta.verbose_name, model._meta.verbose_name_plural]
    for field in own_fields(model):
        found += [field.verbose_name, field.help_text]
    assert [words for words in found if words not in NOT_WORDS and not isinstance(words, Promise)] == []
    with override(None):
        assert all(words == str(words) for words in words_of(model))

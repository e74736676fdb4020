import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from apps.llm.domain.embedder import EmbeddingSpaceId
from apps.llm.models import EmbeddingSpace
from apps.llm.services import space_activate, space_get_or_create

pytestmark = pytest.mark.django_db

LIST = "admin:llm_embeddingspace_changelist"
CHANGE = "admin:llm_embeddingspace_change"


@pytest.fixture
def operator(client):
    client.force_login(User.objects.create_superuser("operator"))
    return client


@pytest.fixture
def space() -> EmbeddingSpace:
    return space_activate(space=space_get_or_create(EmbeddingSpaceId("some-model", 384)))


def test_list_shows_models_and_which_is_in_use(operator, space):
    space_get_or_create(EmbeddingSpaceId("older-model", 768))
    text = operator.get(reverse(LIST)).content.decode()
    assert "some-model" in text
    assert "older-model" in text
    assert text.count("Not in use") == 1


def test_a_space_can_be_viewed(operator, space):
    assert "some-model" in operator.get(reverse(CHANGE, args=[space.pk])).content.decode()


def test_spaces_cannot_be_added_by_hand(operator):
    assert operator.get(reverse("admin:llm_embeddingspace_add")).status_code == 403


def test_spaces_cannot_be_changed_by_hand(operator, space):
    assert operator.post(reverse(CHANGE, args=[space.pk]), {"model": "forged"}).status_code == 403
    space.refresh_from_db()
    assert space.model == "some-model"


def test_spaces_cannot_be_deleted_by_hand(operator, space):
    url = reverse("admin:llm_embeddingspace_delete", args=[space.pk])
    assert operator.post(url, {"post": "yes"}).status_code == 403
    assert EmbeddingSpace.objects.filter(pk=space.pk).exists()

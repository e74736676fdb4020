import pytest
from django.utils.module_loading import autodiscover_modules, import_string

from apps.events.domain.payload import registered_names
from memoryhub.subscriptions import SUBSCRIPTIONS


@pytest.mark.parametrize("path", sorted({path for paths in SUBSCRIPTIONS.values() for path in paths}))
def test_every_handler_in_table_can_be_imported_and_called(path):
    assert callable(import_string(path))


@pytest.mark.parametrize("name", SUBSCRIPTIONS)
def test_every_key_of_table_is_registered_event_or_all_of_them(name):
    autodiscover_modules("events")
    assert name == "*" or name in registered_names()

"""Every table belongs to topics, or says why no page shows it."""

from django.apps import apps

from apps.live.domain.topics import TOPICS as NAMES
from memoryhub.topics import TOPICS, UNWATCHED


def tables() -> set[str]:
    """The tables of all apps, with those between two models."""
    return {
        model._meta.db_table
        for model in apps.get_models(include_auto_created=True)
        if model._meta.managed and not model._meta.proxy
    }


def test_every_table_is_watched_or_says_why_not() -> None:
    known = set(TOPICS) | set(UNWATCHED)
    assert tables() - known == set(), "add them to memoryhub/topics.py"
    assert not set(TOPICS) & set(UNWATCHED)


def test_no_table_is_named_that_is_none() -> None:
    assert (set(TOPICS) | set(UNWATCHED)) - tables() - {"django_migrations"} == set()


def test_the_topics_of_tables_are_those_of_the_socket() -> None:
    assert {topic for topics in TOPICS.values() for topic in topics} == set(NAMES)

"""Names of models and fields, help texts and choices in the language of who reads them.

Django names a field from its attribute, so there is no place in the code to mark that name, and to write one would make
a migration of every field. So each model of ours is marked once its class is made: the English words stay what they
are, in migrations and for programs, and a page shows their translation. The catalogs are filled from `words_of`.
"""

from collections.abc import Iterator
from typing import Any, cast

from django.db.models import Field, Model
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

OURS = "apps."
# Of every table, and the same in every language.
NOT_WORDS = frozenset({"", "ID", "uuid"})


def is_ours(model: type[Model]) -> bool:
    """Return whether a model is one of this hub's apps, and no copy that a migration makes."""
    return model.__module__.startswith(OURS)


def mark_words(sender: type[Model], **kwargs: object) -> None:
    """Mark the words of a model for translation; called when its class is prepared."""
    if not is_ours(sender):
        return
    options: Any = sender._meta
    if "verbose_name_plural" not in options.original_attrs and not isinstance(options.verbose_name, Promise):
        options.verbose_name_plural = f"{options.verbose_name}s"  # as Django makes it
    options.verbose_name = marked(options.verbose_name)
    options.verbose_name_plural = marked(options.verbose_name_plural)
    for field in own_fields(sender):
        field.verbose_name = marked(field.verbose_name)
        field.help_text = marked(field.help_text)
        if field.choices:
            field.choices = [(value, marked(label)) for value, label in cast("Any", field.choices)]


def marked(words: Any) -> Any:
    """Return words that are translated when they are shown; those that are already marked stay as they are."""
    return words if isinstance(words, Promise) or words in NOT_WORDS else gettext_lazy(words)


def own_fields(model: type[Model]) -> Iterator[Any]:
    """Yield the fields of a model, without those that point to it from others."""
    for field in (*model._meta.local_fields, *model._meta.local_many_to_many):
        if isinstance(field, Field):
            yield field


def words_of(model: type[Model]) -> Iterator[str]:
    """Yield the English words of a model: its names, and of each field its name, help text and choices.

    For the catalogs: call it while no translation is active.
    """
    options = model._meta
    found = [options.verbose_name, options.verbose_name_plural]
    for field in own_fields(model):
        found += [field.verbose_name, field.help_text]
        found += [label for value, label in field.choices or () if value not in (None, "")]
    yield from dict.fromkeys(word for word in map(str, found) if word not in NOT_WORDS)

"""Background tasks, hub events and their subscribers in words, for pages of operators."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.conf import settings
from django.utils.module_loading import import_string
from django.utils.translation import gettext

from apps.core.words import Words

# Whose docstrings say what a task does where the table has no words for it.
OWN_CODE = "apps."


@dataclass(frozen=True)
class JobWords:
    """A task in words. title: a few words. does: one sentence."""

    title: Words
    does: Words


def job_words(function: str) -> JobWords:
    """Return a task in words: those of settings.JOB_WORDS, or else of its own name and docstring."""
    table: Mapping[str, JobWords] = import_string(settings.JOB_WORDS)
    return table.get(function) or JobWords(readable(function), first_sentence(function))


def event_words(name: str) -> str:
    """Return what a hub event reports, such as `timeline event saved`; its own name where there are no words for it."""
    return str(import_string(settings.EVENT_WORDS).get(name, name))


def handler_words(path: str) -> str:
    """Return what a subscriber does with an event, such as `make memories`."""
    return str(import_string(settings.HANDLER_WORDS).get(path) or readable(path).lower())


def readable(path: str) -> str:
    """Return the name of a function as words."""
    return path.rpartition(".")[2].replace("_", " ").strip().capitalize() or gettext("Without a name")


def first_sentence(function: str) -> str:
    """Return the first line of the docstring of a task of ours; nothing for others, which are not imported."""
    if not function.startswith(OWN_CODE):
        return ""
    try:
        text = str(import_string(function).__doc__ or "")
    except ImportError:
        return gettext("The code no longer has this task.")
    return text.strip().partition("\n")[0]

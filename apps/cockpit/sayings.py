"""Sentences of checks, indexes and erasures, which programs and rows have in English: what pages translate."""

from django.utils.translation import gettext_noop as _

from apps.core.pages.sayings import SAYINGS

# What the readiness of the hub says is missing.
CHECKS = (
    _("not checked yet"),
    _("the database does not answer"),
    _("the disk of the data directory is full: %(free)s MB are free"),
    _("the database is not migrated: run manage.py prepare"),
    _("no worker has reported in the last %(seconds)s seconds: see logs/worker.log"),
    _("the worker has not started yet"),
    _("could not be loaded (%(error)s); it is being tried again"),
    _("%(count)s schedules are overdue by two periods or more"),
)
# Hints of the index, and what could not be verified or built.
INDEX = (
    _("A graph is being built or brought up to date; this finishes by itself."),
    _("Raise MEMORYHUB_INDEX_CACHE_MB, or spread the users over more machines."),
    _(
        "The indexes of all users do not fit in memory and are reloaded again and again: raise "
        "MEMORYHUB_INDEX_CACHE_MB, or spread the users over more machines."
    ),
    _("Check the load of the database and the disk; this ends when it falls."),
)
# What keeps a person from being forgotten.
ERASURES = (
    _("There is nothing of this user."),
    _("It failed with %(error)s, see the log of the worker, and is tried again each minute."),
    _("something is left in %(place)s"),
    _("%(count)s web processes still hold something in memory."),
    _("the segment %(uuid)s is damaged: %(damage)s"),
    _("timeline/quarantine/%(name)s was set aside"),
    _("timeline/%(name)s is not in the catalogue"),
    _("the rule %(rule)s is for this user only, and %(heir)s extends it"),
    _("Forgetting cannot begin, because something could stay hidden: %(what)s."),
)
SAYINGS.add((*CHECKS, *INDEX, *ERASURES), ())

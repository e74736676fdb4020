"""Words of what was learnt, for the catalogs: they are stored in English."""

from django.utils.translation import gettext_noop as _

from apps.core.pages.sayings import SAYINGS

# Why something is not done.
REFUSALS = (
    _("This operation was done to another note."),
    _("The note is in UTF-16: it can only be edited on the disk."),
)
# Steps of a run, kinds of facts, and why one was dropped.
WORDS = (
    _("capture"),
    _("extract"),
    _("gate"),
    _("reconcile"),
    _("apply"),
    _("deduplicate"),
    _("preference"),
    _("identity"),
    _("relationship"),
    _("health"),
    _("routine"),
    _("event"),
    _("decision"),
    _("instruction"),
    _("fact"),
    _("recalled"),
    _("duplicate"),
    _("no_source"),
    _("paused"),
)
SAYINGS.add((*REFUSALS,), WORDS)

"""What syncs say of sources, for the catalogs: it is made in English, and kept so."""

from django.utils.translation import gettext_noop as _

from apps.core.pages.sayings import SAYINGS

# When a source is synced, and why.
DUE = (
    _("The source has no trigger; a person or a program starts its syncs."),
    _("The source is disabled."),
    _("The source is paused: %(why)s"),
    _("Failed %(count)s times in a row; it is tried again later."),
    _("Failed %(count)s times in a row."),
    _("No trigger is met."),
    _("The last sync left items for the next one."),
    _("Due every day at %(time)s UTC."),
    _("It was never synced."),
    _("The last sync is more than %(span)s ago."),
    _("%(count)s sessions since the last sync, of %(most)s."),
)
# Why something is not done.
REFUSALS = (
    _("There is no such file in the folder."),
    _("This source is being synced: try again when that has ended."),
    _("There is a source of this name."),
    _("The memory and its item no longer differ in this way."),
    _("The memory and its item do not differ so any more."),  # in runs of earlier versions
    _("This conflict is not waiting for a decision."),
    _("The source was switched off."),
    _("The source was paused."),
    _("This field is required."),
    _("This cannot be changed: create another source."),
    _("Use letters, digits, spaces, and . : _ - only."),
    _("Name a folder inside the source, such as knowledge/adr."),
    _("No path matches such a pattern: write one such as adr/**/*.md."),
    _("Most files are not documents of a known kind: %(noise)s of %(total)s."),
    _("Name the folder that has them, or patterns."),
    _("Name a folder, such as %(folder)s, which has %(count)s of the items."),
    _("No file of the source is wanted: check its branch, folder and patterns."),
    _("Files were found, %(total)s, and none became an item."),
    _("Of %(count)s of them: %(why)s"),
    _("A kind has 2 to 10 letters, such as RFC."),
    _("Give an object with %(parts)s, each of them an object."),
    _("The fields are %(fields)s."),
    _("The statuses are %(statuses)s."),
    _("Give a whole number from 1 to %(most)s."),
    _("Give a text of one line and at most %(most)s characters."),
    _("A duration is a number with s, m, h or d, such as 6h, of at most ten years."),
    _("The hub has no permission for %(place)s."),
    _("Another process has ended this run."),
)
# States and values of items, and why runs were made.
WORDS = (
    _("draft"),
    _("proposed"),
    _("deprecated"),
    _("company"),
    _("organisation"),
    _("team"),
    _("project"),
    _("blocking"),
    _("warning"),
    _("info"),
    _("manual"),
    _("scheduled"),
    _("threshold"),
    _("retry"),
    _("remaining"),
    _("webhook"),
    _("backoff"),
)
SAYINGS.add((*DUE, *REFUSALS), WORDS)

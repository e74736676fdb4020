"""What work on segments and warnings say, for the catalogs: it is made in English, and kept so."""

from django.utils.translation import gettext_noop as _

from apps.core.pages.sayings import SAYINGS

# What to do about warnings.
HINTS = (
    _(
        "Recording takes longer than MEMORYHUB_TIMELINE_WRITE_MS. Check the load on the database, and record in "
        "batches. The warning ends when writes are fast again."
    ),
    _("Run `manage.py timeline doctor --repair`, or put the file back from a backup and choose Verify in the admin."),
    _("Free space on the disk of the data directory, or enable a retention policy. Sealing waits until there is room."),
    _(
        "More events are waiting to be archived than MEMORYHUB_TIMELINE_MAX_ROWS allows. Check that the worker is "
        "running and that the schedule `timeline: maintain` exists."
    ),
    _("Check the failed task in the admin and the log of the worker."),
)
# Of work on segments.
OUTCOMES = (
    _("%(count)s segments were sealed."),
    _("1 segment was sealed."),
    _("Nothing was there to seal."),
    _("Sealed: %(events)s events in %(size)s bytes."),
    _("Sealed: 1 event in %(size)s bytes."),
    _("It holds nothing, so it stays open."),
    _("It is %(state)s now."),
    _("Back in service: %(events)s events, %(size)s bytes."),
    _("Back in service: 1 event, %(size)s bytes."),
    _("Sound: %(events)s events, %(size)s bytes."),
    _("Sound: 1 event, %(size)s bytes."),
    _("Damaged: %(damage)s"),
    _("It is %(state)s: there is no file to verify."),
    _("There are no small segments side by side to merge."),
    _("%(count)s small segments became fewer."),
    _("%(count)s segments are sound: %(events)s events, %(size)s bytes."),
    _("1 segment is sound: %(events)s events, %(size)s bytes."),
    _("1 segment is sound: 1 event, %(size)s bytes."),
    _("%(count)s files were found damaged."),
    _("1 file was found damaged."),
    _("Its file is damaged."),
    _("Rows and file differ."),
    _("Some events are there twice."),
    _("An unknown file."),
    _("A file that is not needed any more."),
    _("A file that does not belong here."),
    _("Repaired."),
    _("%(count)s events are lost."),
    _("1 event is lost."),
    _("and %(count)s more."),
    _("The timeline is already being maintained."),
    _("Another maintenance of the timeline is at work."),  # in rows of earlier versions
    _("The global policy is not deleted; switch it off."),
)
# States of segments, in sentences.
WORDS = (
    _("sealing"),
    _("sealed"),
    _("archived"),
    _("compacted"),
    _("quarantined"),
    _("pruned"),
)
SAYINGS.add((*HINTS, *OUTCOMES), WORDS)

"""What processes say of folders and of connections, for the catalogs: it is published in English."""

from django.utils.translation import gettext_noop as _

from apps.core.db.sessions import NO_DIRECT, OTHER_DATABASE, WRONG_DIRECT
from apps.core.pages.sayings import SAYINGS

FOLDERS = (
    _("The folder of the timeline is not there, or not that of this hub."),
    _("The folder of the timeline has the files of another hub."),
    _("The folder of notes is not there, or not that of this hub."),
    _("The folder of notes has the files of another hub."),
)
SAYINGS.add((*FOLDERS, NO_DIRECT, WRONG_DIRECT, OTHER_DATABASE))

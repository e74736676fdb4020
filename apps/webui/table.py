"""The one table of the pages and fragments of the web UI."""

from apps.webui.applications.table import PAGES as APPLICATIONS
from apps.webui.ask.table import PAGES as ASK
from apps.webui.clear_up.table import PAGES as CLEAR_UP
from apps.webui.days.table import PAGES as DAYS
from apps.webui.home.table import PAGES as HOME
from apps.webui.household.table import PAGES as HOUSEHOLD
from apps.webui.known.table import PAGES as KNOWN
from apps.webui.memory.table import PAGES as MEMORY
from apps.webui.memory_settings.table import PAGES as MEMORY_SETTINGS
from apps.webui.notes.table import PAGES as NOTES
from apps.webui.pages import Page
from apps.webui.privacy.table import PAGES as PRIVACY
from apps.webui.settings.table import PAGES as SETTINGS

PAGES: tuple[Page, ...] = (
    *HOME,
    *ASK,
    *KNOWN,
    *MEMORY,
    *CLEAR_UP,
    *DAYS,
    *HOUSEHOLD,
    *NOTES,
    *PRIVACY,
    *MEMORY_SETTINGS,
    *SETTINGS,
    *APPLICATIONS,
)

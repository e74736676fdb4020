"""The one table of the cockpit's pages and fragments."""

from apps.cockpit.access.table import PAGES as ACCESS
from apps.cockpit.activity.table import PAGES as ACTIVITY
from apps.cockpit.admin.audit import PAGES as AUDIT
from apps.cockpit.alarms.table import PAGES as ALARMS
from apps.cockpit.ask.table import PAGES as ASK
from apps.cockpit.decisions.table import PAGES as DECISIONS
from apps.cockpit.first_steps.table import PAGES as FIRST_STEPS
from apps.cockpit.index.table import PAGES as INDEX
from apps.cockpit.invitations.table import PAGES as INVITATIONS
from apps.cockpit.now.table import PAGES as NOW
from apps.cockpit.pages import Page
from apps.cockpit.palette.table import PAGES as PALETTE
from apps.cockpit.people.table import PAGES as PEOPLE
from apps.cockpit.work.table import PAGES as WORK

PAGES: tuple[Page, ...] = (
    *NOW,
    *FIRST_STEPS,
    *ACTIVITY,
    *ALARMS,
    *ASK,
    *PEOPLE,
    *DECISIONS,
    *WORK,
    *INDEX,
    *ACCESS,
    *INVITATIONS,
    *AUDIT,
    *PALETTE,
)

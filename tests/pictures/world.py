"""Fill a hub with what the pictures show, and print how the pages are reached: run in the data directory of a hub.

`manage.py shell -c "from tests.pictures.world import main; main()"`
"""

import json
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test.utils import setup_test_environment
from django.urls import reverse

from apps.accounts.services import person_create
from apps.cockpit.models import FirstSteps
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import system_access
from apps.notes.domain.places import MAIN_NAME
from apps.notes.services import main_append
from apps.semantic.models import Conflict, ConflictOutcome
from apps.sync.models import KnowledgeItem, SyncKind
from apps.sync.services import source_create, sync_run
from memoryhub.sample import METADATA
from tests.integration.accounts.signing import PASSWORD
from tests.integration.admin.pages import address
from tests.system.browser.walk.world import session_of

ACCESS = system_access("kitchen assistant")
PERSON = "sample-mara"
NOTES = {
    "Family": (
        "Ida's school play is on the last Friday of the month.",
        "Oskar looks after the bees and sells the honey.",
    ),
    "Food": ("No hazelnuts, not even traces.", "Tomas drinks his tea without sugar."),
    "House": ("The boiler is serviced in October.",),
}
RECORD = """---
id: ADR-{number}
type: adr
title: {title}
status: {status}
{more}---
{text}
"""
RECORDS = (
    ("0012", "Calls between services", "superseded", "", "Services call each other over REST."),
    (
        "0017",
        "Events between services",
        "accepted",
        "supersedes: [ADR-0012]\nconstraints:\n  - text: No call between services without a deadline\n"
        "    severity: blocking\n",
        "Services send each other events. Calls are for pages, which cannot wait.",
    ),
    (
        "0021",
        "Keep orders in PostgreSQL",
        "accepted",
        "tags: [storage]\n",
        "All services keep their data in PostgreSQL.",
    ),
    (
        "0024",
        "One token for each machine",
        "accepted",
        "tags: [security]\n",
        "Machines sign in with a token of their own.",
    ),
    ("0026", "Feature flags in the repository", "proposed", "", "Flags are files that are reviewed like code."),
)


def main() -> None:
    """Fill the hub, and print sessions and addresses as JSON."""
    setup_test_environment()  # Its host is allowed.
    call_command("load_sample", verbosity=0)
    FirstSteps.objects.update(dismissed_at=utcnow(SYSTEM_CLOCK))
    write_notes()
    write_knowledge(settings.MEMORYHUB.sync.roots[0])
    owner = User.objects.create_superuser("operator", password=PASSWORD)
    person = person_create(username="mara", person_id=PERSON)
    sessions = {"owner": session_of(owner), "person": session_of(person)}
    print("\n" + json.dumps({"sessions": sessions, "paths": paths()}))


def write_notes() -> None:
    """Write what is to be known for long."""
    for category, entries in NOTES.items():
        for entry in entries:
            main_append(access=ACCESS, user_id=PERSON, entry=entry, category=category)


def write_knowledge(root: Path) -> None:
    """Have the decisions of a team, of which one supersedes another."""
    folder = root / "platform"
    folder.mkdir(parents=True)
    for number, title, status, more, text in RECORDS:
        record = RECORD.format(number=number, title=title, status=status, more=more, text=text)
        (folder / f"{number}.md").write_text(record)
    values = {"name": "platform", "user_id": "team-platform", "kind": "folder", "location": str(folder)}
    sync_run(access=ACCESS, uuid=source_create(access=ACCESS, values=values).uuid, kind=SyncKind.FULL)


def paths() -> dict[str, str]:
    """Return the address of each page, by the name of its picture."""
    return {
        "home": reverse("webui:home"),
        "decision": f"{reverse('cockpit_decisions')}?receipt={decision_about('oskar-more-hives')}",
        "receipt": address(Conflict, "change", decision_about("gate-repaired")),
        "knowledge": address(KnowledgeItem, "changelist"),
        "timeline": reverse("webui:days"),
        "notes": reverse("webui:note", args=[MAIN_NAME]),
    }


def decision_about(key: str) -> int:
    """Return the decision by which a memory of the sample took the place of another one, by the key of the memory."""
    wanted = {f"candidate__metadata__{METADATA}__key": key, "outcome": ConflictOutcome.SUPERSEDED_EXISTING}
    return Conflict.objects.filter(**wanted).latest("pk").pk

"""Topics of memories in words."""

from django.utils.translation import gettext_lazy as _

# Those that the hub and its samples use; others are shown as their writer named them.
TOPICS = {
    "contact": _("Contacts"),
    "decision": _("Decisions"),
    "event": _("What happened"),
    "fact": _("Facts"),
    "health": _("Health"),
    "instruction": _("Instructions"),
    "person": _("People"),
    "plan": _("Plans"),
    "preference": _("Preferences"),
    "routine": _("Routines"),
    "rule": _("Rules"),
}


def topic_words(name: str) -> str:
    """Return what a topic is called."""
    return str(TOPICS.get(name, name.replace("_", " ")))

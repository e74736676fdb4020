"""The roles that the hub ships: one table, from the one that may least to the one that may everything.

Names are those of groups, in English; pages translate them where they show them.
"""

from django.utils.translation import gettext_noop as _

from apps.accounts.domain.roles import Role

# What people work with; keys, accounts, audit and background work are left out.
SUBJECTS = ("semantic", "episodic", "notes", "people", "sync", "rules", "llm", "events", "monitor", "live", "cockpit")
VIEW = tuple(f"{subject}.view_*" for subject in SUBJECTS)

ROLES = (
    Role(_("Viewer"), _("Can view what the hub keeps, but change nothing."), VIEW),
    Role(
        _("Reviewer"),
        _("Also decides conflicts, deletes and restores memories and notes, and undoes what was learnt."),
        (
            *VIEW,
            "semantic.change_conflict",
            "semantic.change_memory",
            "semantic.delete_memory",
            "sync.change_pointerconflict",
            "notes.change_*",
        ),
    ),
    Role(
        _("Operator"),
        _("Also runs the hub: rules, retention, models, sources, API keys and background work."),
        (
            *(f"{subject}.*" for subject in SUBJECTS),
            "core.*_apikey",
            "core.*_displayname",
            "core.*_membership",
            "core.view_hubprocess",
            "django_q.*",
            "audit.view_*",
            "accounts.view_*",
            "accounts.add_invitation",
            "accounts.change_invitation",
        ),
    ),
    Role(_("Owner"), _("Can do everything, and assign roles to others."), ("*",)),
)

"""Refusals of keys and memories that pages show, for the catalogs: programs are answered in English."""

from django.utils.translation import gettext_noop as _

# Of services.
REFUSALS = (
    _("This key is revoked: create another one."),
    _("This key has expired: change its expiry first."),
    _("The app of this key signed in, and renews its secret itself."),
    _("This key is already in use."),
    _("This user is being forgotten."),
    _("This memory is not deleted."),
    _("The same content has been saved again since; delete that memory first."),
    _("Both memories were kept: there is nothing to revert."),
    _("This is the receipt of a person's decision: revert it instead."),
    _("This decision was %(state)s by %(actor)s."),
    _("This decision was %(state)s."),
    _("The time range must end after it starts."),
    _("Choose a rule or a time range."),
    _("Choose whose memories to compare."),
)

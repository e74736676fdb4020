"""Problems of access: passwords are being tried, and something was written where its writer does not belong."""

from collections.abc import Iterator

from django.utils.translation import gettext, ngettext

from apps.accounts import selectors
from apps.core.models import foreign_ties
from apps.monitor.domain.problems import Problem, ProblemSeverity
from memoryhub.problems.links import link


def sign_in_problems() -> Iterator[Problem]:
    """Yield the accounts to which signing in failed often within a day, a problem each."""
    for alarm in selectors.sign_in_problems():
        said = gettext(
            "%(n)s sign-ins with unknown account names failed within a day, the last at %(time)s from %(address)s."
        )
        if alarm.account:
            said = gettext(
                "%(n)s sign-ins to the account “%(account)s” failed within a day, the last at %(time)s from "
                "%(address)s."
            )
        values = {
            "n": f"{alarm.count:,}",
            "account": alarm.account,
            "time": f"{alarm.last_at:%Y-%m-%d %H:%M} UTC",
            "address": alarm.last_address or gettext("an unknown address"),
        }
        yield Problem(
            code="sign_ins_failed",
            severity=ProblemSeverity.WARNING,
            sentence=said % values,
            advice=gettext(
                "After a few failed attempts, further ones are refused. If this was not the account’s user, make "
                "sure that the account has a second factor, and block the address from the hub."
            ),
            permission="auth.view_user",
            subject=alarm.account or "",
            since=alarm.since,
            remedy=link(gettext("See the accounts"), "admin:auth_user_changelist"),
        )


def membership_problems() -> Iterator[Problem]:
    """Yield that there are foreign writes, in one problem."""
    foreign = foreign_ties()
    if not foreign:
        return
    said = ngettext(
        "%(n)s user has data in a household or persona without being a confirmed member of it.",
        "%(n)s users have data in a household or persona without being confirmed members of it.",
        len(foreign),
    )
    yield Problem(
        code="foreign_writes",
        severity=ProblemSeverity.NOTICE,
        sentence=said % {"n": f"{len(foreign):,}"},
        advice=gettext("It is kept but cannot be found there. Make them members, or leave it as it is."),
        permission="core.view_membership",
        remedy=link(gettext("See foreign writes"), "admin:core_membership_changelist", more="?state__exact=foreign"),
    )

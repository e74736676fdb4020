"""Problems of accounts: passwords are being tried."""

from collections.abc import Iterator

from django.utils.translation import gettext

from apps.accounts import selectors
from apps.monitor.domain.problems import Problem, ProblemSeverity
from memoryhub.problems.links import link


def sign_in_problems() -> Iterator[Problem]:
    """Yield the accounts to which signing in failed often within a day, a problem each."""
    for alarm in selectors.sign_in_problems():
        said = gettext(
            "%(n)s sign-ins with names that no account has failed within a day, the last at %(time)s from %(address)s."
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
                "More than a few attempts are refused. If it was not its person, see that the account has a second "
                "factor, and keep the address from the hub."
            ),
            permission="auth.view_user",
            subject=alarm.account or "",
            since=alarm.since,
            remedy=link(gettext("See the accounts"), "admin:auth_user_changelist"),
        )

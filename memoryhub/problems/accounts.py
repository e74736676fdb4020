"""Problems of accounts: passwords are being tried."""

from collections.abc import Iterator

from apps.accounts import selectors
from apps.monitor.domain.problems import Problem, ProblemSeverity
from memoryhub.problems.links import link


def sign_in_problems() -> Iterator[Problem]:
    """Yield the accounts to which signing in failed often within a day, a problem each."""
    for alarm in selectors.sign_in_problems():
        whose = f"to the account “{alarm.account}”" if alarm.account else "with names that no account has"
        last = f"{alarm.last_at:%Y-%m-%d %H:%M} UTC from {alarm.last_address or 'an unknown address'}"
        yield Problem(
            code="sign_ins_failed",
            severity=ProblemSeverity.WARNING,
            sentence=f"{alarm.count:,} sign-ins {whose} failed within a day, the last at {last}.",
            advice="More than a few attempts are refused. If it was not its person, see that the account has a second "
            "factor, and keep the address from the hub.",
            permission="auth.view_user",
            subject=alarm.account or "",
            since=alarm.since,
            remedy=link("See the accounts", "admin:auth_user_changelist"),
        )

"""The door of `oauth`."""

from apps.oauth.asked import SignIn, SignInRefusedError, are_plain, sign_in_answer, sign_in_read
from apps.oauth.clients import client_register, sign_ins_trim
from apps.oauth.domain.clients import SCHEMES, form_target

__all__ = [
    "SCHEMES",
    "SignIn",
    "SignInRefusedError",
    "are_plain",
    "client_register",
    "form_target",
    "sign_in_answer",
    "sign_in_read",
    "sign_ins_trim",
]

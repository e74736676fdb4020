"""Forms of allauth with words of ours, and with what they leave out."""

from typing import Any

from allauth.account.forms import LoginForm
from allauth.mfa.adapter import get_adapter
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.forms import ActivateTOTPForm
from allauth.mfa.totp.internal.auth import TOTP
from allauth.mfa.webauthn.forms import AddWebAuthnForm, EditWebAuthnForm
from django.utils.translation import gettext as _


class SignInForm(LoginForm):
    """Name and password. The first field is called `username`, as password managers and Django's own form have it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.widget.attrs.pop("placeholder", None)
        self.fields["login"].label = _("Name")
        self.fields["login"].widget.attrs |= {"autofocus": True, "autocapitalize": "none", "spellcheck": "false"}

    def add_prefix(self, field_name: str) -> str:
        """Return the name of a field in the page."""
        return "username" if field_name == "login" else str(super().add_prefix(field_name))


class ActivateAppForm(ActivateTOTPForm):
    """An authenticator app to set up. The code that proves it is used by that: allauth notes codes of signing in alone.

    Whoever has read it from a shoulder or a screen would have the rest of its half minute to sign in with it.
    """

    def clean_code(self) -> str:
        """Return the code. Raises ValidationError for a wrong one, and one that was used."""
        code = str(super().clean_code())
        app = Authenticator(user=self.user, type=Authenticator.Type.TOTP)
        if not TOTP(app)._mark_code_used(code):
            raise get_adapter().validation_error("incorrect_code")
        return code


class AddPasskeyForm(AddWebAuthnForm):
    """A passkey or a security key to add."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].label = _("Name")


class EditPasskeyForm(EditWebAuthnForm):
    """A passkey or a security key to rename."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].label = _("Name")

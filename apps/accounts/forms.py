"""Forms of allauth with words of ours."""

from typing import Any

from allauth.account.forms import LoginForm
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

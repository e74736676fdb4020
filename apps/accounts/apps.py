from django.apps import AppConfig
from django.db.models.signals import post_migrate, post_save
from django.utils.translation import gettext_lazy as _


class AccountsConfig(AppConfig):
    name = "apps.accounts"
    label = "accounts"
    verbose_name = _("Accounts")

    def ready(self) -> None:
        from allauth.account.signals import password_set, user_logged_in
        from allauth.mfa.signals import authentication_failed, authenticator_added

        from apps.accounts.roles import ensure_after_migration
        from apps.accounts.signals import end_sessions_of_inactive, record_wrong_code, settle_invitation, show_failures

        user_logged_in.connect(show_failures)
        authentication_failed.connect(record_wrong_code)
        authenticator_added.connect(settle_invitation)
        password_set.connect(settle_invitation)
        post_save.connect(end_sessions_of_inactive, sender="auth.User", dispatch_uid="sessions of inactive accounts")
        post_migrate.connect(ensure_after_migration, dispatch_uid="roles")

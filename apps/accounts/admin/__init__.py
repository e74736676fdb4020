"""Pages of accounts: those of one's own, and those of owners."""

from apps.accounts.admin import people

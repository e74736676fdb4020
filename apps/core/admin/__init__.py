"""The admin pages of `core`; importing this package registers them."""

from apps.core.admin import keys as keys

"""The admin pages of what is not ours; importing this package registers them."""

from memoryhub.admin import users as users

"""The admin pages of users, groups and background work; importing this package registers them."""

from memoryhub.admin import jobs as jobs
from memoryhub.admin import users as users

"""The admin pages of background work; importing this package registers them."""

from memoryhub.admin import jobs as jobs

"""A hub that has something of everything, in the language of tests."""

from tests.integration.accounts.conftest import quick_passwords as quick_passwords
from tests.integration.admin.conftest import remember as remember
from tests.integration.admin.conftest import subscriber as subscriber
from tests.integration.admin.knowledge import folder as folder
from tests.integration.admin.test_admin_pages import full as full
from tests.integration.admin.test_page_frame import owner as owner

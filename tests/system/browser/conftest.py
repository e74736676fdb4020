"""What tests in a browser build from, as those of the admin's pages do."""

from tests.integration.admin.conftest import remember as remember

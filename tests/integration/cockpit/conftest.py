"""What tests of the cockpit build from, as those of the admin's pages do."""

from tests.integration.admin.conftest import operator as operator
from tests.integration.admin.conftest import remember as remember
from tests.integration.admin.conftest import staff as staff

"""The admin pages of semantic memory; importing this package registers them."""

from apps.semantic.admin import bridge_records as bridge_records
from apps.semantic.admin import conflicts as conflicts
from apps.semantic.admin import consolidation as consolidation
from apps.semantic.admin import judge as judge
from apps.semantic.admin import memories as memories
from apps.semantic.admin import routing_policies as routing_policies

"""The admin pages of models; importing this package registers them."""

from apps.llm.admin import budget as budget
from apps.llm.admin import calls as calls
from apps.llm.admin import embedding_spaces as embedding_spaces
from apps.llm.admin import prices as prices
from apps.llm.admin import tools as tools

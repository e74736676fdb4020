"""The door of `llm` for everything but plain reads: embedders, the gateway to chat models, its guards, prices, tools.

Nothing inside the app below REST, admin and tasks imports this module.
"""

from apps.llm.embedding.embedder import build_embedder, current_scale, embed_texts, get_embedder, known_share
from apps.llm.embedding.reading import can_read
from apps.llm.embedding.scales import scale_of
from apps.llm.embedding.spaces import (
    EmbeddingSpaceMismatchError,
    configured_space,
    ensure_space,
    space_activate,
    space_get_or_create,
)
from apps.llm.gateway.chat import chat
from apps.llm.gateway.context import RESERVATION_MARGIN_MS, GatewayPolicy, gateway_policy
from apps.llm.gateway.rerank import Reranked, rerank, reranked_count
from apps.llm.guards.rules import guard_rules
from apps.llm.guards.status import BudgetStatus, budget_status, open_breakers
from apps.llm.model_catalogue import ChosenModel, model_choose, models_listing
from apps.llm.pair_judge.judge import PairJudgeError, get_pair_judge
from apps.llm.preload import models_preload
from apps.llm.pricing.prices import prices_ensure
from apps.llm.providers.configured import warm_up_chat_providers
from apps.llm.status import ConfiguredModel, GuardedModel, configured_models, guarded_reranker
from apps.llm.tools.parameters import checked_parameters, tool_parameters
from apps.llm.tools.requests import tool_registry, tool_run

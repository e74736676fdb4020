"""What operators ask of large indexes: to build a graph, or to verify what one finds. Both are tasks of the worker."""

from django_q.tasks import async_task

from apps.core.db.user_locks import locked_among
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import ConflictError, NotFoundError
from apps.retrieval.domain import planner
from apps.semantic.index.build import build_graph, find_large_users
from apps.semantic.index.recall import recall_verify
from apps.semantic.models import RecallCheck
from apps.semantic.store.embedding_space import current_space

BUILD, VERIFY = "apps.semantic.tasks.build_graph", "apps.semantic.tasks.verify_recall"
# A large graph takes longer than other tasks may; the worker would end it in the middle.
TIMEOUT_SECONDS = 3_600


def index_build_request(*, user: str) -> None:
    """Have the graph of a large user built again. Raises NotFoundError, and ConflictError for one being forgotten."""
    require_large(user)
    async_task(BUILD, user, q_options={"task_name": "index.build", "save": False, "timeout": TIMEOUT_SECONDS})


def recall_verify_request(*, user: str) -> None:
    """Have the recall of a large user verified. Raises NotFoundError, and ConflictError for one being forgotten."""
    require_large(user)
    async_task(VERIFY, user, q_options={"task_name": "index.recall", "save": False, "timeout": TIMEOUT_SECONDS})


def require_large(user: str) -> None:
    """Raise NotFoundError for a user without enough memories for a graph."""
    if locked_among([user]):
        raise ConflictError("This user is being forgotten.", code="being_forgotten")
    if not find_large_users(user):
        raise NotFoundError(f"Only an index of {planner.GRAPH_ROWS:,} memories or more has a graph.")


def graph_build(user: str) -> None:
    """Build the graph of a user on the disk, whatever is there. Raises GraphNotBuiltError and OSError."""
    if find_large_users(user) and not locked_among([user]):
        build_graph(user, current_space(), lambda _: None, rebuild=True)


def recall_check(user: str) -> None:
    """Verify the recall of a user; that it could not be done is noted as well. Raises what went wrong."""
    if not find_large_users(user) or locked_among([user]):
        return
    try:
        recall_verify(user, current_space())
    except Exception as error:
        name = type(error).__name__
        RecallCheck.objects.create(
            user_id=user, at=utcnow(SYSTEM_CLOCK), memories=0, problem=f"It could not be verified ({name})."
        )
        raise

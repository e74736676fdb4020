"""Hand the judge of pairs of this machine to the rule engine, if it is to be asked."""

import logging

from django.conf import settings

from apps.llm.services import PairJudgeError, get_pair_judge
from apps.rules.domain.engine.pair_judge import use_judge

logger = logging.getLogger(__name__)


def use_pair_judge() -> None:
    """Have memories judged from now on, unless `MEMORYHUB_PAIR_JUDGE` is off. The model is loaded at the first pair."""
    if not settings.MEMORYHUB.pair_judge:
        use_judge("", None)
        return
    try:
        judge = get_pair_judge()
    except PairJudgeError as error:
        logger.warning("%s Conflicts are decided by their words alone.", error)
        use_judge("", None)
        return
    use_judge(judge.name, judge.read)

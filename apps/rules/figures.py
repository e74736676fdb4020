"""How often rules decided, and how often people took it back. The receipts belong to an app above this one.

That app registers what counts them, when the hub starts.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from apps.core.domain.scope import Access


@dataclass(frozen=True)
class DecisionFigures:
    """The receipts of one rule. noticed: those that decided nothing. undone: those that people reverted or overrode."""

    decided: int
    noticed: int = 0
    undone: int = 0

    @property
    def undone_percent(self) -> int:
        """Return the share of the decisions that people took back, in percent, at least 1 where there is one."""
        share = 100 * self.undone / self.decided if self.decided else 0
        return max(1, round(share)) if self.undone else 0


# By name of the rule, since a moment, of the receipts that the caller may see.
FiguresSource = Callable[[Access, datetime], Mapping[str, DecisionFigures]]
_sources: list[FiguresSource] = []


def register_figures(source: FiguresSource) -> None:
    """Register what counts decisions, in the place of what was registered before."""
    _sources[:] = [source]


def decision_figures(access: Access, since: datetime) -> Mapping[str, DecisionFigures]:
    """Return the figures of every rule that decided since then; none where nothing counts them."""
    return _sources[0](access, since) if _sources else {}

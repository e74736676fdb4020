"""What a learned judge says of two statements, as the engine asks for it: by texts alone, remembered, or not at all.

The engine knows no model. Whoever has one hands it in (`use_judge`); until then every pair is unjudged, and the grammar
decides as far as it reads.
"""

from collections.abc import Callable, Iterable, Sequence

from apps.core.domain.caches import SizedCache
from apps.llm.domain.pair_answer import PairAnswer

# Answers for pairs of an older and a newer text, in order; None for a pair that the judge cannot read.
Read = Callable[[Sequence[tuple[str, str]]], Sequence[PairAnswer | None]]


class _Judge:
    """The judge of this process: its name with its version, and how it reads."""

    name = ""
    read: Read | None = None


_judge = _Judge()
_answers = SizedCache("answers of the judge of pairs", megabytes=4, entry_bytes=400, char_bytes=4)


def use_judge(name: str, read: Read | None) -> None:
    """Have pairs judged from now on; read: None for not at all."""
    _judge.name, _judge.read = name, read
    _answers.clear()


def judge_name() -> str:
    """Return the name and version of the judge; empty where there is none."""
    return _judge.name if _judge.read else ""


def judge_pair(older: str, newer: str) -> PairAnswer | None:
    """Return what the judge says of two texts; None where there is none, or it does not read them."""
    [answer] = judge_pairs([(older, newer)])
    return answer


def judge_pairs(pairs: Iterable[tuple[str, str]]) -> list[PairAnswer | None]:
    """Return what the judge says of each pair of an older and a newer text. Those not known yet are read as a batch."""
    wanted = list(pairs)
    if _judge.read is None:
        return [None] * len(wanted)
    known = {pair: _answers.find(pair) for pair in wanted}
    new = [pair for pair, answer in known.items() if answer is None]
    for pair, answer in zip(new, _judge.read(new) if new else (), strict=True):
        known[pair] = answer
        if answer is not None:
            _answers.keep(pair, answer, len(pair[0]) + len(pair[1]))
    return [known[pair] for pair in wanted]

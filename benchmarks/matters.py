"""Deciding pairs that are combined from matters, lives and frames: what is one matter, and what is not.

The pairs are drawn at random with a seed, from what no rule and no training has seen. Each counts as saved a
day after the one before it. Format of the files: training/README.md.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from apps.llm.embedding.embedder import current_scale, embed_texts, known_share
from apps.rules.domain.engine.detection import detect, pairs_to_read
from apps.rules.domain.engine.pair_judge import judge_pairs
from apps.rules.domain.engine.record import MemoryRecord
from benchmarks.conflicts import Progress, RuleFor
from training.lives import read_frames, read_lives
from training.pairs import BOTH, HOLDS, REPLACES, SAME, UNRELATED, Bank, Pair, read_matters
from training.pools import Pools

SEED = 20261127
# How many pairs are drawn of other matters, and of one matter.
OTHERS, OF_ONE, OF_FRAMES = 100_000, 6_000, 6_000
# Of a life, with how many others each later statement is compared, and how many pairs of those that hold.
BYSTANDERS, AMONG = 9, 45
CHUNK = 400
WANTED = {REPLACES: "update", SAME: "same", BOTH: "coexist", HOLDS: "coexist", UNRELATED: "other matters"}
_FIRST = datetime(2026, 1, 1, tzinfo=UTC)


def draw_pairs(paths: Iterable[Path], others: int = OTHERS, of_one: int = OF_ONE) -> list[Pair]:
    """Return pairs of the matters of files: of one matter, and of two matters of one subject."""
    bank = Bank(read_matters(paths), SEED)
    return [bank.draw() for _ in range(of_one)] + [bank.draw_others() for _ in range(others)]


def draw_lives(folder: Path, of_frames: int = OF_FRAMES) -> list[Pair]:
    """Return pairs of the lives and of the frames in a folder."""
    pools = Pools(SEED)
    lives, frames = read_lives(folder.glob("lives/*.txt")), read_frames(folder.glob("frames/*.txt"))
    found = [pair for life in lives for pair in life.draw(pools.chance, BYSTANDERS, AMONG)]
    return found + [pools.chance.choice(frames).draw(pools) for _ in range(of_frames if frames else 0)]


def decide_matters(pairs: Sequence[Pair], rule_for: RuleFor, advance: Progress) -> list[dict[str, Any]]:
    """Return, of each sort of pairs and language, how many there are, and of how many what followed, in percent."""
    counts: dict[tuple[str, str], dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for chunk in chunks(pairs):
        texts = list(dict.fromkeys(text for pair in chunk for text in (pair.older, pair.newer)))
        vectors = dict(zip(texts, embed_texts(texts), strict=True))
        records = [
            tuple(
                MemoryRecord(
                    side, text, _FIRST + day * timedelta(days=1), user_id="bank", embedding=vectors[text],
                    known_share=known_share(text), curve=current_scale().statements,
                )
                for side, text, day in (("newer", pair.newer, 1), ("older", pair.older, 0))
            )
            for pair in chunk
        ]  # fmt: skip
        judge_pairs(pairs_to_read((newer, older) for newer, older in records))
        for pair, (newer, older) in zip(chunk, records, strict=True):
            detection = detect(newer, older, rule_for(newer).detection)
            acted = detection.is_conflict and detection.is_decisive
            for row in ((WANTED[pair.answer], pair.kind), (WANTED[pair.answer], pair.lang), (WANTED[pair.answer], "")):
                counts[row]["pairs"] += 1
                counts[row]["noticed"] += detection.is_conflict and not (detection.restates and acted)
                counts[row]["replaced"] += acted and not detection.restates
                counts[row]["joined"] += acted and detection.restates
        advance(len(chunk))
    return [
        {"pairs of": sort, "which": which or "all", "pairs": count["pairs"]}
        | {name: round(100 * count[name] / count["pairs"], 3) for name in ("noticed", "replaced", "joined")}
        for (sort, which), count in sorted(counts.items())
    ]


def chunks(pairs: Sequence[Pair]) -> Iterable[Sequence[Pair]]:
    """Yield the pairs in order, some hundred at a time."""
    return (pairs[start : start + CHUNK] for start in range(0, len(pairs), CHUNK))

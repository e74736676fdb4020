"""The tokenizer of the judge: the unigram pieces of XLM-R, cut to the scripts that are served."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

from training.weights import Trunk

SPECIALS = 4
MOST_PIECES, MOST_CHARACTERS = 20_000, 6_500
# The scripts that are served: Latin, and Han and kana.
_LATIN = re.compile(r"[▁\u0020-\u024f\u2010-\u2044\u20a0-\u20bf°–—…]+")
_EAST = re.compile(r"[▁\u3000-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uff00-\uffef]+")


def choose_pieces(trunk: Trunk, texts: Iterable[str], most: int = MOST_PIECES) -> list[int]:
    """Return which pieces are kept, in ascending order: what the texts have twice, characters, then the commonest."""
    full = build_tokenizer(trunk.pieces, trunk.scores)
    seen = Counter(number for encoding in full.encode_batch(list(texts)) for number in encoding.ids)
    served = [
        number
        for number, piece in enumerate(trunk.pieces[:-1])
        if number >= SPECIALS and (_LATIN.fullmatch(piece) or _EAST.fullmatch(piece))
    ]
    served.sort(key=lambda number: -trunk.scores[number])
    characters = [number for number in served if len(trunk.pieces[number].strip("▁")) <= 1]
    wanted = [*range(SPECIALS), *(number for number, count in seen.items() if count > 1), *characters[:MOST_CHARACTERS]]
    return sorted(list(dict.fromkeys([*wanted, *served]))[:most])


def build_tokenizer(pieces: list[str], scores: list[float]) -> Any:
    """Return the tokenizer of these pieces, whose numbers are their places; without special tokens around a text."""
    tokenizer = Tokenizer(models.Unigram(list(zip(pieces, scores, strict=True)), unk_id=3))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer

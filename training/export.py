"""Write the trained judge as an ONNX model of integers into the product, with its checksum.

`uv run python -m training.export FOLDER --name pairs-1`, where FOLDER is what `training.train` wrote.
"""

import argparse
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from apps.llm.domain.pair_answer import ANSWERS
from apps.llm.embedding.minilm.arithmetic import Int8
from apps.llm.embedding.minilm.encoder import HEAD_SIZE, HEADS, VECTORS, EncoderBuilder
from apps.llm.embedding.minilm.onnx_graph import GraphBuilder
from apps.llm.embedding.minilm.source import DIMENSION
from apps.llm.pair_judge.judge import FOLDER

# After so many layers comes the first answer: a pair to which it gives less than this both for replacing and for saying
# the same is not read to its end.
FIRST_LAYERS, READ_ON = 6, 0.03
POSITIONS = {"positions.weight": "embeddings.position_embeddings.weight"}


@dataclass(frozen=True)
class PairBuilder(EncoderBuilder):
    """Like the encoder, with two texts in one sequence, and a layer that answers."""

    def build_answers(self, layers: int) -> str:
        """Return the four probabilities, (batch, 4), of `vectors` and `parts` (0: padding, 1: older, 2: newer).

        Pairs to which the first reading says that both hold are not read to their end.
        """
        graph, parts = self.graph, self.graph.op("Cast", "parts", to=1)
        hidden = self.read(self.embeddings(graph.op("Shape", "parts")), parts, range(FIRST_LAYERS))
        first = self.answers(hidden, parts, "first_classifier")
        limits = graph.constant([READ_ON if one in ("replaces", "same") else np.inf for one in ANSWERS], np.float32)
        reached = graph.op("Cast", graph.op("GreaterOrEqual", first, limits), to=1)
        chosen = graph.op("Cast", graph.op("ReduceMax", reached, self.sizes(1), keepdims=0), to=9)
        hidden, parts = (graph.op("Compress", one, chosen, axis=0) for one in (hidden, parts))
        flat = graph.op("Reshape", hidden, self.sizes(-1, DIMENSION))
        hidden = self.read(flat, parts, range(FIRST_LAYERS, layers))
        last = self.answers(hidden, parts, "classifier")
        rows = graph.op("Transpose", graph.op("NonZero", chosen), perm=[1, 0])
        return graph.op("ScatterND", first, rows, last)

    def read(self, x: str, parts: str, layers: range) -> str:
        """Return the hidden states after some of the layers, (batch, tokens, 384). x: those before, side by side."""
        graph, shape = self.graph, self.graph.op("Shape", parts)
        mask = graph.op("Clip", parts, graph.constant(0, np.float32), graph.constant(1, np.float32))
        heads_shape = graph.op("Concat", shape, self.sizes(HEADS, HEAD_SIZE), axis=0)
        bias = self.attention_bias(mask)
        for number in layers:
            x = self.attention(x, f"encoder.layer.{number}.attention.", heads_shape, bias)
            x = self.feed_forward(x, f"encoder.layer.{number}.")
        return graph.op("Reshape", x, graph.op("Concat", shape, self.sizes(DIMENSION), axis=0))

    def answers(self, x: str, parts: str, classifier: str) -> str:
        """Return four probabilities of hidden states, (batch, 4)."""
        graph = self.graph
        older, newer = (self.mean(x, parts, part) for part in (1, 2))
        apart = graph.op("Abs", graph.op("Sub", older, newer))
        features = graph.op("Concat", older, newer, apart, graph.op("Mul", older, newer), axis=1)
        weight = graph.constant(self.weights[f"{classifier}.weight"].T, np.float32)
        logits = graph.op(
            "Add", graph.op("MatMul", features, weight), graph.constant(self.weights[f"{classifier}.bias"])
        )
        return graph.op("Softmax", logits, axis=-1)

    def mean(self, x: str, parts: str, part: int) -> str:
        """Return the mean of the hidden states of one of the two texts."""
        graph = self.graph
        chosen = graph.op("Cast", graph.op("Equal", parts, graph.constant(part, np.float32)), to=1)
        total = graph.op(
            "ReduceSum", graph.op("Mul", x, graph.op("Unsqueeze", chosen, self.sizes(2))), self.sizes(1), keepdims=0
        )
        return graph.op("Div", total, graph.op("ReduceSum", chosen, self.sizes(1), keepdims=1))


def build(weights: dict[str, Any]) -> Any:
    """Return the ONNX model."""
    layers = 1 + max(int(name.split(".")[1]) for name in weights if name.startswith("layer."))
    named = {rename(name): np.asarray(value, dtype=np.float32) for name, value in weights.items()}
    named["embeddings.token_type_embeddings.weight"] = np.zeros((1, DIMENSION), np.float32)
    graph = GraphBuilder()
    builder = PairBuilder(graph, named, Int8())
    return graph.model(("parts",), builder.build_answers(layers), len(ANSWERS), vectors={VECTORS: DIMENSION})


def rename(name: str) -> str:
    """Return the published name of a weight."""
    if name.startswith("LayerNorm"):
        return f"embeddings.{name}"
    return POSITIONS.get(name, f"encoder.{name}" if name.startswith("layer.") else name)


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--name", required=True)
    parser.add_argument("--to", type=Path, default=FOLDER)
    args = parser.parse_args()
    args.to.mkdir(parents=True, exist_ok=True)
    weights = dict(np.load(args.folder / "network.npz"))
    (args.to / "pairs.onnx").write_bytes(build(weights).SerializeToString(deterministic=True))
    digest = hashlib.sha256((args.to / "pairs.onnx").read_bytes()).hexdigest()
    told = {"name": args.name, "answers": list(ANSWERS), "sha256": {"pairs.onnx": digest}}
    (args.to / "model.json").write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
    print((args.to / "pairs.onnx").stat().st_size)


if __name__ == "__main__":
    main()

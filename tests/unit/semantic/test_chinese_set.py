"""The set of Chinese questions is what its page says: both halves, paraphrases that share no pair, a sealed fifth."""

import re
from itertools import pairwise

from benchmarks.chinese import SCRIPTS, read_lines, read_set

# Pairs with one of these say little.
LOOSE = set("的了是在有我你您他她它們们和與与跟也都就要會会可以能這这那個个哪誰谁幾几啥什麼么怎樣样候时多少不得")


def pairs(text):
    """Return the pairs of characters of a text that say something."""
    runs = re.findall(r"[\u4e00-\u9fff]+", text)
    return {first + second for run in runs for first, second in pairwise(run) if not {first, second} & LOOSE}


def test_questions_are_answered_by_one_memory_of_their_script():
    whole, opened = read_set(is_sealed=True), read_set(is_sealed=False)
    scripts = {line["id"]: line["script"] for line in whole.memories}
    assert len(scripts) == len(whole.memories) == 290
    for line in [*opened.questions, *whole.questions]:
        assert scripts[line["memory"]] == line["script"]


def test_half_is_of_each_script_and_a_third_shares_no_words():
    whole = read_set(is_sealed=True)
    texts = {line["id"]: line["text"] for line in whole.memories}
    questions = [*read_set(is_sealed=False).questions, *whole.questions]
    assert len(questions) >= 300
    for script in SCRIPTS:
        assert 0.45 <= sum(line["script"] == script for line in questions) / len(questions) <= 0.55
    alien = [line for line in questions if line["style"] == "paraphrase"]
    assert len(alien) >= len(questions) / 3
    assert not [line["text"] for line in alien if pairs(line["text"]) & pairs(texts[line["memory"]])]


def test_sealed_memories_are_not_among_the_open_ones():
    opened = {line["id"] for line in read_lines("memories")}
    assert not {line["memory"] for line in read_lines("sealed_questions")} & opened
    assert {line["memory"] for line in read_lines("questions")} <= opened

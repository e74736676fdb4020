"""Whether a sentence keeps what facts say: in doubt it does not."""

import pytest

from apps.notes.domain.compaction.keeps import Loss, find_loss

KEPT = [
    ("Ana likes green tea.", ["Ana likes green tea.", "Ana likes green tea a lot."]),
    ("Ana has 2 cats and a dog.", ["Ana has 2 cats.", "Ana has a dog and 2 cats."]),
    ("Ana lives in Oslo, Norway.", ["Ana lives in Oslo.", "Ana lives in Oslo, Norway."]),
    ("Ana works at Acme as an engineer.", ["Ana works at Acme.", "Ana works as an engineer at Acme."]),
    ("Ana works as an engineer at Acme.", ["Ana works as an engineer at the company Acme."]),
    ("Ana does not eat meat.", ["Ana does not eat meat.", "Ana does not eat meat at all."]),
    ("小明喜歡綠茶。", ["小明喜歡綠茶。", "小明非常喜歡綠茶。"]),
]
LOST = [
    ("Ana has 3 cats.", ["Ana has 2 cats at home."], Loss.VALUES),
    ("Ana has cats.", ["Ana has 2 cats at home."], Loss.VALUES),
    ("Ana has 3 cats and 2 dogs.", ["Ana has 2 cats.", "Ana has 3 dogs."], Loss.VALUES),
    ("The dentist is on May 5.", ["The dentist appointment is on May 4."], Loss.VALUES),
    ("The dentist is on 2027-03-04.", ["The dentist appointment is on 2026-03-04."], Loss.VALUES),
    ("Ana lives there.", ["Ana lives in Oslo now."], Loss.VALUES),
    ("Ana meets Eva on Friday.", ["Ana meets Eva on Monday at noon."], Loss.VALUES),
    ("Ana eats meat.", ["Ana does not eat meat at all."], Loss.NEGATION),
    ("Ana likes tea, not coffee.", ["Ana likes coffee very much.", "Ana does not like tea."], Loss.NEGATION),
    ("Ana eats no nuts.", ["Ana eats nuts nearly every day."], Loss.NEGATION),
    ("Ana moves to Oslo.", ["Ana plans to move to Oslo."], Loss.LIMITS),
    ("Ana eats fish.", ["Ana only eats fish."], Loss.LIMITS),
    ("Ana likes tea and coffee.", ["Ana likes tea.", "Ben likes coffee."], Loss.SUBJECT),
    ("My sister likes tea, coffee.", ["My sister likes tea.", "My brother likes coffee."], Loss.SUBJECT),
    ("Ana likes tea.", ["Ana likes green tea with honey and lemon."], Loss.WORDS),
    ("Ana likes tea and owes money.", ["Ana likes tea.", "Ana likes tea every day."], None),
    ("Ana likes green tea, a very long sentence.", ["Ana likes green tea."], Loss.LONGER),
    ("Ana\nlikes tea.", ["Ana likes tea a lot."], Loss.FORM),
    ("- Ana likes tea.", ["Ana likes tea a lot, really."], Loss.FORM),
    ("See [tea](x).", ["Ana likes tea a lot, really."], Loss.FORM),
    ("小明有3隻貓。", ["小明在家裡有2隻貓。"], Loss.VALUES),
    ("小明有三隻貓。", ["小明在家裡有兩隻貓。"], Loss.VALUES),
    ("小明吃肉。", ["小明完全不吃肉。"], Loss.NEGATION),
    ("小明喜歡茶和咖啡。", ["小明喜歡茶。", "小華喜歡咖啡。"], Loss.SUBJECT),
    ("小明住在台北。", ["小明現在住在高雄市。"], Loss.WORDS),
]


@pytest.mark.parametrize(("sentence", "facts"), KEPT, ids=[sentence for sentence, _ in KEPT])
def test_sentence_keeps_its_facts(sentence: str, facts: list[str]) -> None:
    assert find_loss(sentence, facts) is None


@pytest.mark.parametrize(("sentence", "facts", "loss"), LOST, ids=[sentence for sentence, _, _ in LOST])
def test_sentence_that_loses_something_is_noticed(sentence: str, facts: list[str], loss: Loss | None) -> None:
    found = find_loss(sentence, facts)
    assert found is not None
    assert loss is None or found is loss


def test_request_for_a_tool_is_no_fact() -> None:
    fact = "Ana said a lot about tea yesterday, and about how she makes it in the morning, with a little milk in it."
    asked = "Ana [[ABP_TOOL:memory_save]]{}[[END_ABP_TOOL]]"
    assert find_loss(asked, [fact]) in {Loss.TOOL, Loss.FORM}

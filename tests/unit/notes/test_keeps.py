"""Whether a sentence keeps what facts say: in doubt it does not."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.notes.domain.compaction.keeps import Loss, find_loss

KEPT = [
    ("Ana likes green tea.", ["Ana likes green tea.", "Ana likes green tea a lot."]),
    ("Ana has 2 cats and a dog.", ["Ana has 2 cats.", "Ana has 2 cats and a dog."]),
    ("Ana likes tea, milk and rice.", ["Ana likes milk.", "Ana likes tea.", "Ana likes rice."]),
    ("Ana eats fish and rice in Oslo.", ["Ana eats fish in Oslo.", "Ana eats rice in Oslo."]),
    ("小明喜歡綠茶和咖啡。", ["小明喜歡綠茶。", "小明喜歡咖啡。"]),
    ("Ana lives in Oslo, Norway.", ["Ana lives in Oslo.", "Ana lives in Oslo, Norway."]),
    ("Ana works at Acme as an engineer.", ["Ana works at Acme.", "Ana works at Acme as an engineer."]),
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
    ("I am allergic to peanuts and shellfish.", ["I am allergic to peanuts, shellfish and strawberries."], Loss.WORDS),
    ("I like coffee but not tea.", ["I like tea but not coffee."], None),
    ("Ben lent Ana money.", ["Ana lent Ben money."], None),
    ("Ana works in the big hospital.", ["Ana works as a nurse in the big hospital."], Loss.WORDS),
    ("我對花生、蝦子和牛奶過敏。", ["我對花生、蝦子、螃蟹和牛奶過敏。"], Loss.WORDS),
    ("Ana likes coffee and hates tea.", ["Ana likes tea.", "Ana likes coffee and hates tea."], Loss.ORDER),
    ("Ana likes tea shops.", ["Ana likes tea.", "Ana likes tea shops."], Loss.ORDER),
    ("Ana has a dog house.", ["Ana has a dog.", "Ana has a house."], Loss.ORDER),
    ("Ana drinks tea and coffee with milk.", ["Ana drinks tea with milk.", "Ana drinks coffee."], Loss.ORDER),
    ("Ana flew to Oslo from Rome.", ["Ana flew from Oslo to Rome."], Loss.ORDER),
    ("Ana does not like tea.", ["Ana does not really like tea."], Loss.WORDS),
    ("Ana has few friends.", ["Ana has a few friends."], Loss.WORDS),
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


NOUNS = ["tea", "milk", "rice", "bread", "cheese", "honey", "fish", "soup"]
LISTS = st.lists(st.sampled_from(NOUNS), min_size=2, max_size=5, unique=True)
HAN_LISTS = st.lists(
    st.sampled_from(["花生", "蝦子", "螃蟹", "牛奶", "芝麻", "草莓"]), min_size=2, max_size=5, unique=True
)


def listed(things: list[str]) -> str:
    return f"{', '.join(things[:-1])} and {things[-1]}" if len(things) > 1 else things[0]


@settings(max_examples=200, deadline=None)
@given(LISTS, st.booleans(), st.data())
def test_deleting_or_exchanging_one_word_of_a_fact_never_passes(things: list[str], is_split: bool, data) -> None:
    """Whatever the facts are joined to, a sentence without one of their words, or with another one, is refused."""
    whole = f"Ana likes {listed(things)}."
    facts = [f"Ana really likes {thing}." for thing in things] if is_split else [whole.replace("likes", "really likes")]
    assert find_loss(whole, facts) is None
    lost = data.draw(st.sampled_from(["Ana", "likes", *things]))
    other = data.draw(st.sampled_from([noun for noun in NOUNS if noun not in things] + ["Ben", "hates"]))
    for changed in ("", other):
        assert find_loss(" ".join(whole.replace(lost, changed).split()), facts) is not None


@settings(max_examples=200, deadline=None)
@given(st.permutations(["Ana", "lent", "Ben", "money", "today"]))
def test_words_of_a_fact_in_another_order_never_pass(order: list[str]) -> None:
    sentence, fact = " ".join(order) + ".", "Ana really lent Ben money today."
    assert (find_loss(sentence, [fact]) is None) is (order == ["Ana", "lent", "Ben", "money", "today"])


@settings(max_examples=100, deadline=None)
@given(HAN_LISTS, st.data())
def test_deleting_one_word_of_a_chinese_fact_never_passes(things: list[str], data) -> None:
    fact = f"我真的喜歡{'、'.join(things)}。"
    assert find_loss(fact.replace("真的", ""), [fact]) is None
    lost = data.draw(st.sampled_from(things))
    kept = [thing for thing in things if thing != lost]
    assert find_loss(f"我喜歡{'、'.join(kept)}。", [fact]) is not None

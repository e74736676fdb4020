"""What follows from the words of two memories and from what the judge of pairs reads, together (ADR 69)."""

from dataclasses import replace

import pytest

from apps.llm.domain.pair_answer import PairAnswer
from apps.rules.domain.engine.pair_judge import judge_name, judge_pair, judge_pairs, use_judge
from apps.rules.domain.engine.signals import (
    NOTICE_FROM,
    SAME_FROM,
    Detection,
    DetectionConfig,
    Signal,
    SignalType,
)
from apps.rules.domain.engine.weighing import is_near, may_join_alone, may_replace_alone, weigh

pytestmark = pytest.mark.usefixtures("own_judge")

CONFIG = DetectionConfig()
TEXTS = ("Maya lives in Porto.", "Maya found a flat in Lisbon.")
NOTHING = Detection((), False, 0.0, is_decisive=False)
REPLACES, SAME, BOTH = (
    PairAnswer(0.999, 0.0, 0.001, 0.0),
    PairAnswer(0.0, 0.999, 0.001, 0.0),
    PairAnswer(0.0, 0.0, 0.99, 0.01),
)


def words(score: float) -> Detection:
    """Return what the words say: a contradiction of a strength."""
    signal = Signal(SignalType.CONTRADICTION, score, {"reason": "value"})
    return Detection((signal,), True, score, is_decisive=score >= CONFIG.act_threshold)


def weighed(of: Detection, answer: PairAnswer, *, may_act: bool = True, texts: tuple[str, str] = TEXTS) -> Detection:
    return weigh(of, answer, texts, may_act, CONFIG, "m1")


def effect(of: Detection) -> str | None:
    signal = of.signal(SignalType.CROSS_ENCODER)
    return signal.evidence["effect"] if signal else None


def test_certain_replacement_is_acted_on() -> None:
    found = weighed(NOTHING, REPLACES)
    assert (found.is_conflict, found.is_decisive, found.restates, found.contradicts) == (True, True, False, True)
    assert effect(found) == "acts"


@pytest.mark.parametrize(
    "texts",
    [
        ("Ben is Ana's uncle.", "Ana is Ben's uncle."),
        ("The parcel went from Oslo to Bergen.", "The parcel went from Bergen to Oslo."),
        ("健は由美より年上だ。", "由美は健より年上だ。"),
        ("左邊放叉子,右邊放刀", "左邊放刀,右邊放叉子"),
    ],
)
def test_same_words_in_another_order_are_not_acted_on(texts: tuple[str, str]) -> None:
    assert not weighed(NOTHING, SAME, texts=texts).is_conflict
    assert effect(weighed(words(0.9), SAME, texts=texts)) == "vetoes"


@pytest.mark.parametrize(
    "texts",
    [
        ("The meeting is at 10:30.", "The meeting is at 13:00."),
        ("The rent is 1250 euros.", "The rent is 1520 euros."),
        ("The exam is on 2026-01-12.", "The exam is on 2026-02-11."),
        ("We moved in on 12 March.", "We moved in on 21 March."),
    ],
)
def test_other_numbers_of_the_same_digits_are_no_other_order(texts: tuple[str, str]) -> None:
    assert weighed(words(0.9), REPLACES, texts=texts).is_decisive


def test_texts_whose_words_the_judge_does_not_know_are_not_the_same() -> None:
    assert weighed(NOTHING, SAME._replace(knows_words=False)) == NOTHING
    assert weighed(NOTHING, REPLACES._replace(knows_words=False)).is_decisive


@pytest.mark.parametrize(
    "texts",
    [
        ("Ana runs by the river. Ana swims on Fridays.", "Ana does a lot of sport."),
        ("Ana does a lot of sport.", "Ana runs by the river.\nAna swims on Fridays."),
        ("安娜常在河邊跑步。安娜週五游泳。", "安娜做很多運動。"),
    ],
)
def test_what_has_several_sentences_is_not_the_same_to_the_judge_alone(texts: tuple[str, str]) -> None:
    assert weighed(NOTHING, SAME, texts=texts) == NOTHING


@pytest.mark.parametrize(
    "texts",
    [
        (
            "Nadia finds quiet mornings in her garden restful after long shifts at the clinic.",
            "Tomás praises the drawings that Nadia brings home from her group every second Friday.",
        ),
        (
            "Working on the boat keeps my mind off the empty chair since the funeral last winter.",
            "My daughter believes that building something with both hands does people more good than talking.",
        ),
    ],
)
def test_long_statements_of_one_theme_that_share_few_words_are_not_the_same(texts: tuple[str, str]) -> None:
    assert weighed(NOTHING, SAME, texts=texts) == NOTHING


@pytest.mark.parametrize(
    "texts",
    [
        (
            "Nadia finds quiet mornings in her garden restful after long shifts at the clinic.",
            "After long shifts at the clinic, quiet mornings in the garden are what Nadia finds restful.",
        ),
        ("Mrs Adebanjo lives alone.", "Nobody shares a roof with Mrs Adebanjo."),
        ("Die Garage der Familie steht voller alter Fahrräder.", "Alte Räder füllen den Abstellplatz für das Auto."),
    ],
)
def test_long_statements_of_one_frame_and_short_ones_may_be_the_same(texts: tuple[str, str]) -> None:
    assert weighed(NOTHING, SAME, texts=texts).restates


def test_texts_without_a_word_in_common_leave_less_doubt() -> None:
    apart, near = ("I have high blood pressure.", "I suffer from hypertension."), ("Ana swims.", "Swimming is Ana's.")
    sure, surer = (PairAnswer(0.0, same, 1 - same, 0.0) for same in (SAME_FROM, 1 - (1 - SAME_FROM) / 4))
    assert weighed(NOTHING, sure, texts=apart) == NOTHING
    assert weighed(NOTHING, surer, texts=apart).restates
    assert weighed(NOTHING, sure, texts=near).restates


def test_at_a_threshold_of_1_the_judge_alone_only_notices() -> None:
    found = weigh(NOTHING, REPLACES, TEXTS, True, replace_config(pair_act_threshold=1.0), "m1")
    assert (found.is_conflict, found.is_decisive, effect(found)) == (True, False, "notices")


@pytest.mark.parametrize(
    "texts",
    [
        ("The tram to Lund leaves at 7:15.", "The tram to Lund leaves at 9:40."),
        ("I paid the window cleaner.", "I paid the gardener."),
        ("I am fond of cats.", "I am not fond of cats that scratch."),
        ("She smokes at parties.", "I do not smoke at parties."),
        ("I have a bank appointment on 3 April", "The bank is closed"),
        ("We ordered curtains for the library on Monday.", "The library is shut for repairs."),
        ("Ich habe am 3. April einen Termin bei der Bank.", "Die Bank hat geschlossen."),
        ("Anton's lucky number is seven.", "My lucky number is nine."),
        ("Lena swims before breakfast.", "Lena does not swim after breakfast."),
        ("My elder son fences.", "My younger son gave up fencing."),
    ],
    ids=["numbers", "occurrences", "narrower", "persons", "owners", "times", "counterparts", *"abc"],
)
def test_where_all_hangs_on_one_word_the_judge_alone_only_notices(texts: tuple[str, str]) -> None:
    found = weighed(NOTHING, REPLACES, texts=texts)
    assert (found.is_conflict, found.is_decisive) == (True, False)


@pytest.mark.parametrize(
    "texts",
    [
        ("I share an office with Ana.", "I share a flat with Ana."),
        ("Olga tuned the old piano in spring.", "Olga sold the old piano without asking."),
        ("My boss likes Rome.", "I like the city of Rome."),
    ],
    ids=["one word", "occurrences", "persons"],
)
def test_where_all_hangs_on_one_word_nothing_is_joined(texts: tuple[str, str]) -> None:
    assert not weighed(NOTHING, SAME, texts=texts).is_conflict


def test_uncertain_replacement_is_noticed() -> None:
    found = weighed(NOTHING, PairAnswer(NOTICE_FROM, 0.0, 1 - NOTICE_FROM, 0.0))
    assert (found.is_conflict, found.is_decisive, effect(found)) == (True, False, "notices")
    assert found.contradicts


def test_below_the_threshold_nothing_is_said() -> None:
    assert weighed(NOTHING, PairAnswer(NOTICE_FROM - 0.01, 0.0, 1.01 - NOTICE_FROM, 0.0)) == NOTHING


@pytest.mark.parametrize("text", ["x" * 1501, "Where does Maya live?"])
def test_long_and_unasserted_texts_are_only_noticed(text: str) -> None:
    found = weighed(NOTHING, REPLACES, may_act="?" not in text, texts=(TEXTS[0], text))
    assert (found.is_conflict, found.is_decisive) == (True, False)


@pytest.mark.parametrize("text", ["A man plays the flute", "Some people left.", "有一個人在彈吉他"])
def test_of_the_indefinite_nothing_is_said(text: str) -> None:
    assert weighed(NOTHING, REPLACES, texts=("The man plays.", text)) == NOTHING
    assert weighed(NOTHING, SAME, texts=("The man plays.", text)) == NOTHING


def test_words_act_unless_the_judge_vetoes() -> None:
    assert weighed(words(0.9), REPLACES).is_decisive
    vetoed = weighed(words(0.9), BOTH)
    assert (vetoed.is_conflict, vetoed.is_decisive, effect(vetoed)) == (True, False, "vetoes")


@pytest.mark.parametrize(
    ("texts", "is_acted_on"),
    [
        (("Maya lives in Porto.", "Maya lives in Prague."), True),
        (("Maya lives in Porto.", "Maya found a flat in Prague."), False),
    ],
)
def test_where_all_hangs_on_one_word_the_judge_must_be_surer_to_veto(texts: tuple[str, str], is_acted_on: bool) -> None:
    assert weighed(words(0.9), PairAnswer(0.05, 0.0, 0.95, 0.0), texts=texts).is_decisive is is_acted_on
    assert not weighed(words(0.9), PairAnswer(0.01, 0.0, 0.99, 0.0), texts=texts).is_decisive


def test_other_matters_are_vetoed_however_alike() -> None:
    """Maya works at Farfetch; Maya moved to Porto."""
    assert effect(weighed(words(0.9), PairAnswer(0.8, 0.0, 0.1, 0.1))) == "vetoes"


def test_words_that_only_suspect_are_dropped_where_both_hold() -> None:
    found = weighed(words(0.6), BOTH)
    assert not found.is_conflict
    assert found.signals == ()


def test_suspicion_of_which_the_judge_is_certain_is_acted_on() -> None:
    assert weighed(words(0.6), REPLACES).is_decisive
    assert not weighed(words(0.6), PairAnswer(0.6, 0.0, 0.4, 0.0)).is_decisive


def test_same_in_other_words_is_joined() -> None:
    found = weighed(NOTHING, SAME)
    assert (found.is_decisive, found.restates, found.contradicts, effect(found)) == (True, True, False, "joins")
    assert weighed(NOTHING, PairAnswer(0.0, SAME_FROM - 0.01, 0.2, 0.0)) == NOTHING


def test_other_numbers_are_not_the_same() -> None:
    assert weighed(NOTHING, SAME, texts=("Stand-up is at 9:15.", "The stand-up begins at 10:40.")) == NOTHING
    assert weighed(NOTHING, SAME, texts=("The bell rings at half past six.", "18:30 is when they ring it.")).restates
    assert weighed(NOTHING, SAME, texts=("My suitcase weighs 9.5 kg.", "9500 grams: so heavy is my suitcase.")).restates


def test_restatement_by_words_may_be_vetoed() -> None:
    restated = replace(words(0.9), signals=(), restates=True)
    assert weighed(restated, SAME).restates
    assert not weighed(restated, BOTH).restates


def test_restatement_by_words_is_no_contradiction_where_the_judge_only_doubts() -> None:
    texts = ("Ana bakes rye bread every Sunday.", "Ana really bakes rye bread every Sunday.")
    found = weighed(replace(words(0.9), signals=(), restates=True), PairAnswer(0.47, 0.22, 0.31, 0.0), texts=texts)
    assert (effect(found), found.restates, found.contradicts) == ("agrees", True, False)


def test_what_the_words_contradict_is_not_joined_and_what_they_suspect_may_be() -> None:
    assert not weighed(words(0.9), SAME).restates
    joined = weighed(words(0.6), SAME)
    assert (joined.restates, joined.contradicts, effect(joined)) == (True, False, "joins")


def test_suspicion_about_another_matter_is_dropped() -> None:
    assert not weighed(words(0.6), PairAnswer(0.3, 0.0, 0.6, 0.1)).is_conflict


def test_receipt_says_what_the_judge_read() -> None:
    signal = weighed(NOTHING, REPLACES).signal(SignalType.CROSS_ENCODER)
    assert signal is not None
    assert signal.evidence["probabilities"] == {"replaces": 0.999, "same": 0.0, "both": 0.001, "unrelated": 0.0}
    assert signal.evidence["verdict"] == "replaces"
    assert signal.evidence["threshold"] == CONFIG.pair_act_threshold
    assert signal.evidence["target"] == "m1"


def test_threshold_of_one_turns_an_effect_off() -> None:
    config = replace_config(pair_notice_threshold=1.0, pair_act_threshold=1.0, pair_same_threshold=1.0)
    assert weigh(NOTHING, REPLACES, TEXTS, True, config, "m1") == NOTHING
    assert weigh(NOTHING, SAME, TEXTS, True, config, "m1") == NOTHING


def test_no_veto_at_zero() -> None:
    config = replace_config(pair_veto_threshold=0.0)
    assert weigh(words(0.9), BOTH, TEXTS, True, config, "m1").is_decisive


def replace_config(**changes: float) -> DetectionConfig:
    return DetectionConfig.model_validate({**CONFIG.model_dump(), **changes})


def test_only_what_is_near_is_read() -> None:
    assert is_near(0.3, 0)
    assert is_near(0.2, 1)
    assert is_near(None, 1)
    assert not is_near(0.29, 0)
    assert not is_near(None, 0)
    assert not is_near(0.1, 5)


def test_other_matters_are_not_noticed() -> None:
    assert weighed(NOTHING, PairAnswer(0.9, 0.0, 0.06, 0.04)) == NOTHING
    assert weighed(NOTHING, PairAnswer(0.9, 0.0, 0.08, 0.02)).is_conflict


@pytest.fixture
def asked() -> list[tuple[str, str]]:
    """Use a judge that notes what it is asked."""
    seen: list[tuple[str, str]] = []

    def read(pairs: list[tuple[str, str]]) -> list[PairAnswer]:
        seen.extend(pairs)
        return [REPLACES if "not" in newer else BOTH for _, newer in pairs]

    use_judge("test-1", read)  # type: ignore[arg-type]
    return seen


def test_each_pair_is_read_once(asked: list[tuple[str, str]]) -> None:
    assert judge_pairs([("a", "not a"), ("a", "b"), ("a", "b")]) == [REPLACES, BOTH, BOTH]
    assert judge_pair("a", "b") == BOTH
    assert asked == [("a", "not a"), ("a", "b")]
    assert judge_name() == "test-1"


def test_order_of_two_texts_matters(asked: list[tuple[str, str]]) -> None:
    assert judge_pair("not a", "a") == BOTH
    assert judge_pair("a", "not a") == REPLACES


def test_without_a_judge_nothing_is_said() -> None:
    use_judge("", None)
    assert judge_pair("a", "b") is None
    assert judge_name() == ""


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The user's favorite marketing is Elif", "The user's favorite planning is Farid"),
        ("Die Tür oben ist offen.", "Die Tür unten ist zu."),
    ],
)
def test_two_texts_of_one_frame_that_differ_in_two_places_are_of_two_things(older: str, newer: str) -> None:
    assert not may_replace_alone(older, newer)
    assert not may_join_alone(older, newer)


def test_a_value_that_is_changed_in_one_place_or_in_other_words_may_be_replaced() -> None:
    assert may_replace_alone("Ana works for a bank in Lisbon.", "Ana earns her living at a school in Porto.")


def test_the_judge_alone_acts_on_nothing_that_may_be_another_matter() -> None:
    texts = ("Ines has her eyes checked at Bauer's.", "The optician who looks after Ines is called Salim.")
    assert weighed(NOTHING, PairAnswer(0.988, 0.002, 0.008, 0.002), texts=texts).is_decisive
    assert not weighed(NOTHING, PairAnswer(0.988, 0.002, 0.006, 0.004), texts=texts).is_decisive
    assert weighed(NOTHING, PairAnswer(0.002, 0.988, 0.008, 0.002), texts=texts).restates
    assert not weighed(NOTHING, PairAnswer(0.002, 0.988, 0.006, 0.004), texts=texts).restates

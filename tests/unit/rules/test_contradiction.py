"""What counts as a contradiction between two texts, and what does not."""

import pytest
from hypothesis import strategies as st

from apps.rules.domain.contradiction.judgement import find_evidence
from apps.rules.domain.contradiction.lexicon import are_exclusive, are_opposites, key_of
from apps.rules.domain.contradiction.text import TokenKind, analyse
from apps.rules.domain.engine.detection import restated_share
from tests.timing import assert_quick

NOTICED, DECISIVE = 0.5, 0.85

CONTRADICTIONS = [
    ("The show starts at 8 pm", "The show starts at 9 pm"),
    ("I smoke", "I don't smoke"),
    ("There is no dog chasing a ball", "A dog is chasing a ball"),
    ("Nobody is holding a hedgehog", "Someone is holding a hedgehog"),
    ("I no longer work at Google", "I work at Google"),
    ("I can’t eat gluten", "I can eat gluten"),
    ("I have 17 postcards", "I have 25 postcards"),
    ("The meeting is on Monday", "The meeting moved to Tuesday"),
    ("My birthday is May 3", "My birthday is 4 May"),
    ("The user is thirty years old", "The user is 31 years old"),
    ("I love cilantro", "I hate cilantro"),
    ("User prefers dark mode", "User prefers light mode"),
    ("My favourite colour is blue", "My favorite color is green"),
    ("I am a vegetarian", "I am a vegan"),
    ("I live in Berlin", "I live in Munich"),
    ("My wife works at Google", "My wife works at Apple"),
    ("The user lives in Paris", "The user moved to London"),
    ("My boss is Ana", "My boss is Ben"),
    ("I drink coffee every morning", "I don't drink coffee anymore"),
    ("I have 17 postcards in my collection", "I now have 25 postcards in my collection"),
    ("The price of the ticket is 20 euros", "The price of the ticket is 25 euros"),
    ("She adores opera", "She loathes opera"),
    ("Olga loves sailing", "Olga hates sailing"),
    ("The gate is open", "The gate is shut"),
    ("The heating is on", "The heating is off"),
    ("Prefers hot lunches", "Prefers cold lunches"),
    ("The worker listens on port 4000", "The worker listens on port 5000"),
    ("The clinic is on floor 3", "The clinic is on floor 4"),
    ("The bakery opens at 7 am", "The bakery opens at 8 am"),
    ("The oven is set to 180 degrees", "The oven is set to 200 degrees"),
    ("Ines's parrot is called Kit", "Ines's parrot is called Pip"),
    ("The guest password is fern31", "The guest password is oak77"),
    ("My work address is 4 Mill Lane", "My work address is 71 Dock Road"),
    ("I live in Portugal", "I live in Norway"),
    ("He quit drinking", "He drinks every evening"),
    ("Olga takes her coffee without milk", "Olga takes her coffee with milk"),
]
NO_CONTRADICTIONS = [
    ("I like tea", "I like coffee"),
    ("I visited Paris", "I visited Rome"),
    ("My sister lives in Berlin", "My brother lives in Munich"),
    ("Ben's birthday is May 3", "Anna's birthday is May 4"),
    ("Item 17 costs 5 euros", "Item 18 costs 6 euros"),
    ("I ate 3 apples on Monday", "I ate 4 apples on Tuesday"),
    ("My brother smokes", "I don't smoke"),
    ("A woman is slicing butter", "There is no woman slicing tofu"),
    ("A girl is playing a guitar", "A boy is playing a guitar"),
    ("I don't like tea", "I don't like coffee"),
    ("I've never been to Paris", "I want to visit Paris"),
    ("I have 1,000 stamps", "I have 1000 stamps"),
    ("The call is at 3 PM", "The call is at 3 p.m."),
    ("I have 3 cats", "I have 2 dogs"),
    ("I love painting", "I hate sailing"),
    ("I went to the gym on Monday", "I did not go to the gym on Friday"),
    ("She doesn't smoke", "I smoke"),
    ("She lives in Berlin", "I live in Munich"),
    ("My boss visited Oslo", "My boss visited Rome"),
    ("I live with Ana", "I live in Kyoto"),
    ("I visited my aunt on May 3", "I visited my aunt on June 9"),
    ("I went to the lake three years ago", "I went to the lake two days ago"),
    ("Caroline: I smoke", "Melanie: I don't smoke"),
    ("Caroline: I have 3 children", "Melanie: I have 2 children"),
    ("Guest 3 sleeps in Oslo", "Guest 8 sleeps in Oslo"),
    ("Person 3 sleeps in Oslo", "Person 8 sleeps in Oslo"),
    ("Bus 3 stops at 7 am", "Bus 8 stops at 7 am"),
    ("Clerk 3 works in office 2", "Clerk 8 works in office 2"),
    ("I spoke with guest 3", "I spoke with guest 8"),
    ("Some cooks love garlic", "Some cooks hate garlic"),
    ("Ana is my sister", "Olga is my sister"),
]
# A "not" beside what is said, and one that says nothing.
NOT_DENIED = [
    ("Olga sang a lullaby when nobody listened", "Olga sang a lullaby after lunch"),
    ("Olga sang a lullaby when nobody listened", "Olga sang a lullaby"),
    ("My uncle sold his boat without asking anyone", "My uncle sold his boat in March"),
    ("Olga drinks coffee without milk", "Olga drinks coffee"),
    ("Olga drinks coffee and doesn't drink tea", "Olga drinks coffee"),
    ("The man who is not wearing a coat is singing", "The man is singing"),
    ("If it doesn't snow, we ski in the park", "We ski in the park"),
    ("It's never too late to study Danish", "I study Danish"),
    ("You never know what the harbour in Riga hides", "The harbour in Riga hides boats"),
    ("Why not bake a plum cake", "Bake a plum cake"),
    ("Hugo not only paints but also sculpts", "Hugo paints and sculpts"),
    ("Never mind, the keys are in the drawer", "The keys are in the drawer"),
    ("We can't wait to see the harbour in Riga", "We saw the harbour in Riga"),
    ("I have no doubt that Hugo paints boats", "Hugo paints boats"),
]
NOTICED_ONLY = [
    ("I live in Porto", "I live in Portugal"),
    ("I live in Portugal", "I live in Europe"),
    ("Elif is allergic to celery", "Elif has no allergies"),
    ("The kiosk doesn't sell coffee or tea", "The kiosk sells tea"),
    ("The choir sings when somebody listens", "The choir sings when nobody listens"),
]
# What may be a conflict, and may as well be two things that are both true.
NOT_TO_BE_ACTED_ON = [
    ("The ferry stops at pier 3", "The ferry stops at pier 4"),
    ("Greta is the head of Zeiss", "Hugo is the head of Zeiss"),
    ("We use Redis as our cache", "We use Memcached as our cache"),
    ("It is called Kit", "It is called Pip"),
    ("My parrots are called Kit", "My parrots are called Pip"),
    ("I have a small dog", "I have a big dog"),
    ("I have a 5 year old son", "I have a 7 year old son"),
    ("I have a dentist appointment on May 3", "I have a dentist appointment on June 9"),
    ("I like dessert wine from Hungary", "I don't like very sweet dessert wine from Hungary"),
    ("Lena drinks coffee before noon", "Lena doesn't drink coffee after noon"),
    ("I spent $4 on bread", "I spent $7 on bread"),
    ("The user prefers tea", "The user prefers coffee"),
    ("I have never been to Riga in winter", "I can't wait to visit Riga in winter"),
]


@pytest.mark.parametrize(("older", "newer"), CONTRADICTIONS)
def test_it_contradicts_strongly_enough_to_act(older: str, newer: str) -> None:
    found = find_evidence(older, newer)
    assert found is not None
    assert found.score >= DECISIVE


@pytest.mark.parametrize(("one", "other"), NO_CONTRADICTIONS)
def test_it_is_not_noticed(one: str, other: str) -> None:
    found = find_evidence(one, other)
    assert found is None or found.score <= NOTICED


@pytest.mark.parametrize(("one", "other"), NOT_DENIED)
def test_a_not_denies_its_own_words_only(one: str, other: str) -> None:
    assert find_evidence(one, other) is None


@pytest.mark.parametrize(("one", "other"), NOTICED_ONLY)
def test_it_is_noticed_and_left_to_a_person(one: str, other: str) -> None:
    found = find_evidence(one, other)
    assert found is not None
    assert NOTICED < found.score < DECISIVE


@pytest.mark.parametrize(("one", "other"), NOT_TO_BE_ACTED_ON)
def test_it_is_not_strong_enough_to_act(one: str, other: str) -> None:
    found = find_evidence(one, other)
    assert found is None or found.score < DECISIVE


def test_one_speaker_may_contradict_what_she_said_before() -> None:
    found = find_evidence("Caroline: I smoke", "Caroline: I don't smoke")
    assert found is not None
    assert found.score >= DECISIVE


def test_what_kind_of_note_it_is_says_nothing_of_its_speaker() -> None:
    assert analyse("Update: I smoke").speakers == frozenset()
    assert analyse("Caroline: I smoke\nMel: Really?").speakers == {"caroline", "mel"}


def test_never_of_one_person_contradicts_no_other_one() -> None:
    assert find_evidence("She never went to the cooking class in Basel", "I went to the cooking class in Basel") is None
    found = find_evidence("My brother never smokes at parties", "I smoke at parties")
    assert found is None or found.score < DECISIVE


def test_same_with_word_of_change_is_no_change() -> None:
    assert find_evidence("I drink green tea with honey", "I currently drink green tea with honey") is None


def test_one_statement_of_long_memory_is_not_enough_to_act() -> None:
    rest = " ".join(f"The walk through quarter {number} was long and pleasant." for number in range(40))
    short = find_evidence("I paint. I smoke cigars every evening.", "I paint. I don't smoke cigars every evening.")
    long = find_evidence(f"{rest} I smoke cigars every evening.", f"{rest} I don't smoke cigars every evening.")
    assert short is not None
    assert short.score >= DECISIVE
    assert long is not None
    assert NOTICED < long.score < DECISIVE


WORDS = """I she never not no the cat Ana lives in Berlin Munich 17 25 $5 3:15 April 5 monday hates loves tea moved to
    now have cats . , but boss is my want when without nobody port room 9 open closed called The at as Germany"""
TEXTS = st.lists(st.sampled_from(WORDS.split()), max_size=14).map(" ".join)


def test_wanting_to_do_what_was_never_done_is_not_strong_enough_to_act() -> None:
    never, wanted = "I've never used Alpine Linux on my servers", "I plan to use Alpine Linux on my servers"
    found = find_evidence(never, wanted)
    assert found is not None
    assert found.score < DECISIVE


def test_same_update_far_from_topic_is_not_noticed() -> None:
    older, newer = "We drove 17 miles through the forest today", "It took 25 miles of cable to wire the office"
    assert find_evidence(older, newer) is None


def test_values_that_both_sides_have_do_not_differ() -> None:
    one = "Our plan has a budget of $400 and a deadline on June 5 for the garden project"
    assert find_evidence(one, "The garden project: our plan with a deadline on June 5, a budget of $400") is None


def test_code_blocks_are_not_compared() -> None:
    one = "Here is my loop:\n```\nfor i in range(17): print(i, postcards, collection)\n```"
    assert find_evidence(one, one.replace("17", "25")) is None


def test_a_long_hostile_text_takes_no_time() -> None:
    texts = ["never " * 50_000, " " * 100_000 + "x", "I, " * 50_000, "```" * 30_000, "1," * 50_000, "a-" * 50_000]
    for text in texts:
        assert_quick(lambda each: find_evidence(each, f"{each}not 5"), text, 1)


# --- reading ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kind", "key", "unit"),
    [
        ("$1,200.50", TokenKind.NUMBER, "1200.5", "$"),
        ("250ms", TokenKind.NUMBER, "250", "ms"),
        ("95%", TokenKind.NUMBER, "95", "%"),
        ("5-2", TokenKind.NUMBER, "5-2", ""),
        ("5th", TokenKind.NUMBER, "5", ""),
        ("seventeen", TokenKind.NUMBER, "17", ""),
        ("April 5", TokenKind.DATE, "4-5", ""),
        ("5th of April", TokenKind.DATE, "4-5", ""),
        ("2024-04-05", TokenKind.DATE, "4-5", ""),
        ("4:30 PM", TokenKind.TIME, "16:30", ""),
        ("Fridays", TokenKind.WEEKDAY, "fri", ""),
    ],
)
def test_a_value_has_one_form(text: str, kind: TokenKind, key: str, unit: str) -> None:
    [(_, token)] = analyse(f"It says {text}").whole.values
    assert (token.kind, token.key, token.unit) == (kind, key, unit)


def test_clauses_end_where_another_statement_begins() -> None:
    clauses = analyse("I like tea, but she hates it. Why?").clauses
    assert [clause.words for clause in clauses] == ["i like tea", "but she hates it", "why"]


def test_words_of_one_meaning_have_one_key() -> None:
    assert key_of("slicing") == key_of("cuts")
    assert key_of("caught") == key_of("catches")
    assert key_of("tea") != key_of("coffee")


def test_opposites_are_listed_or_made_by_a_prefix() -> None:
    assert are_opposites(key_of("hated"), key_of("loving"))
    assert are_opposites(key_of("comfortable"), key_of("uncomfortable"))
    assert not are_opposites(key_of("tea"), key_of("coffee"))
    assert are_exclusive(key_of("red"), key_of("blue"))


# --- saying the same again ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ana owes Ben money", "Ben owes Ana money"),
        ("The truck goes up the hill", "The truck goes down the hill"),
        ("I paid 5 dollars", "I paid 6 dollars"),
        ("I like tea", "I do not like tea"),
        (
            "It's never too late to learn to juggle with burning torches",
            "It's late to learn to juggle with burning torches",
        ),
        ("A kid walks in dry sand", "A kid walks in wet sand"),
        ("Ana 👍 pizza", "Ana 👎 pizza"),
        ("The mood of the team: :)", "The mood of the team: :("),
        ("✓ tests of the parser", "✗ tests of the parser"),
        ("The inn has ★★★★☆", "The inn has ★☆☆☆☆"),
        ("The formula is a+b", "The formula is a-b"),
    ],
)
def test_it_does_not_say_the_same(one: str, other: str) -> None:
    assert restated_share(one, other) == 0.0


def test_a_detail_more_says_nearly_the_same() -> None:
    assert restated_share("I like green tea with honey", "I like green tea with sweet honey") == 0.8
    assert restated_share("The ladies are slicing bread", "The women cut the bread") == 1.0
    for decorated in ("I like green tea 😊", "I like green tea ☕", "> I like green tea", "✅ I like green tea"):
        assert restated_share("I like green tea", decorated) == 1.0
    assert restated_share("Ana likes green tea 👍🏽", "Ana likes green tea 👍") == 1.0

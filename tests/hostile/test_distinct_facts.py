"""A thousand facts that are alike and all true at once: none of them may cost another its place."""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations, product

import numpy as np
import numpy.typing as npt
import pytest

from apps.llm.domain.pair_answer import PairAnswer
from apps.llm.services import get_pair_judge
from apps.rules.domain.contradiction.text import analyse
from apps.rules.domain.engine.detection import detect
from apps.rules.domain.engine.pair_judge import judge_pairs, use_judge
from apps.rules.domain.engine.record import MemoryRecord
from apps.rules.domain.engine.signals import Detection, DetectionConfig
from apps.rules.pair_judge import use_pair_judge
from tests.unit.rules.records import record

CONFIG = DetectionConfig()
# How alike the vectors of two facts may be: short texts of one pattern are often above 0.9.
COSINES = (None, 0.6, 1.0)
# The judge of pairs notices half of them that the words do not: 9.6% in November 2026.
MAX_NOTICED = 0.1
# "I own running shoes", "I need to buy running shoes": the judge takes 9 of 14,000 pairs for the same.
MAX_JOINED = 0.001


def words(text: str) -> list[str]:
    return text.split()


def phrases(text: str) -> list[str]:
    return text.split(",")


NAMES = words(
    "Ana Ben Carla Dmitri Elif Farid Greta Hugo Ines Jonas Kemal Lena Mira Nils Olga Pavel Rosa Samir Tom Uma"
)
CITIES = words("Oslo Rome Kyoto Lima Hull Quito Riga Porto Basel Graz")
COLOURS = words("blue green red yellow purple orange white black")
DAYS = words("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")
MONTHS = words("January February March April May June July August September October")
DRINKS = words("tea coffee milk cocoa lemonade cider")
INSTRUMENTS = phrases("the cello,chess,tennis,the flute,poker,football,the drums")
THINGS = phrases("a kettle,a lamp,a scarf,a rucksack,a tent,running shoes,a toaster")
SHOPPING = phrases("bread,a coffee,a train ticket,flowers,petrol")
RELATIVES = words("mother father brother sister uncle aunt cousin grandmother")
FIRMS = words("Siemens Bosch Nokia Lidl Ikea Volvo Zeiss Airbus")
HOBBIES = words("painting climbing gardening fencing sailing baking knitting juggling")
FOODS = phrases("peanuts,mushrooms,olives,tofu,shrimps,celery")
SUBJECTS = phrases("budget,design,hiring,safety,marketing,planning")
ROOMS = words("kitchen bedroom bathroom hallway cellar study")
DISHES = words("pancakes waffles omelettes dumplings muffins")
LANGUAGES = words("French Spanish Polish Turkish Greek Danish")


def numbered(pattern: str, count: int = 25) -> list[str]:
    """A pattern filled with counters: n goes up by one, k and date otherwise."""
    return [
        pattern.format(n=n + 3, k=n * 7 % 53 + 2, date=f"{n * 5 % 28 + 1} {MONTHS[n * 3 % 10]}", day=DAYS[n % 7])
        for n in range(count)
    ]


def filled(pattern: str, *lists: list[str]) -> list[str]:
    """A pattern filled with every combination."""
    return [pattern.format(*some) for some in product(*lists)]


def paired(pattern: str, *lists: list[str], count: int = 20) -> list[str]:
    """A pattern filled with the words side by side, each list from its beginning when it ends."""
    return [pattern.format(*(some[n % len(some)] for some in lists)) for n in range(count)]


KINDS: dict[str, list[str]] = {
    "favourites of many people": paired("{}'s favourite colour is {}", NAMES, COLOURS),
    "drinks of many people": filled("{} likes {}", NAMES[:5], DRINKS),
    "games of many people": filled("{} plays {}", NAMES[:5], INSTRUMENTS),
    "languages": filled("{} speaks {}", NAMES[5:9], LANGUAGES),
    "birthdays": paired("{}'s birthday is {} {}", NAMES, [str(n) for n in range(3, 26)], MONTHS),
    "homes": paired("{} lives in {}", NAMES, CITIES),
    "ages": paired("My {} {} is {} years old", RELATIVES, NAMES, [str(n) for n in range(31, 60)], count=16),
    "employers": paired("My {} works at {}", RELATIVES, FIRMS, count=8),
    "phone numbers": paired("My {}'s phone number is 555-01{}", RELATIVES, [str(n) for n in range(10, 30)], count=8),
    "rooms": numbered("Room {n} seats {k} people"),
    "chapters": numbered("Chapter {n} of my thesis has {k} pages"),
    "parcels": [f"The parcel 44{n:02} arrived on {n % 28 + 1} May" for n in range(25)],
    "orders": numbered("Order {n} costs {k} euros"),
    "visits": numbered("I visited my grandmother on {date}"),
    "trips": paired("We visited {} in {}", CITIES, MONTHS),
    "trips again": filled("We visited {} in {}", CITIES[:3], ["2017", "2019", "2022"]),
    "purchases": paired("I bought {} for ${} on {} {}", THINGS, ["12", "19", "35"], ["3", "9", "21"], MONTHS),
    "the same purchase again": paired("I bought {} for ${} on {}", SHOPPING[1:2], ["3", "4", "5", "6"], DAYS, count=12),
    "small purchases": filled("I spent ${1} on {0}", SHOPPING, ["4", "7", "11"]),
    "bills": paired("I paid {1} euros for the gas bill in {0}", MONTHS, ["40", "45", "52"], count=10),
    "runs": paired("On {} she ran {} km", DAYS, ["5", "8", "10", "12"], count=7),
    "my runs": numbered("On {date} I ran {k} km"),
    "weights": numbered("On {date} I weighed {k} kg"),
    "nights": paired("I slept {1} hours on {0}", DAYS, ["6", "7", "8"], count=7),
    "hobbies": filled("I go {} on {}s", HOBBIES[:5], DAYS[:5]),
    "likes": [f"I like {food}" for food in FOODS] + [f"I don't like {thing}" for thing in SHOPPING],
    "hobbies liked and not": [
        *(f"I love {hobby}" for hobby in HOBBIES[:4]),
        *(f"I hate {hobby}" for hobby in HOBBIES[4:]),
    ],
    "diets": [f"{a} doesn't eat {f}" for a, f in zip(NAMES, FOODS * 2, strict=False)]
    + [f"{a} eats {f}" for a, f in zip(NAMES[1:], FOODS * 2, strict=False)],
    "allergies": [f"I am allergic to {food}" for food in FOODS],
    "never been": [f"I have never been to {city}" for city in CITIES[:5]]
    + [f"I have been to {city}" for city in CITIES[5:]],
    "meetings": paired("The {} meeting is on {} at {} pm", SUBJECTS, DAYS, ["2", "3", "4", "5"], count=6),
    "lessons": paired("On {}s Lena has {} at {} pm", DAYS, ["piano", "swimming", "judo"], ["4", "5", "6"], count=7),
    "appointments": paired(
        "I have a {} appointment on {} {}", ["dentist", "haircut", "eye", "bank"], ["3", "9", "12"], MONTHS, count=12
    ),
    "pets": ["I have 3 cats", "I have 2 dogs", "I have 4 bicycles", "I have 17 postcards", "I have 6 plants"],
    "names of pets": [
        "Tom's dog is called Rex", "Tom's cat is called Mia", "Ana's dog is called Bo", "Ana's horse is called Star",
        "My first cat was called Kit", "My second cat was called Pip",
    ],
    "walls": paired("The {} is painted {}", ROOMS, COLOURS, count=6),
    "recipes": paired("My recipe for {} needs {} eggs", DISHES, ["2", "3", "4"], count=5),
    "meals": paired("For {} I had {} eggs", ["breakfast", "lunch", "dinner"], ["one", "two", "three"], count=3),
    "matches": paired("Lena scored {1} goals against {0}", CITIES, ["1", "2", "3"], count=10),
    "distances": paired("{} is {} km from {}", CITIES, ["120", "240", "380"], CITIES[3:], count=10),
    "flights": paired("My flight to {} on {} {} costs {} euros", CITIES, ["3", "9"], MONTHS, ["99", "120"], count=10),
    "trains": paired("The train to {} leaves at {}:15", CITIES, ["7", "8", "9", "10", "11"], count=10),
    "more trains": paired("The train to Graz leaves at {}:15", ["7", "8", "9", "10", "11"], count=5),
    "doses": paired("{} takes {} mg of {}", NAMES, ["10", "20", "50"], ["ibuprofen", "zinc", "iron"], count=12),
    "books": numbered("I finished book {n} of the series on {date}", 15),
    "levels": numbered("The answer to question {n} is {k}"),
    "years": paired("In {} I moved to {}", ["2011", "2014", "2017", "2019", "2023"], CITIES, count=5),
    "jobs over time": paired("From {} I worked at {}", ["2011", "2014", "2017", "2019"], FIRMS, count=4),
    "lists": filled("{} wants {} for {}", NAMES[:3], THINGS[:4], ["Christmas"]),
    "speeds": paired("Test {} took {} seconds on my laptop", ["A", "B", "C", "D"], ["12", "15", "19"], count=4),
    "gifts": paired("I gave {} {} in {}", NAMES, THINGS, MONTHS),
    "opinions": paired("{} thinks the {} is too {}", NAMES, ROOMS, ["hot", "cold", "small", "big"], count=12),
    "sizes": paired("The {} is {} and has {} windows", ROOMS, ["large", "small"], ["one", "two", "three"], count=6),
    "moods": paired("On {} I felt {}", DAYS, ["happy", "sad", "tired"], count=7),
    "counts of visits": paired("Lena has visited {} museums in {}", ["3", "5", "8"], CITIES, count=10),
    "grades": paired("{} got {} points in {}", NAMES, ["71", "82", "93"], ["maths", "art", "music"], count=12),
    "grades of one": paired("I got {} points in the {} exam", words("71 82 93"), words("maths art law"), count=3),
    "servers": paired("Server {} has {} GB of memory", ["a1", "a2", "b1", "b2"], ["16", "32", "64"], count=4),
    "ports": paired("The {} service listens on port {}", SUBJECTS, ["8001", "8002", "8003"], count=6),
    "temperatures": paired("It was {1} degrees in {0} on {2}", CITIES, ["12", "19", "25"], DAYS, count=10),
    "favourites of one": [
        f"My favourite {kind} is {what}"
        for kind, what in zip(
            words("colour food book film city season drink song animal fruit sport game author band shop"),
            words("blue sushi Dune Alien Porto autumn tea Yesterday otters mangos rowing chess Lem Abba Ikea"),
            strict=True,
        )
    ],
    "favourites of a user": [
        f"The user's favorite {kind} is {what}"
        for kind, what in zip(SUBJECTS + ROOMS + DISHES, NAMES, strict=False)
    ],
    "numbered facts": numbered("Fact number {n}: the user likes item {k}"),
    "numbered notes": numbered("Note {n} of the user says {k}"),
    "boxes": numbered("Item {n} is stored in box {k}"),
    "customers": numbered("Customer {n} ordered {k} chairs on {date}"),
    "things owned": [f"I own {thing}" for thing in THINGS],
    "named pets": [
        "I have a dog named Rex", "I have a cat named Mia", "I have a parrot named Kit", "I have a dog named Bo",
    ],
    "friends": paired("My friend {} lives in {}", NAMES, CITIES),
    "colleagues": paired("My colleague {} works at {}", NAMES, FIRMS),
    "colleagues' roles": paired("{} is the {} manager", NAMES, SUBJECTS, count=6),
    "capitals": [
        "The capital of Peru is Lima", "The capital of Norway is Oslo", "The capital of Latvia is Riga",
        "The capital of Italy is Rome",
    ],
    "deadlines": paired("The deadline for the {} project is {} {}", SUBJECTS, ["3", "9", "12"], MONTHS, count=6),
    "deadlines by letter": paired("Project {} is due on {} {}", words("B C D E F"), words("3 9 12"), MONTHS, count=5),
    "codes": paired("The code of my {} is {}", words("locker bike garage safe"), words("4411 9921 3207"), count=4),
    "spending": [f"On 2024-0{m}-1{m} I spent {m * 7} euros on groceries" for m in range(1, 10)],
    "acquaintances": numbered("The user met person {n} on {date}"),
    "errands": [f"I need to buy {thing}" for thing in [*THINGS, *FOODS]],
    "ratings": paired("I watched {} and rated it {}/10", words("Alien Vertigo Heat Amelie"), words("7 8 9"), count=4),
    "beside which nobody is": filled(
        "{} {} the old piano {}", ["My aunt", "The clerk", "Olga"], ["tuned", "sold"],
        phrases("when nobody listened,without asking anyone,after lunch,because nothing else worked,last spring"),
    ),
    "one thing after another": filled(
        "Hugo painted {} {}", ["a boat", "a fence"],
        phrases("without a brush,with great patience,while it did not rain,before noon,although he had never tried"),
    ),
    "numbered people": [f"Person {n} lives in {CITIES[n % 2]}" for n in range(12)],
    "numbered flights": [f"Flight {n + 20} departs at {n % 4 + 5} pm" for n in range(12)],
    "numbered clerks": [f"Clerk {n} works in office {n % 4}" for n in range(12)],
    "numbered steps": [f"Step {n} takes {n % 4 + 2} minutes" for n in range(12)],
    "talks with the numbered": [f"I talked with customer {n}" for n in range(12)],
    "meetings in numbered rooms": [f"I had a meeting in room {n}" for n in range(8)],
    "opening hours": paired("The {} opens at {} am", words("bakery library museum pool zoo"), words("7 8 9"), count=5),
    "many names": paired("{}'s {} is called {}", NAMES, words("boat farm"), words("Rex Mia Kit Bo Pip"), count=20),
    "things that are open": paired("The {} is {}", words("gate shop pool bank"), words("open closed"), count=4),
    "things that are on": paired("The {} is {}", words("heating radio oven fan"), words("on off"), count=4),
    "settings": paired("The {} is set to {} degrees", words("oven fridge bath cellar"), words("180 5 37"), count=4),
    "loved and hated": [f"{NAMES[n % 3]} {words('loves hates')[n % 2]} {FOODS[n // 3]}" for n in range(18)],
    "who some are": [f"Some of my friends {verb} garlic" for verb in words("love hate")]
    + [f"{name} is my sister" for name in NAMES[:3]],
    "tools": paired("We use {} as the {}", words("Redis Celery Nginx"), words("cache queue proxy"), count=3),
    "said and not meant": [
        "It's never too late to visit Graz", "I visit Graz in winter", "Why not visit Graz in winter",
        "You never know what Graz is like in winter", "I can't wait to visit Graz in winter",
    ],
    "cooking times": paired("My {} take {} minutes", DISHES, ["20", "25", "40"], count=5),
    "platforms": numbered("Train {k} departs from platform {n}"),
    "readings": [f"My blood pressure on {day} was 12{n}/8{n}" for n, day in enumerate(DAYS)],
    "scores of games": [f"We won game {n} by {n * 3 % 7 + 1} points" for n in range(1, 10)],
    "reminders": paired("Remind me to call {} at {} pm on {}", NAMES, ["2", "3", "4"], DAYS),
    "plans": paired("On {} I will visit {}", DAYS, NAMES),
    "interests": [f"I am interested in {hobby}" for hobby in HOBBIES],
    "children": ["My daughter Mia is 7", "My son Leo is 9", "My daughter Ida is 4", "My nephew Max is 12"],
    "cars": ["My car is red", "My bike is blue", "My house is white", "My boat is green"],
    "commutes": paired("It takes {} {} minutes to get to work", NAMES, ["15", "25", "40", "55"], count=8),
    "who swims": [f"{a} goes swimming in the lake every summer" for a in NAMES[:6]]
    + [f"{a} does not go swimming in the lake every summer" for a in NAMES[6:12]],
    "when I trained": [f"I went to the gym on {day}" for day in DAYS[:4]]
    + [f"I did not go to the gym on {day}" for day in DAYS[4:]],
    "who smokes": [
        "I smoke at parties", "She doesn't smoke at parties", "My brother never smokes at parties",
        "My cousin Olga smokes at parties", "My aunt does not smoke at parties",
    ],
    "who eats what": [
        "My brother eats meat and fish and cheese", "My sister does not eat meat and fish and cheese",
        "The children eat meat and fish", "My neighbour Hugo doesn't eat meat and fish",
    ],
    "when and where": [
        "Lena drinks coffee before noon", "Lena doesn't drink coffee after noon",
        "I drink beer at home", "I don't drink beer at work", "I don't drink beer on Mondays",
        "I drink beer on Fridays",
    ],
    "narrower and wider": [
        "I enjoy swimming in the lake with friends", "I don't enjoy swimming in the ice-cold lake with friends",
        "Uma likes dessert wine from Hungary", "Uma does not like very sweet dessert wine from Hungary",
    ],
    "one and another of a kind": [
        "I have a small dog", "I have a big dog", "I have a red scarf", "I have a blue scarf", "I own a black bike",
        "I own a white bike", "I love hot tea", "I love cold tea", "I love my old bike", "I love my new bike",
        "I have a 5 year old son", "I have a 7 year old son", "I have a $5 coupon", "I have a $10 coupon",
        "I have a friend in the north", "I have a friend in the south", "I use Windows at work", "I use Linux at work",
    ],
    "parts of the day": [
        "I have lunch with Ana", "I have dinner with Ana", "I am free in the morning", "I am free in the afternoon",
        "I have breakfast with Ben", "I am at home in the evening",
    ],
    "what people around me do": [
        "My boss visited Oslo", "My boss visited Rome", "I met my boss in Oslo", "I met my boss in Rome",
        "My wife likes Bach", "My wife likes Mozart", "My girlfriend speaks French", "My girlfriend speaks Greek",
        "I work with Ana", "I work with Ben", "I live with Ana", "I live with Ben", "I have a meeting in Oslo",
        "I have a meeting in Rome", "My doctor recommended yoga", "My doctor recommended swimming",
        "My school has a pool", "My school has a library", "My sister is tall", "My brother is short",
        "My partner knows Rosa", "My partner knows Samir", "My dentist is in Basel", "My doctor is in Graz",
    ],
    "people without a name": [
        "She lives in Oslo", "He lives in Rome", "I live in Kyoto", "He is 31 years old", "She is 32 years old",
        "I am 33 years old", "She has 3 children", "He has 2 children", "I have no children",
    ],
    "speakers": [
        "Caroline: I have 3 children", "Melanie: I have 2 children", "Caroline: I have never been to Oslo in winter",
        "Melanie: I have been to Oslo in winter", "Caroline: I smoke", "Melanie: I don't smoke",
        "Caroline: I live in Rome", "Melanie: I live in Lima", "Caroline: My birthday is on 3 May",
        "Melanie: My birthday is on 9 June",
    ],
}  # fmt: skip


def facts() -> list[str]:
    return list(dict.fromkeys(fact for kind in KINDS.values() for fact in kind))


@cache
def near_pairs() -> list[tuple[str, str]]:
    """Pairs that have at least half of their words in common, those of one pattern among them."""
    said = {fact: analyse(fact).whole.content for fact in facts()}
    return [
        (one, other)
        for one, other in combinations(said, 2)
        if 2 * len(said[one] & said[other]) >= max(len(said[one]), len(said[other]), 1)
    ]


def detections(one: str, other: str) -> Iterator[Detection]:
    """What is detected between two facts, without vectors and with some of each likeness."""
    for cosine in COSINES:
        ours, theirs = (None, None) if cosine is None else (at(1.0), at(cosine))
        yield detect(record_of(one, ours), record_of(other, theirs), CONFIG)


def record_of(fact: str, embedding: npt.NDArray[np.float32] | None) -> MemoryRecord:
    return record(fact, embedding=embedding)


def at(cosine: float) -> npt.NDArray[np.float32]:
    return np.array([cosine, np.sqrt(1 - cosine * cosine)], dtype=np.float32)


@pytest.fixture(scope="module", autouse=True)
def remembered() -> Iterator[None]:
    """Have the judge of pairs read each pair once for all tests: it is what takes time here."""
    judge, known = get_pair_judge(), dict[tuple[str, str], PairAnswer]()

    def read(pairs: Sequence[tuple[str, str]]) -> list[PairAnswer]:
        new = [pair for pair in dict.fromkeys(pairs) if pair not in known]
        known.update(zip(new, judge.read(new) if new else (), strict=True))
        return [known[pair] for pair in pairs]

    use_judge(judge.name, read)
    yield
    use_pair_judge()


def test_there_are_a_thousand_facts() -> None:
    assert len(facts()) >= 1000


@pytest.mark.parametrize("kind", KINDS)
def test_no_fact_of_kind_is_acted_on_because_of_another(kind: str) -> None:
    pairs = combinations(dict.fromkeys(KINDS[kind]), 2)
    assert not [pair for pair in pairs if any(found.is_decisive for found in detections(*pair))]


@pytest.mark.deep
def test_no_fact_is_replaced_and_few_are_joined_because_of_near_one_of_any_kind() -> None:
    judge_pairs(near_pairs())
    embedded = at(1.0), at(0.9)
    found = [(pair, detect(*map(record_of, pair, embedded), CONFIG)) for pair in near_pairs()]
    acted = [(pair, detection) for pair, detection in found if detection.is_decisive]
    assert not [pair for pair, detection in acted if not detection.restates]
    assert len(acted) <= MAX_JOINED * len(found)


@pytest.mark.deep
def test_few_of_the_near_pairs_are_noticed() -> None:
    noticed = [pair for pair in near_pairs() if detect(record(pair[0]), record(pair[1]), CONFIG).is_conflict]
    assert len(noticed) <= MAX_NOTICED * len(near_pairs())

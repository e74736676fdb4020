"""Phrasings of one meaning, as data: openers, turns of phrase, words that add nothing beside a value, word families."""

import re

from apps.rules.domain.contradiction.lexicon import key_of, keys
from apps.rules.domain.contradiction.words import words

# A sentence may begin with some of these and a comma or colon: "just for the record:", "as I may have mentioned,".
_OPENING = words(
    """just for the record as i may might have already mentioned said told you quick friendly small little gentle
    reminder note fyi btw by way again to be clear confirm repeat recap in case did not didnt wasnt know so ok
    okay well also yes right anyway like before once more and but oh hey hi remember remind please that keep
    mind case of course obviously naturally sure indeed actually basically honestly frankly apparently look
    listen see short summary brief sum up fact info information update user context reference your my this is
    was it forgot ask asked anyone wonder wondering noted above earlier previously stated mention saying
    repeating myself precise exact exactly specifically one thing"""
)
_OPENER = re.compile(r"^([^,:;.–—]{1,60}?)(?:[,:;] +| [-–—]+ +)(?=\S+ \S)")
_NO_OPENERS = words(
    """note fact user update right context reference information myself before earlier previously once again above"""
)
_SPEAKING = r"i|we|user|the user|he|she|they"
_CHOOSES = r"(?:(?:'d|would) )?(?:always |rather |usually )*(?:picks?|chooses?|prefers?|takes?|goes? for|opts? for)"


_ABOUT = "when it comes to|as for|as far as|regarding|concerning|with regard to|speaking of"


def turn(pattern: str) -> re.Pattern[str]:
    """Return the pattern of a turn of phrase."""
    return re.compile(pattern, re.IGNORECASE)


# What is written in one way before words are compared, each after words of which one must be there. Order matters.
_TURNS = (
    (
        "where",
        rf"^(.+?) is (?:the (?:place|city|town|country|village) )?where ((?:{_SPEAKING})\b.+?)(?: (?:in|at))?$",
        r"\2 in \1",
    ),
    ("what", rf"^(.+?) is what ((?:{_SPEAKING})\b.+)$", r"\2 \1"),
    ("it", rf"^it(?:'s| is| was) (.+?) (?:that |which |who )?((?:{_SPEAKING})\b.*)$", r"\2 \1"),
    ("what", r"\bwhat (i|we|they|you|he|she|user|the user) (?:do|does) is\b", r"\1"),
    (_ABOUT, rf"^(?:{_ABOUT}) ([^,]+?)(?: goes| is concerned)?, (.*?)\b(?:it|them|those)\b", r"\2\1"),
    (_ABOUT, rf"^(?:{_ABOUT}) ([^,]+?)(?: goes| is concerned)?, ", r"\1 "),
    (
        "between|of",
        rf"^(?:between|of|out of) (.+?) (?:and|or) (.+?),? (\S+) ?{_CHOOSES} (?:the )?\1$",
        r"\3 prefers \1 to \2",
    ),
    (
        "between|of",
        rf"^(?:between|of|out of) (.+?) (?:and|or) (.+?),? (\S+) ?{_CHOOSES} (?:the )?\2$",
        r"\3 prefers \2 to \1",
    ),
    (
        "rather",
        r"(?:'d| would) (?:much )?rather (?:have |drink |eat |sit |be |use |go |take |travel |live |work )?"
        r"(?:(?:by|on|in|at|with) )?(.+?) than (?:(?:on|in|at|by|with) )?",
        r" prefers \1 to ",
    ),
    ("than", r"\b(?:likes?|loves?|enjoys?) (.+?) (?:more|better) than\b", r"prefers \1 to"),
    ("prefer", r"\bprefers? (.+?) (?:over|rather than|instead of)\b", r"prefers \1 to"),
    ("belong", r"^(.+?) belongs? to (.+)$", r"\2 owns \1"),
    ("owner", r"\b(?:is|are|am) the (?:proud )?owners? of\b", "owns"),
    ("'s", r"^(.+?) (?:is|are) ((?:my |our )?\w+)'s$", r"\2 owns \1"),
    (
        "reaction",
        r"^(.+?) (?:gives?|causes?) (.+?) (?:an? )?((?:\w+ )?)allergic reactions?$",
        r"\2 is \3allergic to \1",
    ),
    (
        "allergy|intolerance",
        r"\b(?:has|have|suffers? from) an? ((?:\w+ )?)(\w+) (?:allergy|intolerance)$",
        r"is \1allergic to \2",
    ),
    ("there", r"^there (?:is|are) (.+?) (?:in|on|at|per) (.+)$", r"\2 has \1"),
    ("sel", r"\b(?:teach|teaches|teaching|taught) (?:myself|himself|herself|themselves|themself)\b", "learning alone"),
    ("own|sel", r"\b(?:on (?:my|his|her|their) own|(?:all )?by (?:myself|himself|herself|themselves))\b", "alone"),
    ("place", r"\b(?:takes?|took|taking) place\b", "happens"),
    ("as", r"\b(?:works? as|(?:am|is|are) employed as|earns? (?:my|his|her|their) living as)\b", "is"),
    ("job|profession|occupation", r"\b(?:job|profession|occupation) is (?:that of )?(?=an?\b)", "is"),
    ("childhood", r"\bmy childhood was spent\b", "I grew up"),
    ("childhood", r"\b(his|her|their|user's|\w+'s) childhood was spent\b", r"\1 grew up"),
    ("childhood", r"\b(?:spent|passed) (?:my|his|her|their) childhood\b", "grew up"),
    ("raised", r"\bwas raised (?=in|on|by|near)\b", "grew up "),
    ("outside", r"\b(?:just |right )?outside (?=[A-Z])", "near "),
    ("learn", r"\b(learn\w* .+?) from\b", r"\1 with"),
    (
        "to",
        r"\b(?:was|were|is|has been|got) (?:moved|rescheduled|pushed|postponed|shifted|changed|delayed)"
        r"(?: up| back| forward)? to"
        r" (?=\w+days?\b|\d|noon)",
        "is on ",
    ),
    (
        "couple|wife|wed|married",
        r"\b(?:is|are) (?:(?:a )?(?:married|wedded) couple|husband and wife|wed|married to each other)\b",
        "is married",
    ),
    ("report", r"^(\w+) reports? to (.+?)(?:, (?:my|his|her|their) \w+)?$", r"\2 is \1 boss"),
    (
        "has|have",
        r"\b(?:has|have) (?:a (?:staff|workforce|headcount|team) of )?(\d+)"
        r" (?:employees|staff|workers|people on staff)\b",
        r"employs \1 people",
    ),
    ("workforce", r"\bworkforce (?:is|of) (\d+)(?: people)?", r"employs \1 people"),
    (
        "fan|lover|fond|keen|into",
        r"\b(?:is|are|am) (?:a (?:big |great |huge )?(?:fan|lover) of|fond of|keen on|(?:really )?into)\b",
        "likes",
    ),
    ("stand", r"\bcan(?:'t|not) stand\b", "hates"),
    ("fluent", r"\b(?:is|am|are) fluent in\b", "speaks fluently"),
    ("fluently", r"\bspeaks? (?!fluently)(\w+) fluently\b", r"speaks fluently \1"),
    ("has|have", r"\b(?:has|have) a (weight|height|length|width|age) of\b", r"\1 is"),
    (
        "called|named|whose",
        r"^(.+?) (?:has|have) an? ((?:\w+ )?\w+) (?:called|named|whose name is) (.+)$",
        r"\1 \2 is called \3",
    ),
    ("big|elder", r"\b(?:big|elder) (?=(?:sister|brother|sibling)s?\b)", "older "),
    ("little|kid|baby", r"\b(?:little|kid|baby) (?=(?:sister|brother|sibling)s?\b)", "younger "),
    ("e-mail|e mail", r"\b(?:e-mail|e mail)\b", "email"),
    ("manager|supervisor", r"\b(?:line manager|manager|supervisor)\b", "boss"),
    ("consist|comprise|made up|composed", r"\b(?:consists? of|comprises?|(?:is|are) (?:made up|composed) of)", "is"),
    ("suffer", r"\bsuffers? from\b", "has"),
    ("second", r"\bsecond-?hand\b", "used"),
    ("pull request", r"\bpull requests?\b", "pr"),
    ("last name|family name", r"\b(?:last|family) name\b", "surname"),
    ("got", r"(?:'ve|'s| have| has) got\b", " have"),
    (", ", r", (?:and )?not (\w+)$", r" unlike \1"),
    ("than|instead", r"\b(?:rather than|instead of)\b", "unlike"),
    ("from", r"\b(?:comes?|originates?|hails?) from\b", "is from"),
    ("hometown", r"\bmy hometown is\b", "I am from"),
    ("hometown", r"^(.+?)'s hometown is\b", r"\1 is from"),
    ("call", r"\bcalls? for\b", "requires"),
    (
        "out|in|up|off|down",
        r"\b(time|log|sign|set|back|roll|kick|check|work|shut|clean)(?:s|ed|ing)?[ -](out|in|up|off|down)\b",
        r"\1\2",
    ),
    ("new york|nyc", r"\bnew york city\b|\bnyc\b", "new york"),
    ("apt", r"\bapts?\b\.?", "apartment"),
    (
        "able",
        r"(?:\b(?:isn't|is not|aren't|are not|am not)|'m not) able to\b|(?:\b(?:is|are|am)|'m) unable to\b",
        " can't",
    ),
    ("able", r"\b(?:is|are|am) able to\b", "can"),
    ("cannot|can not", r"\bcannot\b|\bcan not\b", "can't"),
    (" not", r"\bdo(?:es)? not\b", "don't"),
)
TURNS = tuple((tuple(hints.split("|")), turn(pattern), written) for hints, pattern, written in _TURNS)
# Words of one meaning in restatements only: these groups would be too wide elsewhere.
_FAMILIES = """
    weigh weight; depend dependency dependencies dependent rely; allergic allergy allergies; prefer preference
    favourite favorite; expire expiry expiration; born birthday birth birthdate; marry married marriage wed; like
    love enjoy adore fond; live reside residence home; ill sick unwell; severe serious bad strong; retire
    retirement; vaccinate vaccination; subscribe subscription; graduate graduation; pregnant expecting pregnancy;
    renew renewal; deliver delivery; depart departure leave; arrive arrival; reserve reservation book booking; own
    possess; begin start commence; end finish conclude; due deadline; practise practice; mathematics maths math;
    lawyer attorney solicitor; vet veterinarian; store save keep; use utilise utilize; help assist; need require
    requirement; send dispatch; learn study; often frequently; physician dr doctor gp; near close nearby; host run;
    locate situate base headquarters headquartered; afraid scared fear frightened; exam examination; fridge
    refrigerator; lorry truck; mobile cellphone; pc computer; repo repository; db database; kubernetes k8s; postgres
    postgresql; config configuration; prod production; env environment; doc docs documentation; app application;
    admin administrator; info information; max maximum; min minimum; uni university; client customer; staff employee
    personnel; fee charge; rent rental; annual yearly; flat apartment; underground subway metro; rubbish trash;
    colleague coworker; partner spouse; infant baby; kindergarten preschool nursery; tall height high; wide width;
    deep depth; long length; select pick choose; vegetarian veggie; certificate certification certify; approve
    approval; merge merges merged; deploy deployment; backup backups; monitor monitoring; respond response; install
    installation; swim swimming; grandchild grandchildren grandkid grandkids; asthma asthmatic; diabetes diabetic;
    epilepsy epileptic; firefighter fireman; glasses spectacles; trousers pants; sneakers trainers; basement cellar;
    elevator lift; petrol gasoline; pharmacy drugstore; plane aeroplane airplane; parcel package; folder directory;
    login authentication auth; cost price; salary wage wages; supper dinner; cinema; policeman cop; garage; postcode
    zip; error failure; lunch luncheon; teach teaching; cook cooking; run running; attend attendance; permit allow;
    photo picture; nearest closest
"""


def build_families() -> dict[str, str]:
    """Return the chief key of its family for each key."""
    found: dict[str, str] = {}
    for group in _FAMILIES.split(";"):
        known = [key_of(word) for word in group.split()]
        chief = next((found[word] for word in known if word in found), known[0])
        found.update({word: chief for word in known if word not in found})
    return found


FAMILIES = build_families()


def family_of(key: str) -> str:
    """Return the chief key of the family of a key, the key itself where it has none."""
    return FAMILIES.get(key, key)


def _groups(text: str) -> tuple[frozenset[str], ...]:
    """Return groups of words as the chief keys of their families."""
    return tuple(frozenset(map(family_of, keys(group))) for group in text.split(";"))


# Words that add nothing where a value of a kind is said: "lasts 90 minutes", "takes 90 minutes".
LIGHT_BESIDE = {
    "s": _groups("last take run duration length long go; need require take; time"),
    "months": _groups("last take run duration long; time; age aged"),
    "g": _groups("weigh weight heavy mass"),
    "mg": _groups("dose"),
    "m": _groups("tall height high measure; long length measure; distance away; size"),
    "l": _groups("hold capacity volume"),
    "mb": _groups("size hold capacity get limit have allocate"),
    "money": _groups("cost price charge come; amount; total sum; fee; worth value; pay"),
    "number": _groups("age aged turn; number; count; total; amount; people person; piece; time; size"),
    "when": _groups(
        "happen occur take hold schedule scheduled set appointment date time every day fall session planned;"
        "start begin; due; go goes attend"
    ),
    "name": _groups("call name title know mr mrs ms"),
    "identifier": _groups("address; url; number; call name"),
}
LIGHT_ALWAYS = keys(
    """own really actually whole entire very approximately about roughly exactly currently present user locate located
    situate situated simply just basically typical usual usually normal normally general generally
    regular regularly especially definitely certainly truly particular particularly presently"""
)


def without_opener(text: str) -> str:
    """Return a text without a part at its beginning that only opens it: "quick reminder,"."""
    for _ in range(3):
        found = _OPENER.match(text)
        if not found:
            break
        words = found[1].lower().replace("'", "").split()
        if len(words) == 1 and words[0] in _NO_OPENERS | {"i", "you", "we"} and text[found.end(1)] != ":":
            break
        if not all(word in _OPENING for word in words):
            break
        text = text[found.end() :]
    return text


def in_one_phrasing(text: str) -> str:
    """Return a text with its turns of phrase written in one way."""
    text = text.rstrip(" .!").replace("’", "'")
    lowered = text.lower()
    for hints, pattern, written in TURNS:
        # A loop: a generator for each of them would take longer than all else here.
        for hint in hints:
            if hint in lowered:
                text = pattern.sub(written, text)
                break
    return text

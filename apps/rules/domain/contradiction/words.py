"""Words by their role in a contradiction: negators, words around a statement, numbers, days."""

from apps.rules.domain.contradiction.lexicon import keys
from apps.rules.domain.wordlists import words

NEGATORS = words(
    """no not never none nobody nothing neither nor nowhere without cannot cant dont doesnt didnt isnt arent wasnt
    werent wont wouldnt shouldnt couldnt hasnt havent hadnt aint mustnt neednt
    stopped quit"""
)
NEVER = words("never")
# Their "not" denies nothing; patterns of regular expressions.
IDIOMS = (
    "never mind", "never too late", "you never know", "why not", "why don't", "not only", "not just", "not to mention",
    "can(?:'|no)t wait", "can(?:'|no)t help", "no doubt", "no wonder", "no problem", "no worries", "no matter",
    "nothing but", "or not", "if not", "believe it or not", "more often than not", "in no time",
)  # fmt: skip
# What a "not" before one of these denies ends there. What one after it denies begins there, and with "and", too: "no
# coffee and no tea".
ENDERS = words(
    "when whenever while because although though whereas unless until if where who whose which that but so without"
)
OPENERS = ENDERS | {"and"}
# A statement about one time or condition may not hold at another one.
OCCASIONS = words("when whenever while because unless until if where")
# How often a thing is done, or when in the day, adds nothing that is denied.
HABITS = keys("day daily week weekly month year morning evening night often usually always regularly sometimes")
# Words of a negated experience that do not say which experience it is.
FILLERS = keys(
    """actually really ever any before so far yet project either at all anything anyone previous previously
    personally formally properly fully still although kind kinda sort bit lot also already recently just
    currently now"""
)
# Words of the request around a statement rather than of the statement.
LIGHT = keys(
    """help want try know like need sure make think get go going use using thing way can could would wonder look
    ask tell give find start good new great some come take keep feel work able trouble understand recommend
    suggest show mention best share provide also thanks time today example step idea tip include consider
    worri kinda confus issue specific different effective improve ensure"""
)
# Those of them that are things with numbers: "person 5", "step 3".
NUMBERED = keys("person step example idea tip issue way thing time")
# Wanting something is no evidence that it was done.
INTENTIONS = keys(
    """want wants hope hopes plan plans planning intend wish wishes dream dreams consider considering would might
    maybe someday"""
) | {"can't wait", "cannot wait", "never too late", "why not", "why don't"}
# Words of a change: the same thing has another value.
UPDATE_CUES = keys(
    """now currently changed updated rescheduled moved extended increased raised reduced decreased lowered adjusted
    switched replaced postponed upgraded improved revised shifted became latest corrected actually instead
    anymore longer delayed pushed renamed"""
)
# Words of a running total or a state until now.
RUNNING = words("now far since already currently yet total until")
# Values of the speaker that are bettered rather than added to.
RECORDS = ("personal best", "highest score", "high score", "best time", "total", "count", "different", "so far")
# Words and verbs of a state rather than an event.
STATES = words("is are has have own owns weighs costs lives am im ive be been currently now")
STATE_VERBS = keys(
    """live reside move relocate born married marry engaged weigh weight height located based scheduled employed
    employer works prefer prefers cost price switched religion"""
)
# Statements that hold with one value at a time: "lives in", "favourite", "is due on".
SINGLE_VALUED = keys(
    """live reside move relocate born birthday birthdate marry married engaged name named called nickname favorite
    favourite age weigh weight height located location based scheduled schedule deadline due appointment cost price
    budget meeting address phone email password goal target job role boss manager position title salary rent capital
    record score total limit rate capacity version size employer employed works diet religion nationality language
    colour status landlord doctor dentist school university major hometown partner wife husband spouse girlfriend
    boyfriend fiance prefer prefers"""
)
# Notes about the user leave out who it is: "prefers tea", "lives in Rome".
OF_THE_USER = words("lives resides works prefers likes loves enjoys hates dislikes")
# They end a statement without a meaning of their own: "no longer", "not any more".
ENDINGS = words("longer anymore")
# Words without meaning of their own that turn the meaning of a sentence.
PARTICLES = words(
    """up down in into out on onto off before after above below over under to from with against for by behind near
    between through across about all both few more most"""
)
# Before a colon these say what follows rather than who says it.
NO_SPEAKERS = words(
    "note update updated reminder todo fact memory edit correction news info fyi ps p.s important summary key now also"
)
SPEAKER = words("i im ive id ill me my mine we our ours us user users")
PRONOUNS = {
    **dict.fromkeys(SPEAKER, "speaker"),
    **dict.fromkeys(("you", "your", "yours"), "you"),
    **dict.fromkeys(("he", "him", "his"), "he"),
    **dict.fromkeys(("she", "her", "hers"), "she"),
    **dict.fromkeys(("they", "them", "their", "theirs"), "they"),
}
PERSONS = words("i im ive id ill me my mine we our ours us user users his her their")

WEEKDAYS = {
    name: name[:3] for name in ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
} | {f"{name}s": name[:3] for name in ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")}
MONTHS = {
    name: number
    for number, names in enumerate(
        ("january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
         "september sep sept", "october oct", "november nov", "december dec"), 1)
    for name in names.split()
}  # fmt: skip

_UNITS = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty
"""
NUMBER_WORDS = {word: value for value, word in enumerate(_UNITS.split())} | {
    "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100,
    "thousand": 1000, "once": 1, "twice": 2, "dozen": 12,
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10,
}  # fmt: skip

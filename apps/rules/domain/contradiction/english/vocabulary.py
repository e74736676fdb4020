"""Words by their part in an update: what ends a state, what one may have several of, where a thing is."""

from apps.rules.domain.contradiction.lexicon import keys
from apps.rules.domain.contradiction.text import TokenKind
from apps.rules.domain.wordlists import words

WHEN = frozenset((TokenKind.DATE, TokenKind.TIME, TokenKind.WEEKDAY))
SEASONS = words("spring summer autumn winter morning afternoon evening noon midnight night")
PLACES = words("in at on near above below behind beside under next outside inside opposite")
ADVERBS_OF_MOTION = words("up down back forward off out over away ahead around round")
REASONS = words("instead rather because after not since as")
TURNING = words("from to before after with without until under over above below")
SWAPPING = words("swap exchange trade replace leave ditch drop quit abandon")
GOALS = words("to until till into")
FURTHER_GOALS = {
    **dict.fromkeys(("swap", "exchange", "trade"), words("for")),
    **dict.fromkeys(("replace", "switch"), words("with by")),
    **dict.fromkeys(("put", "set", "schedule", "reschedule"), words("on at for")),
    **dict.fromkeys(("appoint", "promote"), words("as")),
}
# Who does these things to one object may do them to another.
MANY = words(
    """take have own like love enjoy adore hate dislike speak play know eat drink need buy read watch learn study
    collect visit see grow sell teach support follow practise practice do make cook wear bake train handle manage
    cover include contain accept offer supply provide exhibit help feed get go put book stop"""
)
POSSESSING = words(
    """have own drive use rent ride play keep wear read learn attend take study work teach eat avoid be sing watch
    practise practice train write build collect date see smoke drink follow subscribe employ lease"""
)
CANCELLING = words("cancel abandon scrap drop discontinue terminate revoke delete remove disable archive")
CONTRACTS = keys("contract subscription membership account policy agreement lease plan order job course")
ENDING_WITH = {
    "give": ("up", "away", "back"), "hand": ("in", "back"), "cut": ("out",), "throw": ("out", "away"), "drop": ("out",),
    "call": ("off",), "turn": ("off",), "switch": ("off",), "shut": ("down",), "get": ("rid",), "part": ("with",),
    "move": ("out",), "put": ("down",), "rip": ("out",), "step": ("down",),
}  # fmt: skip
ATTRIBUTES = keys(
    "status state phase stage priority theme mode format surname nickname default type owner colour shade size"
)
OVER = words("complete completed over finished done gone cancelled canceled off history dead closed")
ENDS = words("end expire lapse finish close stop")
LOCATING = words("be live sleep sit stay lie hang meet park keep store locate stand base happen")
RELATIVES = keys(
    """cousin friend son daughter brother sister colleague coworker aunt uncle neighbour neighbor cat dog pet child kid
    nephew niece student pupil classmate roommate flatmate grandson granddaughter teammate client customer patient
    horse rabbit bird hamster grandmother grandfather twin hobby language skill"""
)
PERSONS_AND_RELATIVES = RELATIVES | keys(
    """mother mom father dad wife husband partner boyfriend girlfriend fiance grandma grandpa boss teacher doctor nurse
    parent family son-in-law mother-in-law team we they everyone people man woman boy girl guy lady person"""
)
LIKES, DISLIKES = words("like love enjoy adore"), words("hate dislike loathe detest despise")
SPEAKER = words("speaker")
BEARS = words("stand bear tolerate")
EMPLOYED_BY = words("at for as in by")
STARTING_RELATIONS = words("live work move start join become be")
ORDERED = words("in with by as via")
CANCELLING_CONTRACTS = CANCELLING | {"end", "finish", "stop"}
DISMISSING = words("lay fire dismiss")
COMPLETING = words("pass complete")
PREPARING = words("be take do prepare wait")
# Several of a kind do these things, each at its own time: "the train to Graz leaves at".
DEPARTING = words("leave depart arrive go run sail fly come")
LEAVING = words("leave drop ditch terminate end cancel abandon scrap quit rip replace")
APOLOGIES = keys("typo sorry mistake bad slip error")
SPANS = keys("week month year quarter term semester season today tomorrow now day sprint")
LAPSING = words("lapse expire run out go")

"""English verbs by what they say of a state: that it holds, that it began, that it changed, that it ended."""

from apps.rules.domain.wordlists import words

# Irregular forms: base, past, participle.
_IRREGULAR = """
    be was been; have had had; do did done; go went gone; get got got; get got gotten; take took taken; give gave
    given; make made made; keep kept kept; leave left left; sell sold sold; buy bought bought; lose lost lost; find
    found found; put put put; set set set; cut cut cut; run ran run; begin began begun; become became become; come
    came come; pay paid paid; spend spent spent; teach taught taught; sleep slept slept; eat ate eaten; drink drank
    drunk; drive drove driven; ride rode ridden; wear wore worn; speak spoke spoken; write wrote written; read read
    read; meet met met; sit sat sat; stand stood stood; hold held held; build built built; choose chose chosen;
    break broke broken; swim swam swum; sing sang sung; know knew known; grow grew grown; feel felt felt; send sent
    sent; see saw seen; say said said; tell told told; think thought thought; quit quit quit; hand handed handed;
    win won won; fly flew flown; throw threw thrown; fall fell fallen; bring brought brought; catch caught caught;
    lie lay lain; lend lent lent; swear swore sworn; shut shut shut; withdraw withdrew withdrawn; rise rose risen;
    wake woke woken; lead led led; learn learnt learnt; bear bore born; hurt hurt hurt; hang hung hung; let let let;
    fit fit fit; cost cost cost; forget forgot forgotten; understand understood understood; hear heard heard; steal
    stole stolen; show showed shown; undergo underwent undergone; split split split; spread spread spread; bet bet
    bet; shrink shrank shrunk
"""
# Further verbs, so that a sentence can be parted into who, does, and what.
_REGULAR = """
    live reside dwell stay rent lodge move relocate settle work employ hire join start report serve manage handle
    supervise call name rename prefer like love enjoy adore hate dislike loathe detest despise want need own use
    switch change migrate upgrade update downgrade replace swap deploy host store save release ship deliver
    arrive depart close open end stop finish complete cancel postpone reschedule delay push shift slip adjust raise
    lower increase reduce decrease extend shorten turn drop bump double halve schedule plan happen last require
    support depend listen accept expire weigh measure charge owe earn cover include contain belong supply provide
    sponsor collect study attend enrol enroll graduate pass fail practise practice play train coach visit travel
    walk cycle commute smoke cook bake order subscribe unsubscribe follow marry divorce separate date adopt retire
    resign pick select scale climb jump sink amount split lapse rewrite die rip step engage transfer rebook reassign
    promote appoint elect foster insure negotiate demote assign allocate park locate base revert revoke restore fix
    repair mend heal recover avoid drop abandon ditch donate scrap archive delete remove disable enable merge
    rewrite convert connect return exchange trade cure vaccinate diagnose test prescribe discontinue agree sign
    renew terminate expect wait look apply consider decide try help care ask answer reply talk listen watch wash
    clean paint plant feed share exhibit sail ski climb swap point build run-through contain hate crave stand
    tolerate respond depend book reserve occupy lead own speak carry hold
"""
# What a state may begin with or go over to, by the state. The first names the relation.
RELATIONS = {
    "live": "live reside dwell stay lodge settle relocate base",
    "work": "work employ hire",
    "name": "call name rename",
    "own": "own have possess",
    "weigh": "weigh",
    "cost": "cost charge",
    "use": "use",
    "like": "like love enjoy adore",
    "study": "study",
    "attend": "attend",
    "marry": "marry",
    "take": "take",
    "drive": "drive",
}
# They say that a thing has another value from now on: "moved to", "was raised to", "upgraded to".
CHANGING = words(
    """move relocate switch change migrate upgrade update downgrade replace swap postpone reschedule delay push shift
    slip adjust raise lower increase reduce decrease extend shorten turn drop bump rename promote appoint demote
    transfer revert become bring put set cut advance transfer swap reassign rebook convert go grow cut shrink double
    halve climb rise fall jump sink increase go scale bump up"""
)
# They begin a state: "started at", "joined".
BEGINNING = words("start begin join hire adopt marry settle get become take")
# They end one: "sold my car", "quit teaching".
ENDING = words(
    """sell leave quit stop finish end cancel abandon ditch donate scrap lose resign retire divorce separate drop
    discontinue terminate revoke delete remove disable archive break complete return give withdraw"""
)


def inflections(verb: str) -> set[str]:
    """Return the regular forms of a verb."""
    if verb.endswith("e"):
        return {verb, f"{verb}s", f"{verb}d", f"{verb[:-1]}ing"}
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return {verb, f"{verb[:-1]}ies", f"{verb[:-1]}ied", f"{verb}ing"}
    s = f"{verb}es" if verb.endswith(("s", "x", "ch", "sh", "z", "o")) else f"{verb}s"
    forms = {verb, s, f"{verb}ed", f"{verb}ing"}
    if len(verb) > 2 and verb[-1] not in "aeiouwxy" and verb[-2] in "aeiou" and verb[-3] not in "aeiou":
        forms |= {f"{verb}{verb[-1]}ed", f"{verb}{verb[-1]}ing"}
    return forms


def forms_of_verbs() -> dict[str, str]:
    """Return every form of every known verb -> its base."""
    known: dict[str, str] = {}
    for group in _IRREGULAR.split(";"):
        base, *others = group.split()
        for form in (*inflections(base), *others):
            known.setdefault(form, base)
    for base in _REGULAR.split():
        for form in inflections(base):
            known.setdefault(form, base)
    return known


VERB_FORMS = forms_of_verbs()
_RELATION_OF = {verb: name for name, verbs in RELATIONS.items() for verb in verbs.split()}
# Past forms, which differ from the present ones.
PAST_FORMS = frozenset(
    form for group in _IRREGULAR.split(";") for base, *others in [group.split()] for form in others if form != base
)


def base_of(word: str) -> str:
    """Return the base of a form of a known verb, "" for any other word."""
    return VERB_FORMS.get(word, "")


def relation_of(base: str) -> str:
    """Return the name of the relation that a verb says, the verb itself where it has no other."""
    return _RELATION_OF.get(base, base)


def is_past_form(word: str) -> bool:
    """Return whether a form of a verb is a past or a participle only."""
    return word in PAST_FORMS or (word.endswith("ed") and base_of(word) != word)

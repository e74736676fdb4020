"""Relations between words: synonyms, opposites, attributes that exclude each other, places within others.

Everything is stored by key: the stem of a word in the text pipeline, or that of the chief word of its meaning.
"""

from apps.core.domain.caches import remember_words
from apps.retrieval.domain.text.stems import stem

# Words of one meaning: the first represents all.
_SYNONYMS = """
    cut slice chop dice; woman women lady; man men guy bloke; child children kid; talk speak chat; phone
    telephone cellphone smartphone; jump leap; put place; photo photograph picture; movie film; car automobile;
    bike bicycle; buy purchase; begin start; finish complete; big large huge; small little tiny; job occupation;
    home house; fast quick; near close; favourite favorite; mom mum mother; dad father; grandma grandmother;
    grandpa grandfather; colour color; tv television; shop store; holiday vacation; fix repair; choose pick;
    happy glad; ill sick; reply answer; company firm employer; doctor physician; puppy dog; kitten cat; relocate
    move; reside live; street road; sofa couch; meal food; apartment flat; trash garbage rubbish; receive got
    get; wed marry; written write wrote; bought buy; met meet; taught teach; drove driven drive; ate eaten eat;
    went gone go; spoke spoken speak talk; ran run; began begun begin start; gave given give; took taken take;
    found find; left leave; sold sell; told tell; slept sleep; swam swum swim; wore worn wear; chose chosen
    choose pick; lost lose; won win; built build; grew grown grow; knew known know; spent spend; kept keep; felt
    feel; caught catch; broke broken break; flew flown fly; sang sung sing; drank drunk drink; made make; daily
    everyday; allergic allergy
"""
# Left of the bar against right of the bar.
_OPPOSITES = """
    hot warm|cold cool chilly freezing; big large huge|small little tiny; tall|short; long|short; high|low; fast
    quick|slow; early|late; old|young; old|new; good great|bad awful terrible; better|worse; best|worst; happy
    glad|sad unhappy miserable; rich wealthy|poor; strong|weak; hard|soft; hard difficult|easy simple;
    heavy|light; dark|light bright; full crowded|empty; open|close closed shut; wet|dry; clean|dirty; loud
    noisy|quiet silent; thick|thin; fat|thin slim; wide broad|narrow; deep|shallow; sharp|blunt dull;
    rough|smooth; safe|dangerous risky; cheap|expensive pricey costly; free|busy occupied; alive living|dead;
    awake|asleep sleeping; healthy|sick ill unwell; right correct true|wrong false; near close|far distant;
    inside indoors|outside outdoors; indoor|outdoor; up|down; upstairs|downstairs; above|below beneath;
    over|under; on|off; in|out; front|back; before|after; first|last; top|bottom; left|right; north|south;
    east|west; always|never rarely seldom; often
    frequently|rarely seldom; everyone everybody|nobody; everything all|nothing none; more|less fewer;
    most|least; many|few; accept|refuse reject decline; agree|disagree; allow permit|forbid prohibit ban; arrive
    come|leave depart go; enter|exit leave; begin start|end finish stop quit; continue|stop cease; keep|lose
    discard; find|lose; win|lose; pass|fail; succeed|fail; buy purchase|sell; give|take receive; lend|borrow;
    send|receive; push|pull; raise lift|lower drop; rise climb ascend|fall descend drop; increase grow
    gain|decrease shrink decline lose; expand|contract shrink; add|remove subtract delete; build create|destroy
    demolish; fix repair|break damage; join|quit leave; hire employ|fire dismiss; marry|divorce; married|single
    divorced unmarried; vegetarian vegan|carnivore omnivore meat; smile laugh|frown cry weep; stand|sit lie;
    sit|stand run walk; run|walk rest; walk run|stop; sleep|wake; speak talk|listen; shout scream|whisper;
    remember|forget; praise|criticise criticize blame; attack|defend; lock|unlock; tie|untie; dress|undress;
    fill|drain empty; wear|remove; hide|show reveal; throw toss|catch; follow|lead ignore shun avoid;
    approach|avoid flee; listen attend|ignore; play|pause; connect attach|disconnect detach separate;
    freeze|melt thaw; float|sink; land|takeoff; import|export; upload|download; public|private; present|absent;
    permanent|temporary; maximum|minimum; major|minor; guilty|innocent; brave|cowardly; kind nice|cruel mean
    rude; polite|rude; patient|impatient; generous|stingy greedy; honest|dishonest; lazy|diligent hardworking;
    optimistic|pessimistic; introvert introverted|extrovert extroverted; extrovert outgoing|shy; calm
    relaxed|nervous anxious stressed; confident|insecure shy; tidy neat|messy; organised organized|chaotic;
    beautiful pretty handsome|ugly; sweet|bitter sour; raw|cooked; fresh|stale rotten; spicy|mild; boil|freeze;
    sunny|rainy cloudy; cloudy|clear; ally friend|enemy; ancient old|modern; single alone|together;
    alone|together; same|different; equal|unequal; similar|different; even|odd; positive|negative; plus|minus;
    profit|loss; debit|credit; tenant renter|landlord owner; rent|own; urban city|rural countryside;
    heaven|hell; peace|war; victory|defeat; success|failure; arrival|departure; beginning start|end;
    birth|death; entrance|exit; supply|demand; strength|weakness; advantage|disadvantage; sober|drunk;
    smoker|nonsmoker; enable enabled|disable disabled; active|inactive; online|offline; available|unavailable;
    visible|invisible; valid|invalid; legal|illegal; possible|impossible; required mandatory|optional;
    automatic|manual; fulltime|parttime; employed|unemployed jobless; monthly|weekly yearly
    daily; weekly|daily yearly; allergic|tolerant; intolerant|tolerant; approve|reject deny; approved|rejected
    denied; confirm|deny cancel; confirmed|cancelled canceled; book|cancel; subscribe|unsubscribe;
    follow|unfollow; install|uninstall; trust|distrust mistrust; respect|despise; admit|deny; support|oppose;
    include|exclude; internal|external; ahead|behind; forward|backward; vertical|horizontal; male|female;
    gain|lose; borrow|repay; earn|spend; promote|demote; promoted|demoted; healthy|unhealthy;
    conscious|unconscious; eat|fast; eating|fasting; hungry|full; thirsty|quenched; tired exhausted|rested
    energetic; deposit|withdraw; attach|remove; load|unload; pack|unpack; plug|unplug; cover|uncover;
    wrap|unwrap; fold|unfold; zip|unzip; roll|unroll; assemble|dismantle disassemble; appear|disappear vanish;
    obey|disobey; qualify|disqualify; encourage|discourage; inhale|exhale; input|output; ceiling|floor;
    into|out; lots|few; front|behind; above|under; shallow|deep; love like enjoy adore prefer|hate dislike
    loathe detest despise; put|remove; remote|onsite; city|suburb suburbs village
"""
# Attributes of which a thing has one at a time.
_EXCLUSIVE = """
    red blue green yellow orange purple pink brown black white grey gray tan beige turquoise violet; spring summer
    autumn winter; breakfast lunch dinner supper; single engaged married divorced widowed separated; vegetarian vegan
    pescatarian omnivore carnivore; daily weekly biweekly monthly quarterly yearly annually; android iphone; windows
    linux macos; north south east west; morning noon afternoon evening night; left right; small medium large
"""
_PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non", "mis")
_PREFIXED_ROOT = 4


def chief_words() -> dict[str, str]:
    """Return the chief word of its meaning for each stem."""
    found: dict[str, str] = {}
    for group in _SYNONYMS.split(";"):
        known = [stem(word, "english") for word in group.split()]
        chief = next((found[word] for word in known if word in found), known[0])
        found.update({word: chief for word in known if word not in found})
    return found


_CHIEFS = chief_words()


@remember_words("words", entries=1 << 13, entry_bytes=900)
def key_of(word: str) -> str:
    """Return the key of a casefolded word."""
    stemmed = stem(word, "english")
    return _CHIEFS.get(stemmed, stemmed)


def keys(words: str) -> frozenset[str]:
    """Return the keys of the words of a text."""
    return frozenset(key_of(word) for word in words.split())


def opposite_pairs() -> frozenset[tuple[str, str]]:
    """Return the pairs of keys with opposite meanings, in both orders."""
    found: set[tuple[str, str]] = set()
    for pair in _OPPOSITES.split(";"):
        left, right = (keys(side) for side in pair.split("|"))
        found |= {(a, b) for a in left for b in right if a != b}
    return frozenset(found | {(b, a) for a, b in found})


OPPOSITES = opposite_pairs()
_OPPOSITES_OF = {
    key: frozenset(other for one, other in OPPOSITES if one == key) for key in {one for one, _ in OPPOSITES}
}
EXCLUSIVE = tuple(keys(kind) for kind in _EXCLUSIVE.split(";"))


def are_opposites(first: str, second: str) -> bool:
    """Return whether two keys are opposites: listed, or one is the other with un-, in-, dis- and the like."""
    if (first, second) in OPPOSITES:
        return True
    short, long = sorted((first, second), key=len)
    return len(short) >= _PREFIXED_ROOT and any(long == prefix + short for prefix in _PREFIXES)


def opposites_of(key: str) -> frozenset[str]:
    """Return every key that is an opposite of a key: `are_opposites` without trying all pairs."""
    listed = _OPPOSITES_OF.get(key, frozenset())
    longer = {prefix + key for prefix in _PREFIXES if len(key) >= _PREFIXED_ROOT}
    roots = {key.removeprefix(prefix) for prefix in _PREFIXES if key.startswith(prefix)}
    return listed | longer | {root for root in roots if len(root) >= _PREFIXED_ROOT}


def are_exclusive(first: str, second: str) -> bool:
    """Return whether two different keys are of one kind of attribute, such as two colours."""
    return first != second and any(first in kind and second in kind for kind in EXCLUSIVE)


# A word of each name is enough. Names of cities ("Singapore", "New York") are left out.
_CONTINENTS = keys("africa america antarctica asia australia europe oceania eu scandinavia balkans caribbean")
_COUNTRIES = keys(
    """afghanistan albania algeria angola argentina armenia austria azerbaijan bangladesh belarus belgium bolivia bosnia
    botswana brazil bulgaria cambodia cameroon canada chile china colombia congo croatia cuba cyprus czechia denmark
    ecuador egypt emirates england estonia ethiopia fiji finland france germany ghana greece greenland guyana haiti
    honduras hungary iceland india indonesia iran iraq ireland israel italy jamaica japan jordan kazakhstan kenya korea
    kosovo kuwait laos latvia lebanon libya liechtenstein lithuania madagascar malaysia mali malta mexico moldova
    mongolia montenegro morocco mozambique myanmar namibia nepal netherlands holland nicaragua niger nigeria macedonia
    norway oman pakistan palestine paraguay peru philippines poland portugal qatar romania russia rwanda scotland
    senegal serbia slovakia slovenia somalia spain sudan sweden switzerland syria taiwan tanzania thailand tunisia
    turkey turkiye uganda uk britain ukraine united uruguay usa us uzbekistan venezuela vietnam wales yemen zambia
    zealand zimbabwe arabia lanka"""
)
_STATES = keys(
    """alabama alaska arizona arkansas california carolina colorado connecticut dakota delaware florida georgia hawaii
    idaho illinois indiana iowa kansas kentucky louisiana maine maryland massachusetts michigan minnesota mississippi
    missouri montana nebraska nevada hampshire jersey ohio oklahoma oregon pennsylvania rhode tennessee texas utah
    vermont virginia wisconsin wyoming ontario quebec alberta bavaria saxony catalonia andalusia tuscany sicily
    brittany normandy provence"""
)


def size_of(place: frozenset[str]) -> int:
    """Return the size of a place by the keys of its name: 3 a continent, 2 a country, 1 a state, 0 anything else."""
    return next((size for size, kind in ((3, _CONTINENTS), (2, _COUNTRIES), (1, _STATES)) if place & kind), 0)

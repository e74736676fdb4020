"""The patterns of English facts about a person: whom they know, what they like and what they plan.

The order decides: the first that matches names the fact.
"""

from apps.notes.domain.extraction.english.words import ADVERBS, MOMENT, OBJECT, PET, RELATION
from apps.notes.domain.extraction.fact import PLANNED, Category, pattern
from apps.rules.domain.statements.statement import Mood

_I = rf"i(?:'ve|'d|'m)? {ADVERBS}"
_WE = rf"(?:i|we|(?-i:[A-Z])\w+ and i|my (?:wife|husband|partner|family|girlfriend|boyfriend) and i)(?:'ve)? {ADVERBS}"
_IM = rf"i(?:'m| am| was|'ve been| have been) {ADVERBS}"
_WERE = rf"(?:i(?:'m| am)|we(?:'re| are)|my (?:wife|husband|partner|family) and i are) {ADVERBS}"
_OUR = r"(?:my|our)"
_NAME = r"(?-i:[A-Z])[\w'-]+"
_COUNT = (
    r"(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|\d+|no|twin|several|many|a couple of|a few|some|lots of)"
)
_KIN = rf"(?:one of )?{_OUR} {RELATION}"
_NO_IT = r"(?!(?:it|that|this|them|these|those|there|here)\b(?! (?:\w+ ){1,3}))"

PREFERENCES = (
    pattern(
        "likes",
        Category.PREFERENCE,
        0.85,
        rf"{_WE}(?:like|love|enjoy|adore|prefer|hate|dislike|loathe|detest|despise|favou?r|can't stand"
        r"|cannot stand|can't bear"
        r"|don't (?:\w+ly |much |even )?(?:like|enjoy|love)|do not (?:like|enjoy)|don't care for|never liked"
        rf"|grew to love|tend to prefer|have a soft spot for|fell in love with) {OBJECT}\S+",
        rf"{_IM}(?:not )?(?:(?:a |an )(?:\w+ ){{0,3}}(?:fan of|lover|enthusiast|buff|nerd|junkie|addict|person)"
        r"|into|keen on|crazy about|mad about|obsessed with|fond of|passionate about|addicted to|hooked on"
        r"|partial to|a sucker for) ?(?!it\b|that\b|this\b|them\b|you|to\b|trouble)\S*",
        rf"{_OUR} (?:\w+ )?favou?rite\b.{{1,60}} (?:is|are|was|has to be|would be|will always be)\b (?!it\b"
        r"|that\b|this\b)",
        r"(?!it\b|that\b|this\b|yours?\b|they\b|you\b)[^,]{2,50} (?:is|are) (?:one of )?(?:my|our) (?:all-time "
        r"|absolute )?(?:favou?rites?|passion|thing|go-to|guilty pleasure|happy place)\b",
        rf"{_I}(?:don't|do not|can't|cannot|never|won't) (?:really |usually |normally )?(?:eat|drink"
        r"|touch) (?!it\b|that\b|this\b|anything|much|for|right|before|enough|well\b)\S+",
    ),
)

PEOPLE = (
    pattern(
        "relation-named",
        Category.PEOPLE,
        0.92,
        rf"{_KIN}(?:'s name)? (?:is|was|are|'s) (?:called|named|{_NAME})\b",
        rf"{_KIN}'s name",
        rf"{_KIN}'s (?:called|named) ",
        rf"{_OUR} {PET}(?:'s name)?(?: is|'s|s are| are)(?: called| named)? (?-i:[A-Z])\w+",
        rf"{_OUR} {PET}'s (?:name|called)",
        rf"{_NAME}(?: {_NAME})? (?:is|was|'s) (?:{_OUR} {RELATION}|{_OUR} {PET})\b(?! everything)",
        r"(?:i(?:'m| am) married to|i report to|i(?:'m| am) (?:dating|engaged to|seeing)|i married"
        rf"|i share (?:a flat|an office|a room) with) {_NAME}",
        rf"{_WE}(?:named|called) (?:him|her|it|them|our \w+|the \w+|my \w+) {_NAME}",
    ),
    pattern(
        "relation-state",
        Category.PEOPLE,
        0.8,
        rf"{_KIN},?(?: {_NAME},?)?(?: who \w+ [^,]{{1,40}},)? (?:is|was|are) (?!{MOMENT}\b)(?!(?!living|working"
        r"|studying|expecting|learning|getting married|retiring)\w+ing\b)\S+",
        rf"{_KIN},?(?: {_NAME},?)? {ADVERBS}(?:lives?|works?|studies|study|loves?|likes?|hates?|prefers?|plays?"
        r"|speaks?|teach(?:es)?|runs?|owns?|collects?|goes to|attends?|has an? (?!bad day|question|point|lot"
        r"|good|great|cold|meeting|idea|habit)|have (?:a|two|three|four)|can't eat|cannot eat|doesn't (?:like"
        r"|eat|drink|speak|live|work)|drives?|cooks|suffers from|moved|died|passed away|got married|turned \d+"
        r"|turns \d+|retired|married|graduated|grew up|was born|had a baby|became|joined|used to)\b(?:\W*$|,| (?!it\b"
        r"|that\b|this\b|me\b|you\b|them\b))\S*",
        rf"{_OUR} {PET},? {_NAME}\b,? \S+",
        rf"{_OUR} {PET} (?:died|passed away|was put down|loves|hates|eats|sleeps|needs|has|only eats"
        r"|weighs) (?!it\b|that\b|this\b)\S+",
        rf"{_OUR} {PET} (?:is|are|was) (?:an? |\d+ |\w+ years old|called|named|allergic|diabetic|deaf|blind|afraid)\S*",
        rf"{_KIN}(?: {_NAME})?'s (?:birthday|wedding|name|favou?rite \w+|phone number|number|email|house|company"
        r"|job|school) (?:is|are)\b (?!coming)",
    ),
    pattern(
        "relation-mentioned",
        Category.PEOPLE,
        0.7,
        rf"(?=.{{0,80}}\b(?:my|our) {RELATION},? (?-i:[A-Z])[a-z]+\b)(?:i|we|my|our|he|she|{_NAME})\b(?! (?:'m"
        rf"|am|was|were) (?:so|just|really)\b).{{8,}}",
    ),
)

_GO = (
    r"(?:go|fly|travel|move|visit|start|leave|head|drive|meet|see|have|get|take|attend|run|do|host|give|present"
    r"|launch|ship|release|marry|celebrate|begin|finish|return|come|join|hike|camp|stay|adopt|open|perform|compete"
    r"|speak|interview|deploy|migrate|freeze|retire|graduate|sit|renew|sell|buy|paint|train|volunteer)"
)
PLANS = (
    pattern(
        "appointment",
        Category.PLAN,
        0.88,
        rf"(?!(?:{_OUR}|{_NAME}'s)(?: [\w'-]+){{0,2}} (?:birthday|anniversary|name) (?:is|falls))(?:{_OUR}|the"
        rf"|{_NAME}'s)(?: [\w'-]+){{1,5}} (?:(?:is|are) (?=on\b|at\b|in\b|next|this|tomorrow|due"
        r"|scheduled|moved|set|planned|from|\d)|will be|takes place"
        r"|starts?|begins?|ends?|opens?|closes?|happens|expires?|has been (?:moved|postponed|rescheduled"
        r"|scheduled|set)|(?:is|was|got) (?:moved|postponed|rescheduled|scheduled|set|planned|due|booked)|falls"
        r"|launch(?:es)?|goes live|leaves|departs|arrives?|lands|runs out)\b(?! (?:over|really|so)\b).*",
        r"(?:i|we)(?:'ve| have)?(?: got)? (?:an?|my|our|the|another|two|three)(?: [\w'-]+){0,4} (?:appointment"
        r"|exam|interview|meeting|flight|concert|party|wedding|deadline|surgery|operation|race|marathon"
        r"|check-?up|presentation|trip|holiday|vacation|reservation|dinner|recital|demo|release|launch"
        r"|conference|workshop|class|test|game|match|tournament|call|review|date|visit|viewing|session|show"
        r"|performance|event|audition|delivery|follow-up)\b.*",
        r"(?:i|we) (?:have|'ve|have just|just|already|finally|\s)*(?:booked|scheduled|reserved|bought tickets"
        r"|got tickets|signed up|registered|enrolled|planned)\b(?! it\b| that\b).{3,}",
        moods=PLANNED,
        needs_date=True,
    ),
    pattern(
        "dated-plan",
        Category.PLAN,
        0.85,
        rf"{_WERE}(?:not )?(?:going|flying|travell?ing|moving|visiting|starting|leaving|heading|driving|meeting"
        r"|seeing|having|getting|taking|attending|running|doing|hosting|giving|presenting|launching|releasing"
        r"|returning|joining|hiking|camping|performing|speaking|throwing|opening|planning|celebrating|retiring"
        r"|graduating|off to|away|out of office|on (?:vacation|holiday|leave)|interviewing|freezing|deploying"
        r"|migrating|competing|volunteering|back|selling|due)\b(?! (?:to (?:check|try|look|ask|see (?:if|what"
        r"|how))|crazy|great|well|fine)\b).*",
        r"(?:i|we)(?:'ll| will| shall| are going to|'re going to|going to"
        rf"| am going to) {ADVERBS}(?:be (?!back|there|fine|ok|right|sure|honest|able)|{_GO}\b(?! (?:it"
        r"|back to you|that|this|you|if|what|how|a (?:look|try|shot|break))\b)).*",
        r"(?:i|we) (?:fly|leave|travel|move|depart|start|have (?:an?|my|our|the|two|three|no"
        r"|another) \S+|return|graduate|retire|run|land|arrive|meet|begin"
        r"|go|launch|ship|release|freeze)\b.*",
        moods=PLANNED,
        needs_date=True,
    ),
    pattern(
        "plans-to",
        Category.PLAN,
        0.8,
        rf"(?:i|we)(?:'m| am|'re| are|'ve been| have been)? {ADVERBS}(?:plan(?:ning)?|intend(?:ing)?|aim(?:ing)?"
        r"|hoping|preparing|saving up|set|scheduled|about) (?:to|on|for|an?|our|my|the) (?!do (?:it"
        r"|that|this)\b|it\b|that\b"
        r"|this\b|them\b|say|ask|use (?:it|this)|try (?:it|that|this)|check|keep (?:it|going|doing)|start\b\W*$"
        r"|be (?:there|back))\S+ \S+",
        rf"{_OUR} (?:plan|goal|aim|target|resolution|next step)(?: for .{{2,30}}?)? is to (?!do (?:it|that"
        r"|this)\b)\S+ \S+",
        r"the (?:plan|goal) for .{2,30}? is to \S+ \S+ \S+",
        moods=PLANNED,
    ),
)
LAST = (
    pattern(
        "remembered", Category.INSTRUCTION, 0.75, r".{8,}", moods=frozenset({Mood.ASSERTION, Mood.PLAN, Mood.COMMAND})
    ),
)

"""The patterns of English facts about a person: who they are, whom they know, what they like and what they plan.

The order decides: the first that matches names the fact.
"""

from apps.notes.domain.extraction.english_words import (
    ADVERBS,
    CONDITION_NOUN,
    FREQUENCY,
    HABIT_VERB,
    MOMENT,
    NO_BELONGING,
    OBJECT,
    PASSING,
    PEOPLE_NOUN,
    PET,
    PETS_NOUN,
    RELATION,
    THING_NOUN,
)
from apps.notes.domain.extraction.fact import Category
from apps.notes.domain.extraction.pattern import PLANNED, pattern
from apps.rules.domain.statements.statement import Mood

_I = rf"i(?:'ve|'d)? {ADVERBS}"
_WE = rf"(?:i|we|my (?:wife|husband|partner|family|girlfriend|boyfriend) and i)(?:'ve)? {ADVERBS}"
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

ABOUT = (
    pattern(
        "name",
        Category.ABOUT,
        0.95,
        rf"{_OUR} (?:full |first |last |middle |sur|family |user|nick|maiden )?name(?:'s| is) (?!on\b|not\b)\S+",
        rf"i(?:'m| am) (?:called|named) {_NAME}",
        rf"i go by {_NAME}",
        rf"(?:people|friends|everyone|everybody|my friends|most people) calls? me {_NAME}",
        rf"i(?:'m| am) (?!I\b|OK\b|Ok\b){_NAME}(?: {_NAME})?(?:[.!,]|$| from | and i)",
    ),
    pattern(
        "age",
        Category.ABOUT,
        0.95,
        rf"{_IM}\d{{1,3}}(?: years? (?:old|young)| yo\b|(?=[\W]*$)|(?= (?:and|now|but)\b))",
        r"i (?:just |recently |have just )?(?:turned|turn) (?:\d{1,3}|twenty|thirty|forty|fifty|sixty|seventy"
        r"|eighty)\b",
        rf"{_OUR} (?:birthday|date of birth|birth date|star sign|zodiac sign|age|pronouns|blood type|blood group"
        r"|height|weight|shoe size|nationality|religion|anniversary|wedding anniversary)(?:'s| is"
        r"| are)\b (?!coming|soon|over|great|awesome)",
        rf"{_I}was born (?:in|on|and raised)\b",
        r"i(?:'m| am) (?:\d[\d.,]* ?(?:cm|m|kg|lbs?|pounds|feet|foot|ft)|\d'\d)",
    ),
    pattern(
        "home",
        Category.ABOUT,
        0.9,
        rf"{_WE}(?:live|reside|stay|rent|grew up|come from|own a (?:house|flat|home)|lived|spent my childhood"
        rf"|was raised|were raised) {_NO_IT}(?:in|at|on|near|with|by|from|outside|close|alone|next|a|an|together"
        r"|across|under|above|abroad|between|downtown|just)\b",
        rf"{_WE}(?:moved|relocated|'ve moved|emigrated|immigrated|settled|move) (?:back )?(?:\w+ ){{0,3}}?(?:to"
        r"|into|from|in|here from|out of|away from|in with|house)\b (?!bed|the (?:next|other)|it\b|that\b"
        r"|this\b|a new (?:chapter|phase))",
        rf"{_IM}(?:originally )?(?:from (?-i:[A-Z])|based (?:in|out of)|living (?:in|with|at|on|near|alone)"
        r"|native to|renting|born and raised)",
        rf"{_OUR} (?:home ?town|home address|address|(?:flat|apartment|house|place) is (?:in|on|at|near)"
        r"|home is (?:in|on|at|near)|time ?zone|postcode|zip code|neighbou?rhood is|home country)\b",
        rf"{_WE}(?:bought|rented|own|purchased) (?:a|an|our|my) (?:\w+ ){{0,3}}(?:house|flat|apartment|home"
        r"|condo|cottage|farm|place)\b",
        r"i(?:'m| am) (?:(?:half|part|originally) )?(?:american|british|english|scottish|welsh|irish|german"
        r"|french|spanish|italian|dutch|danish|swedish|norwegian|finnish|polish|czech|russian|ukrainian|chinese"
        r"|taiwanese|japanese|korean|indian|brazilian|mexican|canadian|australian|portuguese|greek|turkish"
        r"|swiss|austrian|belgian|vietnamese|thai|filipino|indonesian|nigerian|kenyan|egyptian|argentinian"
        r"|chilean|colombian|hungarian|romanian|transgender|trans|gay|lesbian|bisexual|non-binary|queer|muslim"
        r"|jewish|catholic|christian|buddhist|hindu|an atheist|atheist|agnostic)\b(?! (?:time|food))",
    ),
    pattern(
        "work",
        Category.ABOUT,
        0.85,
        rf"{_I}(?:work|worked|freelance|intern|interned|am employed|was employed) (?!it\b|that\b|this\b|out\b"
        r"|on (?:it|that|this|my|the|a|an)\b|around|through|hard|well\b|better\b|like\b|perfectly|with (?:it"
        r"|that|this|you)\b|fine|too)(?:as|at|for|in|with|from|on|part|full|remotely|nights|night|shifts"
        r"|freelance|four|five|three|two|\d+|mostly|mornings|weekends|a|the|to)\b",
        rf"{_IM}(?:working|employed|self-employed|a freelance|freelancing|interning|retired|unemployed"
        r"|between jobs|on (?:maternity|paternity|parental|sick) leave|in charge of|responsible for|the (?:ceo"
        r"|cto|founder|co-?founder|head|lead|owner|manager|director|maintainer|author|product owner|tech lead"
        r"|team lead|only|new)|head of|ceo|cto)\b(?! (?:on (?:it|that|this|a|an|the|my|some|our|getting|making"
        r"|fixing)\b|hard|out|too|late|with (?:it|that|this|you)\b|through|from home today|today|right now"
        r"|correctly|one|at it|it\b))",
        rf"{_I}(?:run|manage|lead|teach|coach|founded|started|co-?founded|opened|own|maintain|run) (?:a|an"
        r"|my (?:own)?|the|our|two|three|four|five|\d+|maths?|physics|english|music|yoga|history|chemistry"
        r"|biology|art|kindergarten|primary|piano|guitar)\b (?!it\b|bit|lot|few|new (?:chat|conversation"
        r"|session|game|series|show)|(?:test|tests|script|command|server|code|following|build|query|migration"
        r"|program|app|errands?|risk|marathon|race|5k|half|new|job|project|diet|class|conversation)\b)\w+",
        rf"{_OUR} (?:\w+ )?(?:job|profession|occupation|employer|company|boss|team|department|job title|title"
        r"|role|salary|start-?up|business|firm|field|major|degree|thesis|phd|dissertation|research"
        r"|speciali[sz]ation|university|school|office|shift|day job|side project|side hustle)(?:'s| is| has"
        r"| was| consists| makes| sells| uses| starts| ends| name is)\b (?!to\b|so\b|going|not\b|just|been"
        r"|really|very|great|good|bad|killing|what|why|that\b|important|hard|tough|stressful|too\b|done|due"
        r"|getting|driving|amazing|awesome|a (?:mess|nightmare|blast|dream|challenge|joke)|the (?:best|worst)"
        r"|pretty|always|looking|coming|doing|asking|still|now\b|crazy|busy)",
        rf"{_I}(?:study|studied|am studying|'m studying|graduated|majored|major|minored|hold|did|got|have|earned"
        r"|finished|completed|am finishing|dropped out|am doing|'m doing|am taking"
        rf"|'m taking) (?:\w+ ){{0,4}}(?:at (?-i:[A-Z])|in (?-i:[A-Z])|degree|phd|master's|masters|bachelor's"
        r"|university|college|from (?-i:[A-Z])|school|computer science|law|medicine|engineering|biology|physics"
        r"|economics|history|psychology|diploma|certification|certificate)",
        rf"i (?:{ADVERBS})(?:got|started|quit|left|lost|accepted|took|landed|changed|am starting"
        rf"|applied for)(?: \w+){{0,3}} (?:job|position|role|promotion|promoted|hired|laid off|fired|internship"
        r"|apprenticeship|career|business|company|tenure)\b",
        rf"i {ADVERBS}(?:retired|resigned|got promoted|was promoted|was laid off|got laid off|got fired"
        r"|was hired|joined (?-i:[A-Z]))",
        rf"i(?:'m| am|'ve been) {ADVERBS}(?:an? )(?!{PASSING}|{NO_BELONGING}\b|new (?:to|here)|loss|huge"
        r"|terrible|horrible|good\b|great\b|beginner (?:at|in|with) (?:this|that)|user of (?:this"
        r"|your))(?:[\w'-]+ )*?(?:[\w'-]*(?:er|or|ist|ian|ant|ent|ess|ier|eer|nurse|vet|chef|cook|coach|judge"
        r"|clerk|pilot|architect|analyst|intern|mom|mum|dad|father|mother|parent|vegan|vegetarian|pescatarian"
        r"|widow|widower|twin|veteran|founder|ceo|cto|lead|owner|postdoc|professor|apprentice|barista|nanny"
        r"|athlete|guide|monk|priest|poet|mathematician|scientist|expat|immigrant|native|citizen|orphan"
        r"|beginner|newbie|novice|freelance|freelancer|morning person|night owl|introvert|extrovert"
        r"|perfectionist|smoker|non-smoker|male|female|man|woman|girl|boy|teen|only child|person|member"
        r"|colleague|wheelchair user|user))\b",
    ),
    pattern(
        "family",
        Category.ABOUT,
        0.9,
        rf"{_WE}(?:have|had|'ve got|have got|got|raise|raised|adopted|am raising|are raising|foster) (?:only "
        rf"|just )?{_COUNT}(?: [\w-]+){{0,3}} {PEOPLE_NOUN}\b(?! (?:event|party|of (?:code|data)|process|element"
        r"|component|node|class))",
        rf"{_WE}(?:don't|do not) have (?:any )?(?:{PEOPLE_NOUN}|{PETS_NOUN})\b",
        rf"{_WERE}(?:happily |recently |newly |finally |not |still |getting |legally )*(?:married|single"
        r"|divorced|engaged|separated|widowed|pregnant|expecting|dating|in a (?:long-distance )?relationship"
        r"|a couple)\b(?! (?:to (?:the|this) idea|in (?:the|this)|line|with (?:the|my|work)))",
        rf"{_WE}(?:got|have been|'ve been) (?:married|divorced|engaged|together|separated)\b",
        rf"{_WE}(?:had|just had|are having|'re having) (?:a|our|another) (?:\w+ )?(?:baby|son|daughter|child"
        r"|girl|boy|twins)\b",
    ),
    pattern(
        "pets",
        Category.ABOUT,
        0.9,
        rf"{_WE}(?:have|own|keep|'ve got|have got|got|adopted|bought|rescued|foster|'ve adopted|raise) (?:only "
        rf"|just )?(?:{_COUNT}|my|our)(?: [\w-]+){{0,3}} {PETS_NOUN}\b",
    ),
    pattern(
        "health",
        Category.ABOUT,
        0.92,
        rf"{_IM}(?:very |severely |highly |mildly |slightly |not )?(?:allergic|lactose[- ]intolerant"
        r"|gluten[- ]intolerant|gluten[- ]free|intolerant|diabetic|asthmatic|colou?r[- ]?blind|deaf|blind"
        r"|hard of hearing|dyslexic|autistic|an? (?:vegan|vegetarian|pescatarian|ce?oeliac)|vegan|vegetarian"
        r"|pescatarian|ce?oeliac|left-handed|right-handed|ambidextrous|short-sighted|near-?sighted|far-?sighted"
        rf"|sober|epileptic|claustrophobic|afraid of|scared of|terrified of|on (?:a|the) (?:\w+[- ]){{0,3}}diet"
        r"|on (?:insulin|medication|antidepressants|blood thinners)|introverted|extroverted|in remission)\b",
        rf"{_I}(?:have|suffer from|live with|got|was diagnosed with|'ve been diagnosed with"
        rf"|have been diagnosed with|am recovering from|'ve got) (?:\w+ ){{0,2}}{CONDITION_NOUN}",
        rf"{_I}(?:take|use|inject|am taking|'m taking) (?:\w+ ){{0,4}}(?:for my|mg|insulin|ibuprofen|medication"
        r"|pills|supplements|vitamin|antihistamines|metformin|statins|inhaler)\b",
        rf"{_I}(?:can't|cannot|don't|do not|mustn't|am not allowed to|'m not allowed to|avoid) (?:eat|drink"
        r"|tolerate|have|digest|smoke|eating|drinking) (?!it\b|that\b|this\b|a (?:clue|chance|lot|problem)|any"
        r"|much|the|time|anything)\S+",
        rf"{_I}(?:wear|need) (?:\w+ )?(?:glasses|contact lenses|contacts|a hearing aid|hearing aids|a wheelchair"
        r"|braces|insoles)\b",
        rf"{_I}(?:quit|stopped|gave up|have given up|'ve given up) (?:smoking|drinking|alcohol|sugar|meat|coffee"
        r"|caffeine|vaping|gluten|dairy)\b",
        rf"{_OUR} (?:\w+ )?(?:allergy|allergies|doctor|therapist|dentist|blood pressure|diagnosis|medication"
        r"|resting heart rate)(?:'s| is| are| has)\b (?!so\b|very|not\b|really|great|acting|killing|the best"
        r"|amazing)",
    ),
    pattern(
        "belonging",
        Category.ABOUT,
        0.85,
        rf"{_WE}(?:drive|ride|own|have|'ve got|have got|bought|got|purchased|use|play on|built|sold"
        r"|lease) (?:only |just |myself |ourselves )?(?:an?|my|our|one|two|three|four|\d+|no"
        rf"|the)(?: [\w'-]+){{0,4}} {THING_NOUN}\b(?! (?:problem|issue|question|error|appointment|accident"
        r"|trouble|ride home))",
        rf"{_I}(?:drive|own|ride) (?:an?|two|three|my) (?!{NO_BELONGING}\b)\S+",
        rf"{_OUR} (?:car|bike|laptop|phone|computer|house|apartment|flat|garden|camera|printer|guitar|piano"
        r"|motorbike|van|boat|desktop|work laptop|main computer|router|nas|server|keyboard|editor|ide|terminal"
        r"|shell|os|operating system|phone number|email address|email|e-mail|website|blog|github"
        r"|github username|username|handle|license plate|licence plate|number plate)(?:'s| is| has| runs"
        r"| was built)\b (?!not\b|so\b|broken|acting|too|very|really|slow|dead|making|being|down|in the shop"
        r"|getting|stuck|full|here|a mess|messy|crashing|showing|looking|doing|great|off\b|on\b(?! \w+ \w)|that"
        r"|coming|freezing|ringing|overheating|lagging|gone|missing)",
    ),
    pattern(
        "language",
        Category.ABOUT,
        0.92,
        rf"{_I}(?:speak|understand|read|know|learn|study|am learning|'m learning|am studying|'m studying"
        r"|have been learning|'ve been learning|grew up speaking|started learning|teach myself|don't speak"
        rf"|do not speak|can't speak) (?:\w+ ){{0,3}}(?-i:(?:English|German|French|Spanish|Italian|Portuguese"
        r"|Dutch|Danish|Swedish|Norwegian|Finnish|Polish|Czech|Russian|Ukrainian|Mandarin|Cantonese|Chinese"
        r"|Taiwanese|Hokkien|Japanese|Korean|Hindi|Urdu|Arabic|Hebrew|Turkish|Greek|Welsh|Irish|Gaelic|Latin"
        r"|Thai|Vietnamese|Swahili|Esperanto|Catalan|Basque|Hungarian|Romanian|Persian|Farsi|Bengali|Tamil"
        r"|Malay|Indonesian|Tagalog|ASL|BSL))\b",
        r"(?:i can |i can also )(?:speak|read|write|understand) (?-i:[A-Z])\w+",
        rf"{_OUR} (?:native|first|second|mother|main|other) (?:language|tongue)\b(?:s)? (?:is|are)",
        rf"{_IM}(?:fluent in|bilingual|trilingual|a native (?:speaker|\w+ speaker)|learning (?:to|how to) \w+"
        r"|learning (?-i:[A-Z])\w+|teaching myself)\b",
        rf"{_I}(?:program|code|develop|mostly (?:write|code|program)) (?:\w+ )?in (?-i:[A-Z])\w*",
    ),
    pattern(
        "habit",
        Category.ABOUT,
        0.8,
        r"i (?:really |just |still |also |have |'ve )*(?:usually|always|often|rarely|seldom|generally|normally"
        r"|typically|regularly|hardly ever|sometimes|never) (?!been\b|had\b|wanted|thought|knew|wondered|seem"
        r"|feel|felt|heard|seen|tried|get (?:it|this|that|an?|the|stuck|confused)|forget|loved|liked"
        r"|have (?:trouble|problems|a hard)|end up|need|know|remember|struggle|want|think|thought|believe|mind"
        r"|expect|say|said|did\b|was\b|were\b|am\b|can\b|could\b|enjoy (?:it|that)|imagined|dreamed|dreamt"
        r"|realized|realised|find (?:it|that|this)|appreciate|love (?:it|that|when|how))[a-z]+ (?!it\b"
        r"|that\b(?! )|this\b|them\b)\S+",
        rf"{_WE}{HABIT_VERB}\b (?!it\b|that\b|this\b|them\b|me\b)[^,]{{0,80}}\b{FREQUENCY}",
        rf"{_I}(?:play|practi[sc]e) (?:the |in a |for a |for the )?(?:\w+ )?(?:piano|guitar|violin|cello|drums"
        r"|flute|saxophone|trumpet|bass|clarinet|ukulele|harp|keyboard|organ|chess|tennis|football|soccer"
        r"|basketball|badminton|squash|golf|hockey|volleyball|rugby|cricket|table tennis|padel|board games|d&d"
        r"|go|bridge|poker|yoga|judo|karate|aikido|band|orchestra|choir|handball|softball|baseball)\b",
        rf"{_I}(?:sing|volunteer|skate|climb|knit|sew|paint|garden|bake|surf|fence|row|box|sail|dance|fish"
        r"|meditate|journal|smoke|vape|brew|box) (?:in|at|with|for|on|as|my|every|about|a)\b",
        rf"{_I}(?:don't|do not) (?:smoke|drink|drive|cook|swim|own a (?:car|tv)|watch tv|have a (?:car|driver"
        r"|licen[cs]e|tv))\b(?! (?:it|that|this)\b)",
        rf"{_I}(?:wake up|get up|go to bed|start work|finish work|leave work|have lunch|have breakfast"
        r"|have dinner|go to sleep) (?:at|around|before|after|by|late|early|between) ",
        rf"{_I}(?:have )?been (?:\w+ly )?(?:playing|practi[sc]ing|painting|running|learning|volunteering"
        r"|teaching|collecting|doing|studying|cycling|swimming|dancing|knitting|writing|training|married|living"
        r"|working|making|gardening|climbing|surfing|skating|together) (?!it\b|that\b|this\b|great|well|good"
        r"|fine|ok|on (?:it|this|that|the|a|my)\b|a lot|some|so|pretty|alright|my best|better)[^,]*\b(?:for"
        r"|since)\b (?!the (?:past|last) (?:hour|few (?:hours|minutes)|day)|hours|an hour|a (?:while|bit|few)"
        r"|ages|now\b|this|that|it)\S+",
        rf"{_I}used to (?!it\b|think|that\b|be able|seeing|the\b|having)(?:be an?|live|work|play|smoke|have|own"
        r"|teach|swim|run|dance|paint|drive|study|go|be in|collect|race|sing)\b",
        rf"{_I}(?:collect|brew|commute|cycle to|walk to|bike to|drive to|take the \w+ to|work out|go to the gym"
        r"|go (?:running|swimming|jogging|climbing|hiking|cycling) (?:on|every|with|in))\b",
        rf"{_I}(?:am training for|'m training for|am saving (?:up )?for|'m saving (?:up )?for"
        r"|am writing a (?:book|novel|thesis)|'m writing a (?:book|novel|thesis)|am reading"
        r"|'m reading (?-i:[A-Z])|am building an?|'m building an?|'m developing an?|am developing an?) (?!it\b"
        r"|that\b|this\b)\S+",
        rf"{_OUR} (?:main |only |new |biggest |favou?rite )*(?:hobby|hobbies|goal|dream job|diet|routine"
        r"|morning routine|bedtime|instrument|sport|budget|rent|working hours|work hours|commute|office hours"
        r"|day off|days off)(?: for \w+(?: \w+)?)? (?:is|are|takes|was|has)\b (?!to be (?:happy|better)|not\b"
        r"|so\b|very|great)",
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
        rf"(?!{_OUR} (?:\w+ )?(?:birthday|anniversary|name))(?:{_OUR}|the"
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
        r"(?:i|we)(?:'ll| will| shall| are going to|'re going to|'m going to"
        rf"| am going to) {ADVERBS}(?:be (?!back|there|fine|ok|right|sure|honest|able)|{_GO}\b(?! (?:it"
        r"|back to you|that|this|you|if|what|how|a (?:look|try|shot|break))\b)).*",
        r"(?:i|we) (?:fly|leave|travel|move|depart|start|have|return|graduate|retire|run|land|arrive|meet|begin"
        r"|go|launch|ship|release|freeze)\b.*",
        moods=PLANNED,
        needs_date=True,
    ),
    pattern(
        "plans-to",
        Category.PLAN,
        0.8,
        rf"(?:i|we)(?:'m| am|'re| are|'ve been| have been)? {ADVERBS}(?:plan(?:ning)?|intend(?:ing)?|aim(?:ing)?"
        r"|hoping|preparing|saving up|set|scheduled|about) (?:to|on|for) (?!do (?:it|that|this)\b|it\b|that\b"
        r"|this\b|them\b|say|ask|use (?:it|this)|try (?:it|that|this)|check|keep (?:it|going|doing)|start\b\W*$"
        r"|be (?:there|back))\S+ \S+",
        rf"{_OUR} (?:plan|goal|aim|target|resolution|next step)(?: for .{{2,30}}?)? is to (?!do (?:it|that"
        r"|this)\b)\S+ \S+",
        r"the (?:plan|goal) (?:for .{2,30}? )?is to \S+ \S+ \S+",
        moods=PLANNED,
    ),
)
LAST = (
    pattern(
        "remembered", Category.INSTRUCTION, 0.75, r".{8,}", moods=frozenset({Mood.ASSERTION, Mood.PLAN, Mood.COMMAND})
    ),
)

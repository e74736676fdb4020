"""The patterns of English facts about a person: who they are, where they live, what they do, have and are used to.

The order decides: the first that matches names the fact.
"""

from apps.notes.domain.extraction.english.words import (
    ADVERBS,
    CONDITION_NOUN,
    FREQUENCY,
    HABIT_VERB,
    NO_BELONGING,
    PASSING,
    PEOPLE_NOUN,
    PETS_NOUN,
    RELATION,
    THING_NOUN,
)
from apps.notes.domain.extraction.fact import Category, pattern

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

ABOUT = (
    pattern(
        "name",
        Category.ABOUT,
        0.95,
        rf"{_OUR} (?:full |first |last |middle |sur|family |user|nick|maiden )?name(?:'s| is) (?!on\b|not\b)\S+",
        rf"i(?:'m| am) (?:called|named) {_NAME}",
        rf"i go by {_NAME}",
        rf"(?:people|friends|everyone|everybody|my friends|most people) calls? me {_NAME}",
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
        r"i(?:'m| am) (?:\d[\d.,]* ?(?:cm|m|kg|lbs?|pounds|feet|foot|ft)\b|\d'\d)",
    ),
    pattern(
        "yearly-day",
        Category.PEOPLE,
        0.9,
        rf"(?:{_OUR} [\w'-]+(?: [\w'-]+)?|{_NAME})'s? (?:birthday|anniversary|name day)(?:'s| is| falls)(?: on)? "
        r"(?=\d|the \d|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)",
    ),
    pattern(
        "home",
        Category.ABOUT,
        0.9,
        rf"{_WE}(?:live|reside|rent|grew up|come from|own a (?:house|flat|home)|lived|spent my childhood"
        rf"|was raised|were raised) {_NO_IT}(?:in|at|on|near|with|by|from|outside|close|alone|next|a|an|together"
        r"|across|under|above|abroad|between|downtown|just)\b",
        rf"{_WE}(?:moved|relocated|moved|emigrated|immigrated|settled|move) (?:back )?(?:\w+ ){{0,3}}?(?:to"
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
        rf"{_I}(?:worked (?=as|at|for|in\b)|(?:work|freelance|intern|interned|am employed"
        r"|was employed) )(?!it\b|that\b|this\b|out\b"
        r"|on (?:it|that|this|my|the(?! [\w ]{2,30}\bteam\b)|a|an)\b|around|through|hard|well\b"
        r"|better\b|like\b|perfectly|with (?:it"
        r"|that|this|you)\b|fine|too)(?:as|at|for|in|with|from|on|part|full|remotely|nights|night|shifts"
        r"|freelance|four|five|three|two|\d+|mostly|mornings|weekends|a|the|to)\b",
        rf"i(?:'m| am|'ve been| have been) {ADVERBS}(?:working|employed|self-employed|a freelance"
        r"|freelancing|interning|retired|unemployed"
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
        rf"{_OUR} (?:\w+ )?(?:job|profession|occupation|employer|company|boss|department|job title|title"
        r"|role|salary|start-?up|business|firm|field|major|degree|thesis|phd|dissertation|research"
        r"|speciali[sz]ation|university|school|office|shift|day job|side project|side hustle)(?:'s| is| has"
        r"| was| consists| makes| sells| uses| starts| ends| name is)\b (?!to\b|so\b|going|not\b|just|been"
        r"|really|very|great|good|bad|killing|what|why|that\b|important|hard|tough|stressful|too\b|done|due"
        r"|getting|driving|amazing|awesome|a (?:mess|nightmare|blast|dream|challenge|joke)|the (?:best|worst)"
        r"|pretty|always|looking|coming|doing|asking|still|now\b|crazy|busy)",
        rf"{_I}(?:study|studied|am studying|studying|graduated|majored|major|minored|hold|did|got|have|earned"
        r"|finished|completed|am finishing|dropped out|am doing|doing|am taking"
        rf"|taking) (?:\w+ ){{0,4}}(?:at (?-i:[A-Z])|in (?-i:[A-Z])|degree|phd|master's|masters|bachelor's"
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
        "taken-up",
        Category.ABOUT,
        0.78,
        rf"{_I}(?:joined|started|began|opened|founded|took up|signed up for|enrolled in) (?:an?"
        rf"|my(?: own)?|the) (?:[\w'-]+ ){{0,3}}"
        r"(?:gym|club|class|classes|course|team|group|band|choir|diet|routine|church|program"
        r"|programme|business|start-?up|company|blog"
        r"|podcast|channel|degree|internship|forum|orchestra|league|society|community|support group"
        r"|garden|studio|shop|bakery|store|lessons)\b",
        rf"{_I}(?:started|began|took up|have taken up|got into|gave up|quit) (?:playing|learning"
        r"|taking|painting|running|swimming|streaming"
        r"|writing|cycling|climbing|dancing|doing|knitting|baking|teaching|volunteering|gardening"
        r"|boxing|therapy|yoga|meditating|meditation"
        r"|pottery|photography|woodworking|surfing|skateboarding|piano|guitar|studying|working (?:as"
        r"|at|for|in)|collecting|coding|drawing"
        r"|smoking|drinking|hiking|fishing|camping|sailing|judo|karate|tennis|chess|golf)\b(?! (?:it"
        r"|this|that|them|so|about|on|the (?:game|test)s?)\b)",
    ),
    pattern(
        "family",
        Category.ABOUT,
        0.9,
        rf"{_WE}(?:have|had|got|have got|got|raise|raised|adopted|am raising|are raising|foster) (?:only "
        rf"|just )?{_COUNT}(?: [\w-]+){{0,3}} {PEOPLE_NOUN}\b(?!'| (?:event|party|of (?:code|data)|process|element"
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
        rf"{_WE}(?:have|own|keep|got|have got|got|adopted|bought|rescued|foster|adopted|raise) (?:only "
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
        rf"|have been diagnosed with|am recovering from|got) (?:\w+ ){{0,2}}{CONDITION_NOUN}",
        rf"{_I}(?:take|use|inject|am taking|taking) (?:\w+ ){{0,4}}(?:for my|mg|insulin|ibuprofen|medication"
        r"|pills|supplements|vitamin|antihistamines|metformin|statins|inhaler)\b",
        rf"{_I}(?:can't|cannot|don't|do not|mustn't|am not allowed to|not allowed to|avoid) (?:eat|drink"
        r"|tolerate|digest|smoke|eating|drinking) (?!it\b|that\b|this\b|a (?:clue|chance|lot|problem)|any"
        r"|much|the|time|anything)\S+",
        rf"{_I}(?:can't|cannot|can not) (?:drive|see|hear|walk|run|swim|fly|taste|smell)\b (?:well "
        r"|much )?(?:because|since|due|without|colou?rs?|at night|with|any ?more)",
        rf"{_I}(?:wear|need) (?:\w+ )?(?:glasses|contact lenses|contacts|a hearing aid|hearing aids|a wheelchair"
        r"|braces|insoles)\b",
        rf"{_I}(?:quit|stopped|gave up|have given up|given up) (?:smoking|drinking|alcohol|sugar|meat|coffee"
        r"|caffeine|vaping|gluten|dairy)\b",
        rf"{_OUR} (?:\w+ )?(?:allergy|allergies|doctor|therapist|dentist|blood pressure|diagnosis|medication"
        r"|resting heart rate)(?:'s| is| are| has)\b (?!so\b|very|not\b|really|great|acting|killing|the best"
        r"|amazing)",
    ),
    pattern(
        "belonging",
        Category.ABOUT,
        0.85,
        rf"{_WE}(?:drive|ride|own|have|got|have got|bought|got|purchased|use|play on|built|sold"
        r"|lease) (?:only |just |myself |ourselves )?(?:an?|my|our|one|two|three|four|\d+|no"
        rf")(?: (?!of\b|that\b|for\b|with\b)[\w'-]+){{0,4}} {THING_NOUN}\b(?! (?:problem|issue"
        r"|question|error|appointment|accident"
        r"|trouble|ride home))",
        rf"{_I}use (?-i:[A-Z])[\w.+-]*(?: \w+)? (?:for|as|on|with|every|at|in|instead)\b",
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
        rf"{_I}(?:speak|understand|read|know|learn|study|am learning|learning|am studying|studying"
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
        "name",
        Category.ABOUT,
        0.8,
        rf"i(?:'m| am) (?!I\b|OK\b|Ok\b){_NAME}(?: {_NAME})?(?:[.!,]|$| from | and i)",
    ),
    pattern(
        "habit",
        Category.ABOUT,
        0.8,
        r"i (?:really |just |still |also |have |)*(?:usually|always|often|rarely|seldom|generally|normally"
        r"|typically|regularly|hardly ever|sometimes|never) (?!been\b|had\b|wanted|thought|knew|wondered|seem"
        r"|feel|felt|heard|seen|tried|get (?:it|this|that|an?|the|stuck|confused)|forget|loved|liked"
        r"|have (?:trouble|problems|a hard)|end up|need|know|remember|struggle|want|think|thought|believe|mind"
        r"|expect|say|said|did\b|was\b|were\b|am\b|can\b|could\b|enjoy (?:it|that)|imagined|dreamed|dreamt"
        r"|realized|realised|find (?:it|that|this)|appreciate|love (?:it|that|when|how))[a-z]+ (?!it\b"
        r"|that\b(?! )|this\b|them\b)\S+",
        rf"{_WE}{HABIT_VERB}\b (?!a few|every|once|twice|a couple|in the|it\b|that\b|this\b|them\b"
        rf"|me\b)[^,]{{0,80}}\b{FREQUENCY}",
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
        r"|working|making|gardening|climbing|surfing|skating|together) (?!for\b|since\b|it\b|that\b"
        r"|this\b|great|well|good"
        r"|fine|ok|on (?:it|this|that|the|a|my)\b|a lot|some|so|pretty|alright|my best|better)[^,]*\b(?:for"
        r"|since)\b (?!the (?:past|last) (?:hour|few (?:hours|minutes)|day)|hours|an hour|a (?:while|bit|few)"
        r"|ages|now\b|this|that|it)\S+",
        rf"{_I}used to (?!it\b|think|that\b|be able|seeing|the\b|having)(?:be an?|live|work|play|smoke|have|own"
        r"|teach|swim|run|dance|paint|drive|study|go|be in|collect|race|sing)\b",
        rf"{_I}(?:collect|brew|commute|cycle to|walk to|bike to|drive to|take the \w+ to|work out|go to the gym"
        r"|go (?:running|swimming|jogging|climbing|hiking|cycling) (?:on|every|with|in))\b",
        rf"{_I}(?:am training for|training for|am saving (?:up )?for|saving (?:up )?for"
        r"|am writing a (?:book|novel|thesis)|writing a (?:book|novel|thesis)|am reading"
        r"|reading (?-i:[A-Z])|am building an?|building an?|developing an?|am developing an?) (?!it\b"
        r"|that\b|this\b)\S+",
        rf"{_OUR} (?:main |only |new |biggest |favou?rite )*(?:hobby|hobbies|goal|dream job|diet|routine"
        r"|morning routine|bedtime|instrument|sport|budget|rent|working hours|work hours|commute|office hours"
        r"|day off|days off)(?: for \w+(?: \w+)?)? (?:is|are|takes|has)\b (?!to be (?:happy|better)|not\b"
        r"|so\b|very|great)",
    ),
)

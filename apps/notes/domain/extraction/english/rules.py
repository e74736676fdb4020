"""The patterns of what is decided and asked for in English: instructions and decisions.

The order decides: the first that matches names the fact.
"""

from apps.notes.domain.extraction.english.words import ADVERBS
from apps.notes.domain.extraction.fact import ASKED_FOR, PLANNED, Category, pattern
from apps.rules.domain.statements.statement import Mood

_NAME = r"(?-i:[A-Z])[\w'-]+"
_ORDER = (
    r"(?:use|write|keep|answer|give|make|put|name|call|run|ask|add|avoid|include|start|end|stop|reply"
    r"|respond|speak|talk|explain|show|format|round|assume|prefer|send|skip|treat|wrap|sign|tell|check"
    r"|remind|list|be|provide|suggest|quote|convert|limit|leave|mark|commit|test|document|translate|refer"
    r"|address|begin|deploy|store|save|log|return|highlight|mention|double-check|verify"
    r"|summari[sz]e)\b"
)
_BASE_NOT = (
    r"(?!mind|heard|seen|been|had|tried|thought|knew|again|ever\b|said|forget (?:the|that|my)|gonna|a\b|the\b|in\b"
    r"|is\b|was\b|\w+ing\b|here|there|happy|glad|good|nice|great|fun|welcome|amazing|ready|up for"
    r"|so\b|worth|exciting|on\b|at\b|up\b|with\b|from\b|of\b|quit"
    r"|important|be (?:yourself|there|happy|true|kind)|love|too\b|give up|stop (?:believing|dreaming"
    r"|learning|trying)|forget"
    r"|underestimate|lose|believe|remember (?:who|why|how)|grateful|proud|best|better|thankful|down"
    r"|one\b|an?\b|my\b|your\b)"
)

# How something is said rather than what: of an answer, it is asked for once and meant for all.
_MANNER = (
    r"(?:emojis?|emoticons?|bullet points?|bullets|(?:bulleted|numbered) lists?|lists|tables|headings?|headers|jargon"
    r"|apologies|disclaimers?|exclamation (?:marks|points)|em[- ]dashes|filler(?: words)?|small talk|markdown"
    r"|bold(?: text)?|abbreviations|acronyms|slang|hashtags|metric(?: units)?|imperial(?: units)?|celsius|fahrenheit"
    r"|(?:24|12)-hour (?:times?|clock|format)|short (?:sentences|paragraphs)"
    r"|(?:plain|simple|british|american|us|uk) (?:english|spelling|words|language|text)"
    r"|full sentences|prose|lower ?case|technical (?:terms|language))"
)
_LANGUAGE = (
    r"(?-i:English|German|French|Spanish|Italian|Portuguese|Dutch|Danish|Swedish|Norwegian|Finnish|Polish|Czech|Russian"
    r"|Ukrainian|Mandarin|Cantonese|Chinese|Traditional Chinese|Simplified Chinese|Japanese|Korean|Hindi|Arabic|Hebrew"
    r"|Turkish|Greek|Thai|Vietnamese|Indonesian)"
)
_ANSWER = r"(?:answer|reply|respond|talk|speak|write|explain)"
_ANSWERS = (
    r"(?:answers?|repl(?:y|ies)|responses?|lists?|explanations?|messages|summaries|sentences|paragraphs|code examples"
    r"|examples|suggestions)"
)
_WHENEVER = (
    rf"(?: (?:when(?:ever)? you {_ANSWER}|when (?:answering|replying|responding|talking|speaking|writing|explaining))"
    r"(?: to)?(?: me)?)"
)
_ALWAYS = rf"(?:{_WHENEVER}| in (?:your|the) {_ANSWERS}| with me| to me| at all|,? please)*\W*$"
_PLEASE = r"(?:please |kindly |can you |could you |will you |would you |and |so |also )*(?:please )?"

INSTRUCTIONS = (
    pattern(
        "from-now-on",
        Category.INSTRUCTION,
        0.95,
        r"(?:so |and |ok(?:ay)?,? )?(?:from (?:now|here|today|this point|this moment) on(?:wards?)?"
        r"|from here on out|going forward|in (?:the )?future|henceforth|for (?:all )?future \w+"
        r"|as a (?:general )?rule|by default|as of (?:now|today))\b,? (?:please )?(?!i\b|we'll\b|i'll\b|we\b"
        r"|it\b|there\b|she\b|he\b|they\b).",
        r".{3,120}\b(?:from now on|going forward|in (?:the )?future|by default from now)\b\W*$",
        moods=frozenset({Mood.COMMAND}),
    ),
    pattern(
        "from-now-on",
        Category.INSTRUCTION,
        0.9,
        r"(?:from (?:now|here|today|this point) on(?:wards?)?|going forward|henceforth|in (?:the )?future"
        r"|as a (?:general )?rule|by default),? (?:please |you |i want you |i'd like you |all |every "
        r"|each |no |our |the "
        rf"|any |only |always |never |don't |do not |we (?:only|always|never|use|must|should) |{_ORDER}).",
        moods=ASKED_FOR | {Mood.WISH, Mood.PLAN},
    ),
    pattern(
        "standing-order",
        Category.INSTRUCTION,
        0.9,
        r"(?:please |kindly |can you |could you |will you |would you |you (?:should|must|have to|need to|can) "
        r"|and |so |but |i want you to |i need you to |i'd like you to |i would like you to |make sure (?:to"
        r"|you|that you) |be sure to |do |again, )*(?:please )?(?:always|never|under no circumstances"
        rf"|do not ever|don't ever) (?:please )?{_BASE_NOT}[a-z]+ \S",
        r"(?:please |and |also )*stop (?:apologi[sz]ing|saying|using|adding|calling me|starting"
        r"|ending|repeating|writing)\b"
        r"(?!.*\b(?:here|this|that|it|now|above)\b).*",
        r"(?:please |kindly )?(?:no )?(?:more )?\w+ (?:emojis?|emoticons?|bullet points?|jargon|apologies"
        r"|disclaimers?) (?:ever|at all|any ?more|again)\b",
        moods=ASKED_FOR | {Mood.WISH},
    ),
    pattern(
        "standing-order-for-all",
        Category.INSTRUCTION,
        0.8,
        r"(?:please |kindly |can you |could you )?(?:use|write|answer|reply|respond|speak|talk|keep|avoid|skip"
        r"|include|add|format|address|don't|do not|stop|give|give me|make|end|start|begin|sign|put|prefer|run"
        r"|call|refer|explain|leave|assume|ask|wrap|name|quote|convert|show|stick)\b.{2,90}\b(?:(?:in|for|to|of"
        r"|with|on|across|at the (?:end|start|beginning|top) of|before|after) (?:all|every|each"
        r"|any)(?: of)? (?:of )?(?:your |my |our |the |future )*(?:answers?|repl(?:y|ies)|responses?|messages?"
        r"|e?mails?|code|commits?|commit messages?|conversations?|chats?|files?|functions?|tests?|summar(?:y"
        r"|ies)|translations?|drafts?|documents?|changes?|changelogs?|pull requests?|prs?|migrations?|repos?"
        r"|projects?|quer(?:y|ies)|scripts?|recipes?|reports?|posts?|modules?|endpoints?|dates?)"
        r"|in your (?:answers|replies|responses|messages|summaries|translations|explanations|drafts)"
        r"|in this (?:project|repo|repository|codebase)|when(?:ever)? (?:i|we) (?!can\b|get\b|meet\b"
        r"|see\b)\w+|every time|each time"
        r"|unless i (?:ask|say|tell)|at all times|in my (?:emails|mails|code|documents|drafts|reports))\b",
        moods=ASKED_FOR,
    ),
    pattern(
        "way-of-answering",
        Category.INSTRUCTION,
        0.85,
        rf"{_PLEASE}(?:don't|do not|never|avoid|stop|skip|no|no more|less|fewer) (?:us(?:e|ing) |add(?:ing)? "
        r"|includ(?:e|ing) |writ(?:e|ing) |put(?:ting)? )?(?:any |the |so many |too many |your |more )?"
        rf"{_MANNER}(?: (?:and|or) {_MANNER})?{_ALWAYS}",
        rf"{_PLEASE}(?:don't|do not|stop) apologi[sz](?:e|ing)(?: (?:so much|so often|all the time))?{_ALWAYS}",
        rf"{_PLEASE}(?:use|stick to|prefer) (?:more |only )?{_MANNER}(?: (?:and|or) {_MANNER})?{_ALWAYS}",
        rf"{_PLEASE}(?:keep|make) your {_ANSWERS} \w+(?: (?:and|but) \w+)?{_ALWAYS}",
        rf"{_PLEASE}{_ANSWER}(?: to)?(?: me)?(?: only)? (?:in|with|without|using) (?:{_MANNER}|{_LANGUAGE}){_ALWAYS}",
        rf"{_PLEASE}(?!(?:don't|do not) (?:worry|hesitate|be|forget)|be\b)(?:don't |do not )?"
        rf"(?:{_ORDER}|mix|repeat|cite)(?!.*\b(?:this|that|these|those|here|it)\b) .{{2,60}}{_WHENEVER}\W*$",
        moods=ASKED_FOR | {Mood.WISH},
    ),
    pattern(
        "whenever",
        Category.INSTRUCTION,
        0.85,
        r"(?:whenever|every time|each time|any time|anytime) (?:i|you|we|there|a|an|the)\b[^,]{3,80}, "
        rf"(?:please |you should |you must )?(?:always |never |just |only |first )?(?:don't |do not )?{_ORDER} ",
        rf"(?:when|if) (?:i|you|we) [^,]{{3,80}}, (?:please )?(?:always|never|don't ever|only ever) {_ORDER}",
        r"when (?:i|you|we) (?:ask|write|send|say|give|paste|share|answer|reply|review|explain"
        rf"|translate|commit)\b[^,]{{0,80}}, (?:please )?(?:don't |do not )?{_ORDER} ",
        moods=ASKED_FOR | {Mood.REPORT, Mood.WISH, Mood.PLAN},
    ),
    pattern(
        "remember-to",
        Category.INSTRUCTION,
        0.8,
        r"(?:please |and |also )*(?:remember|don't forget|do not forget|make sure|make it a (?:rule"
        r"|habit)) (?:to (?:always |never )?)(?=.*\b(?:always|never|every|each|all|any|whenever|when|before"
        r"|after|me|my|our|future)\b).{3,}",
        moods=frozenset({Mood.COMMAND, Mood.ASSERTION, Mood.CONDITION}),
    ),
    pattern(
        "address",
        Category.INSTRUCTION,
        0.85,
        rf"(?:please |just |you can |you may |feel free to |and |but )*(?:call|address) me {_NAME}",
        r"(?:please |just |you can |and |but )*(?:refer to|address) me (?:as|by|with)\b.{2,}",
        r"(?:please )?use (?:the pronouns |my pronouns )?(?:they/them|she/her|he/him)",
        moods=ASKED_FOR | {Mood.PLAN},
    ),
    pattern(
        "team-rule",
        Category.INSTRUCTION,
        0.75,
        r"(?:in (?:this|our) (?:project|repo|team|codebase),? )?we (?:always|never|only ever"
        r"|don't ever) (?!have been|been|had|wanted|thought|knew|seem|know|get to|go (?:to|on)|eat|have (?:so|a"
        r"|such|fun))\w+ \S",
        r"the (?:api|backend|server|app|client|ui|build|ci|code|frontend|readme|changelog|tests"
        r"|docs) (?:must|may never|has to|have to"
        r"|should (?:always|never)) \w+ \S",
        r"(?:all|every|each|any|no) (?:new |public |open |of our |our |code |database |pull |api "
        r"|commit )*(?:endpoints?|functions?|tests?|commits?|messages|migrations?|pull requests?|requests?|prs?"
        r"|branch(?:es)?|tables?|modules?|files?|dates?|times?|answers?|repl(?:y|ies)|emails?|changes?"
        r"|releases?|secrets?|classes|apis?|reviews?|tickets?|documents?|invoices?|reports?)\b.{0,40}\b(?:must"
        r"|should|needs? to|have to|has to|shall|may not|can't|cannot)\b(?: not| never)? (?!have been"
        r"|be (?:there|fine|ok|good|working))\w+",
        moods=ASKED_FOR,
    ),
)

DECISIONS = (
    pattern(
        "decided",
        Category.DECISION,
        0.9,
        rf"(?:so |and |ok(?:ay)?,? |in the end,? |after (?:\w+ ){{1,6}}?)*(?:we|i|the team|our team"
        r"|(?-i:[A-Z])\w+ and i|my (?:wife"
        rf"|husband|partner) and i)(?:'ve| have| has|'d)? {ADVERBS}(?:decided|agreed|settled|opted|chose|chosen"
        r"|concluded|voted|resolved|committed) (?!to (?:just |finally |also )?(?:spend|go|take|try"
        r"|give|see|watch|have|get|check|stay|relax|visit|call|ask|bring|show|share|let|challenge|do"
        r"|make (?:a|some|dinner)|be|help|keep going|reach out)\b)(?:to|on|for|that|against|not|with"
        r"|in favou?r"
        r"|as a team|together|unanimously|never)\b(?! (?:a walk|a run|a hike|a swim|dinner|lunch|it|this|that"
        r"|them|you|him|her|my|our)\b)",
        r"(?:we|i|the team)(?:'ve| have)? (?:finally |now |just )?(?:chose|chosen|picked|selected) (?!up\b|it\b"
        r"|that\b|this\b|out\b|them\b)\S+",
        r"(?:the|our|my) (?:final )?(?:decision|verdict|conclusion|choice|agreement)(?: (?:on|about|for"
        r"|regarding) .{2,40}?)? (?:is|was)\b(?: now| to| that)? (?!up to|yours|made\b|hard|difficult|not easy)",
        r"(?:final )?(?:decision|decided|agreed|resolved|verdict): .{4,}",
        r"it(?:'s| is| was| has been) (?:now |been |finally )?(?:decided|settled|agreed)(?: that|:|,) .{4,}",
        r"(?:so )?(?:we|i)(?:'re| are|'m| am) (?:now |officially |definitely )?(?:going|gone|sticking"
        r"|moving ahead|moving forward|proceeding|sticking) with (?!it\b|that\b|this\b|them\b|you\b|my\b"
        r"|the (?:first|second|third|last|flow)\b|option\b|her\b|him\b)",
        r"(?:so )?(?:we|i)(?:'ll| will) (?:go with|stick with|stay with|settle on|stick to|use|drop|keep using"
        r"|standardi[sz]e on|switch to|migrate to|build (?:it|this) (?:in|with|on)|host|deploy|not (?:use"
        r"|support|ship)) (?!it\b|that\b|this\b|them\b|you\b|your\b|the (?:first|second|third|last|former"
        r"|latter|one)\b|option\b|these\b|those\b|her\b|him\b)",
        r"(?:so )?we (?:now )?go with (?!it\b|that\b|this\b|them\b|you\b|the (?:first|second|third|last|flow)\b"
        r"|option\b|her\b|him\b|our\b|my\b)",
        moods=PLANNED,
    ),
    pattern(
        "lets",
        Category.DECISION,
        0.8,
        r"(?:so |ok(?:ay)?,? |alright,? |right,? |then |and |yes,? |in that case,? |fine,? |great,? "
        r"|good,? )*let(?:'s| us) (?:just |then |definitely |all )?(?:go with|go for|use|stick with|stick to"
        r"|settle on|settle for|standardi[sz]e on|switch to|move to|migrate to|keep(?! \w+ing\b| it\b"
        r"| in\b| the (?:good|momentum|spirit)\b)|drop|not use|not support"
        r"|adopt|choose|pick|call (?:it|the|this)|name (?:it|the|this)|host|deploy|ship|store|target|avoid"
        r"|postpone|release|build (?:it|this|the \w+) (?:in|with|on))\b(?: |$)(?!it\b(?! [A-Z\"])|that\b"
        r"|this\b(?! (?:project|app|library|tool|package|repo) )|them\b|going\b|in touch|you\b|your\b"
        r"|the (?:first|second|third|last|former|latter|one|same|above|other)\b|option\b|these\b|those\b"
        r"|things\b|working\b|trying\b|a walk|each other|our\b|a (?:for|while|loop|regex|list|dict|simple"
        r"|different|better|more)\b|one\b|moving\b|pushing\b|the conversation|up\b|talking)",
    ),
    pattern(
        "chose-technology",
        Category.DECISION,
        0.7,
        r"(?:we|the team|our team)(?:'ve| have)? (?:just |recently |finally |already |now "
        r"|officially )*(?:switched|migrated|moved|standardi[sz]ed|upgraded|converted|ported"
        r"|rewrote)\b.{0,50}\b(?:to|on|in|from)\b (?!bed|a new (?:house|home|flat|apartment|city|place)"
        r"|(?:the )?(?:city|country|suburbs|countryside))",
        r"(?:we|our team|the team|our (?:backend|frontend|app|api|stack|service|server|site|website|pipeline"
        r"|database|infrastructure|ci)) (?:now |currently |already |only )*(?:uses?|runs? on|is written in"
        r"|is built (?:with|on|in)|is hosted on|deploys? (?:to|on|with|via|from)|relies on|depends on) (?!it\b"
        r"|that\b|this\b|them\b|to\b)",
        r"(?:the|our|my) (?:\w+ )?(?:database|backend|frontend|stack|project|api|app|repo|repository|codebase"
        r"|server|service|site|website|pipeline|ci|primary key|default branch|main branch"
        r"|package manager) (?:is (?:written|built|hosted|deployed|managed|based|running|called|named|licensed)"
        r"|uses|runs on|lives (?:in|on|at)) (?!it\b|that\b|this\b)",
    ),
)

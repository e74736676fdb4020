"""The words by which English sentences are read, each list in one place."""

from apps.rules.domain.wordlists import words

# Openers that say nothing about the matter. What follows a correction replaces what was said before.
CORRECTIONS = (
    r"(?:oh,? |oops,? |hmm,? )?(?:(?:i'm |i am |so )?sorry|oops|apologies|wait|no(?=,)|nope|correction"
    r"|(?:scratch|scrap|strike|forget|ignore) that|my mistake"
    r"|my bad|actually|in fact|as a matter of fact|rather|on second thought)\b",
    r"i (?:was|got (?:it|that|this)|had (?:it|that|this)) (?:wrong|mistaken|mixed up"
    r"|confused)\b(?: about [^,;:.]+(?=[,;:]))?",
    r"i (?:got|had) [^,;:.]{1,40} wrong\b",
    r"(?:that|it|this) should (?:be|read|say|have been|have read|have said)\b",
    r"(?:i )?(?:just )?(?:checked|double[- ]checked|looked it up)\b(?=[,:;])",
    r"i (?:meant|mean|misspoke|misremembered|made a mistake)\b(?: to (?:say|write))?",
    r"i (?:had )?(?:misread|mistyped|misspelled|miscounted|misheard|mixed up|confused|looked at|read|wrote"
    r"|said|typed|copied|mistook)\b[^:;,.]*(?=[:;,])",
    r"(?:it |as it )?turn(?:s|ed) out\b",
)
ANNOUNCEMENTS = (
    r"(?:update|fyi|news|note|reminder|heads[- ]up|by the way|btw|just so you know|for the record"
    r"|for your information"
    r"|one more thing|if anyone asks|as of today|as you know|good news|bad news|well|ok|okay|hey|hi"
    r"|hello|so|and|but|oh|yes|yeah|also note)\b",
    r"(?:please |kindly )?(?:note|remember|be aware|keep in mind|bear in mind|mind)\b(?: that)?(?=[,:]? (?:the"
    r"|my|our|i|we|it|user)\b)",
    r"(?:can|could|would|will) you (?:please )?(?:note|remember|save|store|record|write)\b(?: down)?(?: that)?",
    r"(?:did|have) i (?:already )?(?:tell|told|mention|mentioned|say|said)\b(?: to)?(?: you)?(?: already)?(?: that)?",
    r"i (?:already |once )?(?:told|mentioned to) you\b(?: that)?",
    r"i (?:just |recently )?(?:found out|learned|learnt|realised|realized|noticed|saw|got word|heard back"
    r"|was informed)"
    r" (?:that|(?=(?:the|my|our|i|we|user)\b))",
    r"[\w' ]{0,40}\b(?:tests?|testing|results?|scans?|bloods|x-rays?) (?:showed|shows?|confirmed|revealed|says?|said)\b"
    r"(?: that)?",
    # What a person in charge says is as good as asserted.
    r"(?:the|my|our|his|her) (?:doctor|gp|dentist|vet|nurse|surgeon|specialist|therapist|physio|pharmacist"
    r"|optician|mechanic"
    r"|landlord|lawyer|notary|accountant|bank|insurance|insurer|teacher|school|coach|boss|manager|contractor|plumber"
    r"|electrician|airline|hotel|clinic|hospital|lab|court|city|town|council|office|agency|provider|supplier|vendor"
    r"|support|hr|team lead|architect) (?:just |has |now )?(?:said|says|confirmed|confirms|told (?:me|us)"
    r"|tells (?:me|us)"
    r"|wrote|writes|called to say|informed (?:me|us)|announced)\b(?: that)?",
)
QUESTION_WORDS = words("what where when who whom whose which why how")
AUXILIARIES = words(
    """is are am was were do does did has have had can could will would shall should may might must isn't aren't wasn't
    weren't don't doesn't didn't hasn't haven't hadn't can't couldn't won't wouldn't shouldn't"""
)
# An order to the one who is spoken to begins with one of these, or with "please", "always", "never", "don't".
IMPERATIVES = words(
    """call send use give keep remember ask write answer speak reply respond avoid show stop include add put make let
    tell explain address refer book order remind treat format suggest recommend list start begin end prefer sort
    translate mention skip leave bring set turn switch check assume"""
)
DOUBTS = (
    r"\b(?:maybe|perhaps|possibly|probably|might|someday|somehow|supposedly|allegedly|presumably"
    r"|hypothetically|must be|must have been)\b"
)
CONDITIONS = (
    r"\b(?:if|unless|provided that|providing|assuming|suppose|supposing|imagine|in case|otherwise)\b",
    r"\b(?:would|could)\b(?! (?:you|like|love|rather|prefer|not like|hate))",
    r"\b(?:i|you|he|she|it|we|they|user)'d\b(?! (?:like|love|rather|prefer|better|been))",
    r"\bmay (?:be|have|get|go|move|take|need|become|change|start|stop|not)\b",
)
WISHES = (
    r"\b(?:wish|wishes|wished|hope|hopes|hoping|hoped|dreams?|dreaming|longs? to|longing|yearns?|fancies)\b",
    r"\b(?:would|'d) (?:really |so )?(?:like|love)\b",
    r"\bwants?(?: \w+)? to\b(?! be (?:called|addressed|reminded|informed))",
    r"\b(?:wanted|keen|eager|look(?:s|ing)? forward) to\b",
    r"\bcan(?:'t|not) wait\b",
)
PLANS = (
    r"\b(?:am|is|are|'m|'s|'re|was|were) (?:not )?(?:going to|about to|gonna|set to"
    r"|due to) (?=(?-i:[a-z]))(?!the\b|a\b|an\b|my\b|our\b|his\b|her\b|work\b|school\b|bed\b)",
    r"\bgoing to (?=(?-i:[a-z]))(?!the\b|a\b|an\b|my\b|our\b|his\b|her\b|work\b|school\b|bed\b)",
    r"\b(?:plan|plans|planning|planned|intend|intends|intending|aim|aims|aiming|mean|means|hope|expect"
    r"|expects) (?:to|on)\b",
    r"\b(?:considering|contemplating|thinking (?:of|about)|debating|toying with|tempted to|ready to|thinks? of)\b",
    r"\b(?:has|have|'ve) (?:set|picked|chosen) .* as the (?:date|day|time)\b",
    r"\b(?:i|we|he|she|they|user|who)(?:'ll| will| shall)\b",
)
# Who is said to say, think or guess something; of the speaker only what is unsure.
REPORTS = (
    r"\b(?:claims?|claimed|thinks?|thought|believes?|believed|assumes?|assumed|suspects?|suspected|guesse?s?"
    r"|guessed|reckons?|swears?|swore|insists?|insisted|supposes?|supposed|imagines?|heard|hears|convinced"
    r"|rumou?rs?|gossip|says?|said|saying|tells? (?:everyone|everybody|people|him|her|them)|pretends?|jokes?"
    r"|joked|fears?|worr(?:y|ies)|keeps? (?:saying|telling)|according to (?!(?:the|my|our|his|her) (?:letter"
    r"|message|text|mail|email|note|website|site|page|calendar|schedule|doctor|contract|invoice|ticket|label"
    r"|sign|plan|booking|confirmation|doc|docs|readme|config|app))|supposedly|allegedly|remembers?|suggests?"
    r"|suggested|doubts?)\b"
)
PAST_MARKS = (
    r"\bused to\b",
    r"\b(?:formerly|previously|once|originally|back then|in those days|at the time|earlier|before that|in the past)\b",
    r"\b(?:last|the previous) (?:year|month|week|summer|winter|spring|autumn|fall|season|term|semester|job|decade)\b",
    r"\bas (?:a|an) (?:child|kid|boy|girl|teenager|student|baby|teen|toddler)\b",
    r"\b(?:until|till|up to) (?:the )?(?:\d{4}|last|recently|yesterday)\b",
    r"\b(?:years|months|weeks|days|decades) ago\b",
    r"\b(?:my|our|his|her|their|user's) (?:ex|late|former|old|last|previous)\b",
)
# Words that say that something has changed.
CHANGE_WORDS = (
    r"\b(?:now|nowadays|these days|currently|no longer|not any ?more|any ?more|any longer|not any longer|again"
    r"|instead|after all|since|from (?:now|today|tomorrow|this|next|the next)|as of|by now|meanwhile|at last|finally"
    r"|revised|updated|in the meantime|back)\b"
)
ADDITIVE_WORDS = (
    r"\b(?:also|too|as well|another|additional(?:ly)?|in addition|besides|plus|extra|one more|a second"
    r"|a third|both|else|further|moreover|along with|(?<!each )(?<!the )other|sometimes|occasionally)\b"
)
BOUNDS = (
    r"\b(?:on|at|during|in|over) (?:the )?(?:weekdays?|weekends?|working days|holidays|school days|winter"
    r"|summer|spring|autumn"
    r"|fall|morning|mornings|evening|evenings|afternoons?|nights?|night|lunch|breakfast|dinner|mondays"
    r"|tuesdays|wednesdays"
    r"|thursdays|fridays|saturdays|sundays|planes?|trains?|vacation|ramadan|lent)\b",
    r"\b(?:in|during|for|of) (?:january|february|march|april|may|june|july|august|september|october|november"
    r"|december)\b",
    r"\b(?:in|during|for|until|till|since|by|before|after) (?:19|20)\d\d\b",
    r"\bfrom \w+ (?:to|until|till) \w+\b",
    r"\b(?:this|next|last) (?:year|month|week|season|term|semester|quarter|summer|winter|spring|autumn)(?:'s)?\b",
    r"\bwhen(?:ever)? \w+",
    r"\b(?:while|during) \w+",
    r"\bas (?:a|an) (?:child|kid|student|teenager)\b",
    r"^(?:in|on|at|for|with|during|by|under) (?:the |my |our |a |an )?[\w.'-]+(?: [\w.'-]+){0,3}(?:,| (?=(?:i"
    r"|we|he|she|they|it|the|my|our)\b))",
)
# Words without which the patterns above cannot match, where these have others as well; "'d" has the word "d".
CONDITION_TRIGGERS = words(
    """if unless provided providing assuming suppose supposing imagine case otherwise would could d may"""
)
DOUBT_TRIGGERS = words(
    """maybe perhaps possibly probably might someday somehow supposedly allegedly presumably hypothetically must"""
)
WISH_TRIGGERS = words(
    """wish wishes wished hope hopes hoping hoped dream dreams dreaming long longs longing yearn yearns fancies would d
    want wants wanted keen eager look looks looking wait"""
)
WONDER_TRIGGERS = words("wonder wonders wondering wondered sure unsure know idea forget forgot forgotten")
CHANGE_TRIGGERS = words(
    """now nowadays days currently longer more anymore again instead all since from as meanwhile last finally revised
    updated meantime back"""
)
ADDITIVE_TRIGGERS = words(
    """also too well another additional additionally addition besides plus extra more second third both else further
    moreover along other sometimes occasionally"""
)
PAST_STATE_TRIGGERS = words("was were lived worked resided stayed studied attended wasn weren been")
PLAN_TRIGGERS = words(
    """going gonna set due about plan plans planning planned intend intends intending aim aims aiming mean means hope
    expect expects considering contemplating thinking think thinks debating toying tempted ready date day time ll will
    shall"""
)
REPORT_TRIGGERS = words(
    """claim claims claimed think thinks thought believe believes believed assume assumes assumed suspect suspects
    suspected guess guesses guessed guesse reckon reckons swear swears swore insist insists insisted suppose supposes
    supposed imagine imagines heard hears convinced rumor rumors rumour rumours gossip say says said saying tell tells
    pretend pretends joke jokes joked fear fears worry worries keep keeps according supposedly allegedly remember
    remembers suggest suggests suggested doubt doubts"""
)
PAST_TRIGGERS = words(
    """used formerly previously once originally back those time earlier before past last previous as until till up ago
    ex late former old"""
)
# In place of what is no word: a year, a preposition at the beginning.
MARKED = words("#")
BOUND_TRIGGERS = MARKED | words(
    """weekday weekdays weekend weekends working holidays school winter summer spring autumn fall morning mornings
    evening evenings afternoon afternoons night nights lunch breakfast dinner mondays tuesdays wednesdays thursdays
    fridays saturdays sundays plane planes train trains vacation ramadan lent january february march april may june
    july august september october november december from this next last when whenever while during as"""
)

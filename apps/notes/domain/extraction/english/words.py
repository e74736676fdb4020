"""English words that the patterns of facts are made of."""

RELATION = (
    r"(?:(?:older|younger|big|little|elder|eldest|oldest|youngest|twin|best|close|good|old|new|ex|late|step"
    r"|half|first|second|former"
    r"|only|dear|middle|other)[- ])*"
    r"(?:step|grand|great-?|half-?|ex-?|god)?(?:mother|father|mom|mum|mommy|mama|dad|daddy|papa|parents?"
    r"|brothers?|sisters?|siblings?|sons?"
    r"|daughters?|child(?:ren)?|kids?|wife|husband|spouse|partner|girlfriend|boyfriend|fianc[eé]e?|twins?"
    r"|bab(?:y|ies)|aunt|uncle"
    r"|cousins?|nieces?|nephews?|gran(?:dma|dpa|ny)?|grandparents?|in-laws|(?:mother|father|brother|sister|son"
    r"|daughter)-in-law"
    r"|friends?|flatmates?|room-?mates?|housemates?|neighbou?rs?|co-?workers?|colleagues?|team-?mates?|boss"
    r"|manager|supervisor|mentor"
    r"|team lead|tech lead|cto|ceo|co-?founder|business partner|assistant|intern|landlord|landlady|doctor|gp"
    r"|dentist|therapist|vet"
    r"|physio|psychiatrist|cardiologist|lawyer|accountant|teacher|tutor|coach|trainer|professor|advisor|adviser"
    r"|classmate|client"
    r"|hairdresser|nanny|babysitter|godfather|godmother|goddaughter|godson|product owner|scrum master|designer)"
)
PET = (
    r"(?:(?:old|new|little|black|white|grey|other|rescue|two|three) )*(?:dogs?|cats?|pup(?:py|pies|s)?|kittens?"
    r"|rabbits?|bunny|hamsters?"
    r"|guinea pigs?|parrots?|horses?|pon(?:y|ies)|turtles?|tortoises?|goldfish|pets?|snake|lizard|budgie|ferret"
    r"|chickens?|hens)"
)
ADVERBS = (
    r"(?:(?:really|actually|also|still|just|now|currently|already|usually|mostly|mainly|only|even|absolutely"
    r"|totally|quite|personally"
    r"|generally|definitely|honestly|both|all|recently|finally|particularly|especially|truly|have|'ve|much"
    r"|strongly|pretty|so|very"
    r"|always|genuinely|normally|typically|simply|kind of|kinda|sort of|secretly|originally|basically"
    r"|officially|ha(?:ve|s) been"
    r"|too|happily|proudly|clearly|deeply|greatly|rather|never|ever|do|would|probably) )*"
)
# After "I am a": what says nothing lasting.
PASSING = (
    r"(?:bit|little|tad|lot|mess|fan|huge|big|bigger|few|couple|touch|wreck|fool|idiot|genius|sucker|goner"
    r"|moron|believer|step|day|week|month"
    r"|minute|second|fraid|work in progress|firm believer|loss|million|hundred)\b"
)
# What a person has for a while, or what is no thing.
NO_BELONGING = (
    r"(?:question|problem|issue|idea|bug|meeting|feeling|headache|cold|task|file|list|function|class|variable"
    r"|script|table|column|error"
    r"|request|doubt|suggestion|look|plan|point|chance|minute|moment|lot|bit|few|couple|hard|thought|favou?r"
    r"|similar|good|great|bad|nice"
    r"|blast|ball|wonderful|lovely|tough|long|busy|rough|quick|small question|follow|string|dataframe|component"
    r"|code|number|array|query"
    r"|conversation|talk|chat|call|test|interview|deadline|exam|appointment|fever|flu|hangover|sense|hunch"
    r"|guess|way|story|dream|crush"
    r"|date|day|week|weekend|evening|morning|time|fun|break|rest|reason|choice|option|say|clue|picture|photo"
    r"|update|news|surprise)"
)
OBJECT = (
    r"(?!(?:it|that|this|these|those|them|him|her|you|your|how|what|when you|where|the (?:idea|sound|way|look|first"
    r"|second|third|last|new|answer|result|version|thought|fact|vibe|colors?|colours?|photo|picture|pic|painting"
    r"|name|design|enthusiasm|energy|attitude)|all (?:of )?(?:it|that|this|the)|the \w+ (?:of|and|you"
    r"|it|they|in|on)|everything|both|hearing|seeing (?:you"
    r"|your)|to (?:hear|see|know|help|think|say|chat|learn more)|talking|chatting|such|nothing|to\W*$"
    r"|one|some of|any)\b)"
)
PEOPLE_NOUN = (
    r"(?:kids?|children|child|sons?|daughters?|brothers?|sisters?|siblings?|twins?|cousins?|nieces?|nephews?"
    r"|grandchildren|grandkids|grandsons?|granddaughters?|stepsons?|stepdaughters?|step-?kids)"
)
PETS_NOUN = (
    r"(?:dogs?|cats?|pup(?:py|pies|s)?|kittens?|rabbits?|hamsters?|guinea pigs?|parrots?|horses?|pon(?:y|ies)|turtles?"
    r"|tortoises?|goldfish|fish|pets?|snakes?|lizards?|chickens?|hens|ferrets?|budgies?)"
)
CONDITION_NOUN = (
    r"(?:asthma|diabetes|(?:type (?:1|2|one|two) )diabetes|adhd|add|autism|dyslexia|migraines?|allerg(?:y|ies)"
    r"|arthritis|epilepsy|anxiety"
    r"|depression|insomnia|eczema|psoriasis|ce?oeliac(?: disease)?|ibs|crohn's(?: disease)?|hypertension"
    r"|high blood pressure|low blood pressure"
    r"|high cholesterol|tinnitus|scoliosis|a (?:heart|thyroid|kidney|back|knee|skin) (?:condition|problem"
    r"|disease)|a bad (?:back|knee|hip|shoulder)"
    r"|a pacemaker|a hearing aid|glaucoma|hay fever|sleep apn(?:o)?ea|ptsd|ocd|endometriosis"
    r"|an? (?:\w+ )?(?:allergy|intolerance))"
)
THING_NOUN = (
    r"(?:cars?|bikes?|bicycles?|motorbikes?|motorcycles?|scooters?|van|truck|suv|e-bike|tesla|boat|laptops?"
    r"|macbook(?: \w+)?|desktop|pc|computer|phone|iphone(?: \w+)?"
    r"|pixel(?: \w+)?|tablet|ipad|printer|3d printer|camera|house|home|flat|apartment|condo|cabin|cottage"
    r"|garden|allotment|balcony|garage"
    r"|piano|guitar|violin|cello|ukulele|drum kit|telescope|nas|server|raspberry pi|kindle|watch|smartwatch"
    r"|air ?fryer|espresso machine"
    r"|coffee machine|sewing machine|record player|bakery|shop|store|company|business|startup|blog|podcast"
    r"|channel|farm|studio|restaurant"
    r"|caf[eé]|degree|phd|master's|bachelor's|diploma|licen[cs]e|tattoos?|scar|passport|visa|citizenship"
    r"|collection|membership|subscription)"
)
HABIT_VERB = (
    r"(?:go|get|wake|eat|drink|cook|bake|run|jog|swim|cycle|bike|walk|drive|commute|take|do|read|write|play"
    r"|practi[sc]e|work|meditate|train|exercise|work out"
    r"|lift|sleep|nap|volunteer|teach|watch|listen|visit|call|have|make|journal|paint|draw|study|attend|fast"
    r"|skip|travel|hike|climb|ski|garden|dance|sing|meet|buy|order|start|pray|smoke|vape|use|wear|sketch|knit"
    r"|sew|fish|surf|skate)"
)
FREQUENCY = (
    r"(?:every (?:other |single |second )?(?:day|morning|evening|night|week|weekend|month|year|summer|winter"
    r"|spring|autumn|fall|monday|tuesday|wednesday|thursday|friday|saturday|sunday|christmas)"
    r"|(?:on )?(?:mondays|tuesdays|wednesdays|thursdays|fridays|saturdays|sundays|weekdays|weekends)\b"
    r"|at weekends|daily|weekly"
    r"|(?:once|twice|\d+ times|three times|four times|five times|several times|a couple of times"
    r"|a few times) (?:a|per|each) (?:day|week|month|year)"
    r"|(?:a|per|each) (?:day|week)\b|in the (?:mornings?|evenings?|afternoons?)|before (?:work|bed|breakfast)"
    r"|after (?:work|dinner|lunch)|for a living|in my (?:free|spare) time|all year round)"
)
# Adjectives of the moment: "my boss is angry".
MOMENT = (
    r"(?:our|my|angry|mad|tired|busy|here|there|late|asleep|awake|right|wrong|happy|sad|fine|ok(?:ay)?|great|amazing"
    r"|awesome|good|so|very|really|too|not"
    r"|calling|coming|waiting|asking|telling|saying|trying|going|being|having|getting(?! married)|doing|making"
    r"|looking|just|all|on (?:the|her|his)|out|away|back|always|upset"
    r"|proud|excited|sick|ill|lovely|nice|adorable|cute|sweet|beautiful|funny|the best|my (?:everything|rock"
    r"|world|life)|super|such|sleeping|also|still|thinking|like|ready|worried|that|what|important|everything"
    r"|in (?:a|the) (?:meeting|shower)|incredible|wonderful|supportive|there for|one of)"
)

"""Function words: which ones a question can do without, and by which ones a language is recognised.

A few dozen of the most frequent words settle the language of a sentence, and a word that may carry the
meaning of a question ("may" is a month) is better kept in it.
"""

_ENGLISH = """
    a an the this that these those there here and or but nor if then than so because while although
    though of in on at to from by with about as into onto for over under up down out off through during
    between among before after since until upon within without against toward towards via per i me my
    mine myself you your yours yourself he him his himself she her hers herself it its itself we us our
    ours ourselves they them their theirs themselves one ones someone anyone everyone somebody anybody
    something anything everything nothing nobody who whom whose what which when where why how whoever
    whatever whichever whenever wherever am is are was were be been being isnt arent wasnt werent aint
    do does did doing done dont doesnt didnt have has had having havent hasnt hadnt can could cant
    couldnt cannot will would wont wouldnt shall should shouldnt might must mustnt im ive youre youve
    youll weve theyre theyve theyd theyll thats whats whos wheres not no yes any some all both each
    either neither every few many much more most other another such same own only just very too also
    even still yet again ever never always quite rather really please tell let lets say says said know
"""

STOPWORDS = frozenset(_ENGLISH.split())

# Those of the languages below that say something in English.
_ENGLISH_TOO = """
    ale ben bent bin come comment con dan den die dig dine door dos era fait ham hat hay hem hen hoe kim men mere met
    pas plus pod pour sin sit son ten till ton tout van war
"""

ENGLISH_TOO = frozenset(_ENGLISH_TOO.split())

FUNCTION_WORDS: dict[str, str] = {
    "german": """
        der die das den dem des ein eine einen einem einer eines und oder aber nicht kein keine ich du er
        sie es wir ihr mich mir dich dir ihn ihm uns euch mein meine dein deine sein seine unser ist sind
        war waren bin bist wird werden wurde hat habe haben hatte kann muss soll mit von vom zu zum zur im
        in auf aus bei nach für über unter durch wie was wer wo wann warum welche welcher auch noch nur
        schon sehr dass wenn weil als am an
    """,
    "french": """
        le la les un une des du de et ou mais ne pas plus je tu il elle on nous vous ils elles me te se
        mon ma mes ton ta tes son sa ses notre votre leur leurs est sont était suis es ai as a avons avez
        ont été être avoir fait dans sur sous avec pour par sans chez en au aux ce cet cette ces qui que
        quoi où quand comment pourquoi quel quelle très aussi comme si bien tout tous
    """,
    "spanish": """
        el la los las un una unos unas y o pero no yo tú él ella nosotros ellos ellas me te se nos le les
        lo mi mis tu tus su sus es son era eran fue soy eres está están estaba ha han había he hay ser
        estar de del al a en con por para sin sobre entre que qué quién quien cuándo cuando dónde donde
        cómo como cuál porque muy más también este esta estos estas ese esa
    """,
    "italian": """
        il lo la i gli le un uno una e o ma non io tu lui lei noi voi loro mi ti si ci vi mio mia tuo tua
        suo sua nostro è sono era erano sei siamo ha hanno ho hai aveva essere avere di del della dei
        delle da dal dalla in nel nella su sul sulla con per tra fra a al alla ai che chi cosa quando dove
        come perché quale molto più anche questo questa questi quello quella
    """,
    "portuguese": """
        o a os as um uma uns umas e ou mas não eu tu ele ela nós eles elas você vocês me te se nos lhe meu
        minha teu tua seu sua seus suas é são era eram foi sou está estão estava tem têm tinha há ser
        estar ter de do da dos das em no na nos nas com por para pelo pela sem sobre que quem quando onde
        como porque qual muito mais também ao este esta isso isto
    """,
    "dutch": """
        de het een en of maar niet geen ik jij je hij zij ze wij we jullie mij me hem haar hen ons mijn
        jouw zijn hun onze is was waren ben bent wordt worden werd heeft heb hebben had kan moet zal van
        voor met op in aan uit bij naar door over onder te om dat die dit deze er wat wie waar wanneer
        waarom hoe welke ook nog wel heel als dan
    """,
    "swedish": """
        en ett den det de och eller men inte ingen jag du han hon vi ni mig dig honom henne oss er dem min
        mitt mina din ditt dina sin sitt sina vår är var varit blir blev har hade kan ska skulle måste av
        för med på i till från om under över efter genom att som vad vem var när varför hur vilken vilka
        också mycket mer så när alla
    """,
    "danish": """
        en et den det de og eller men ikke ingen jeg du han hun vi mig dig ham hende os jer dem min mit
        mine din dit dine sin sit sine vores er var været bliver blev har havde kan skal skulle må af for
        med på i til fra om under over efter gennem at som hvad hvem hvor hvornår hvorfor hvordan hvilken
        også meget mere så alle
    """,
    "norwegian": """
        en ei et den det de og eller men ikke ingen jeg du han hun vi meg deg ham henne oss dere dem min
        mitt mine din ditt dine sin sitt sine vår er var vært blir ble har hadde kan skal skulle må av for
        med på i til fra om under over etter gjennom at som hva hvem hvor når hvorfor hvordan hvilken også
        mye mer så alle
    """,
    "finnish": """
        ja tai mutta ei en et emme että jos kun koska niin minä sinä hän me te he minun sinun hänen meidän
        teidän heidän minut se sen sitä ne nämä tämä tämän tuo on ovat oli olivat olen olet ole ollut olla
        voi kanssa ilman myös vain vielä jo hyvin mikä mitä kuka missä milloin miksi miten kuinka
    """,
    "polish": """
        i oraz lub ale nie tak ja ty on ona ono my wy oni mnie mi ciebie jego jej nas was ich mój moja
        moje twój jest są był była było były jestem będzie być ma mam miał w we z ze na do od po za przez
        dla przy pod nad o u że co kto gdzie kiedy dlaczego jak jaki która który które się to ten ta te
        też tylko bardzo
    """,
    "turkish": """
        ve veya ama fakat değil ben sen o biz siz onlar benim senin onun bizim sizin onların beni seni onu
        bize bana sana ona bu şu bir iki her çok daha en için ile gibi kadar sonra önce var yok mı mi mu
        mü ne kim nerede zaman neden nasıl hangi da de ki
    """,
}

"""Everyday verbs, by language: what a question relates and an update may say in another word.

"Where do I live?" is answered by "I moved to Porto" as well, and "What does the gym cost?" by "the gym is $55 now". A
question that names a thing or a person is not answered by a text about another one, so only verbs are here.
"""

from apps.retrieval.domain.text.stems import fold, stem

_VERBS: dict[str, str] = {
    "english": """
        accept allow answer apply arrive ask attend avoid be become begin believe belong book bring build buy call
        carry change charge choose close come commute complete contain continue cook cost create cut deal decide
        deliver depend drink drive earn eat employ end enjoy expect fall feel find finish fly follow get give go grow
        handle happen hate have hear help hire hold include join keep know land last lead learn leave lend let lie like
        listen live look lose love make manage mean meet move name need offer open own park pay plan play practise
        practice prefer provide put read receive recommend rehearse remain remember rent report require ride run
        say see sell send serve set share show sing sit sleep smoke speak spend stand start stay stop store study
        supply support take talk teach tell think train travel treat try turn understand use visit wait wake walk
        want wear weigh win wish work write
    """,
    "german": """
        arbeite arbeitet arbeiten bekomme bekommt bekommen beginnt bezahle bezahlt brauche braucht brauchen esse isst
        essen fahre fährt fahren findet gehe geht gehen gehört hasse heiße heißt heißen hilft kaufe kauft kostet kosten
        lebe lebt leben lerne lernt lernen lese liest liegt leitet mag mache macht machen nehme nimmt nehmen nutze nutzt
        nutzen rauche raucht schlafe schläft spiele spielt spielen spreche spricht studiere studiert trage trägt treffe
        trifft trinke trinkt trinken verdiene verdient verwende verwendet wiegt wohne wohnt wohnen wünscht zahle zahlt
    """,
    "french": """
        achète aime aimes aimons appelle apprend apprends arrive boire bois boit commence conduis conduit coûte dirige
        dort dors habite habites habitons mange manges mangeons mesure paie parle parles pèse porte prend prends prenons
        préfère préfères reste travaille travailles travaillons trouve utilise utilisons va vais vas vend viens vient
        vis vit vivons voyage
    """,
    "spanish": """
        aprende aprendo bebe bebo come comes como compra compro conduce conduzco cuesta cuestan duerme duermo empieza
        estudia estudio fuma fumo gana gusta gustan habla hablo llama llamo lleva llevo necesita necesito pago paga
        pesa peso prefiere prefiero queda quiere quiero tiene tienes tengo toma tomas tomo trabaja trabajas trabajo usa
        uso va vamos vas vende viaja vive vives vivimos vivo voy
    """,
}
# The index terms of the verbs: the English stem, and that of their own language.
RELATIONS = frozenset(
    fold(stem(form, stemmer))
    for language, verbs in _VERBS.items()
    for verb in verbs.split()
    for form, stemmer in ((verb, language), (fold(verb), "english"))
)

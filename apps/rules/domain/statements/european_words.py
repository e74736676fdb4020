"""German, French and Spanish words by which a sentence is read: the one place for the lists of these languages.

Patterns match folded words: lower case, without accents ("ne ... plus" is written with \\w+ between). A word that is
also an English one is no sign of a language.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EuropeanWords:
    """The lists of one language, as patterns on lower case.

    signs: words that no English sentence has. negative: what denies.
    """

    signs: str
    condition: str
    wish: str
    plan: str
    report: str
    past: str
    event: str
    negative: str
    additive: str
    change: str
    ended: str
    correction: str
    bounds: str


GERMAN = EuropeanWords(
    signs="""
        ich du wir ihr uns euch mir mich dir dich und oder aber nicht kein keine keinen keinem keiner der das
        den dem des ein eine einen einem einer eines ist sind bin bist habe haben hatte wird werden wurde
        wohne wohnt lebe lebt arbeite arbeitet heißt heisst mein meine meinen meinem meiner dein deine sein
        seine ihre ihren unser unsere mit von vom zum zur bei beim nach für fuer über auf aus im am um zu
        jetzt inzwischen auch noch nur schon sehr dass wenn weil als möchte moechte kann kannst muss soll sich
        er sie es mag trinke esse kaffee jeden jede jedes seit gern gerne mehr ohne immer wieder gibt geht
        kommt braucht nimmt nutzt lernt spielt fährt macht montags dienstags mittwochs donnerstags freitags
        samstags sonntags montag dienstag mittwoch donnerstag freitag samstag sonntag uhr
    """,
    condition=r"\b(?:wenn|falls|sofern|würde|wuerde|würden|wuerden|wäre|wären|hätte|hätten|könnte|könnten|dürften"
    r"|angenommen)\b",
    wish=r"\b(?:möchte|moechte|möchten|wünsche|wünscht|träume|träumt|hoffe|hofft|am liebsten|wäre gern)\b",
    plan=r"\b(?:will|wollen|werde|werden|wird|plane|plant|planen|vorhabe|habe vor|hat vor|vielleicht|demnächst"
    r"|beabsichtigt|überlege|überlegt)\b",
    report=r"\b(?:sagt|sagte|sagen|behauptet|behaupten|meint|meinte|glaubt|denkt|angeblich|laut|findet|hört"
    r"|heißt es|gehört, dass|vermutet)\b",
    past=r"\b(?:früher|damals|einst|war|waren|hatte|hatten|wohnte|lebte|arbeitete|als kind|bis \d{4}|vorher"
    r"|letztes jahr|letzte[ns]? \w+|ehemalig\w*)\b",
    event=r"\b(?:gestern|heute|vorgestern|heute morgen)\b|\b(?:habe|hat|haben|bin|ist|sind)\b.*\b(?:ge\w+t"
    r"|ge\w+en|\w+iert)$",
    negative=r"\b(?:nicht mehr|kein\w* \w+ mehr|nicht|kein|keine|keinen|keinem|keiner|keines|nie|niemals)\b",
    additive=r"\b(?:auch|außerdem|ausserdem|zusätzlich|noch ein\w*|ebenfalls|sowie|daneben|weitere\w*)\b",
    change=r"\b(?:jetzt|inzwischen|mittlerweile|neuerdings|nun|ab jetzt|seit kurzem|ab sofort|nunmehr|aktuell"
    r"|nicht mehr)\b",
    ended=r"\b(?:nicht|kein\w*)\b.{0,60}\bmehr\b",
    correction=r"^(?:entschuldigung|sorry|nein|korrektur|ich meinte|tut mir leid|doch nicht|stimmt nicht"
    r"|verzeihung)\b[,:]?",
    bounds=r"\b(?:im (?:winter|sommer|frühling|herbst)|am wochenende|werktags|morgens|mittags|abends|nachmittags"
    r"|nachts|samstags|sonntags|montags|dienstags|mittwochs|donnerstags|freitags|hin\w*|rück\w*"
    r"|diese\w? woche|nächste\w? \w+)\b",
)
FRENCH = EuropeanWords(
    signs="""
        je tu il elle nous vous ils elles le la les un une des du de et ou mais ne pas mon ma mes ton ta tes
        sa ses notre nos votre vos leur leurs est sont était suis es avons avez ont été avoir dans sous avec
        pour par sans chez au aux ce cet cette ces qui que quoi où quand comment très aussi habite travaille
        maintenant toujours aime j'ai j'habite c'est n'est d'un d'une qu'il qu'elle lundi mardi mercredi jeudi
        vendredi samedi dimanche
    """,
    condition=r"\b(?:si|au cas où|\w+(?:rais|rait|rions|riez|raient))\b|\bs'il",
    wish=r"\b(?:voudrais|voudrait|aimerais|aimerait|souhaite|souhaites|rêve|rêves|espère|espérons)\b",
    plan=r"\b(?:vais|va|allons|vont|compte|comptons|prévois|prévoit|prévoyons|envisage|pense|peut-être"
    r"|\w+(?:rai|rons|ront|ra))\b",
    report=r"\b(?:dit|disent|affirme|affirment|prétend|prétendent|croit|croient|pense que|trouve que|selon|paraît"
    r"|raconte|soutient|d'après|il paraît)\b",
    past=r"\b(?:autrefois|avant|jadis|étais|était|étions|étaient|avais|avait|habitais|habitait|vivais|vivait"
    r"|travaillais|travaillait|enfant|jusqu'en|ancien\w*|l'an dernier|l'année dernière)\b",
    event=r"\b(?:hier|aujourd'hui|avant-hier|ce matin)\b|\b(?:ai|as|a|avons|avez|ont|j'ai)\b \w+(?:é|i|u|s|t)\b"
    r"|\best parti\w*",
    negative=r"\b(?:ne|n')\b.*?\b(?:pas|plus|jamais|rien)\b|\b(?:ne|n|pas|plus|jamais|rien|aucun|aucune)\b",
    additive=r"\b(?:aussi|également|en plus|encore un\w?|de plus|ainsi que|un autre|une autre)\b",
    change=r"\b(?:maintenant|désormais|dorénavant|à présent|à partir de maintenant|actuellement)\b",
    ended=r"\b(?:ne |n').{0,60}?\bplus\b",
    correction=r"^(?:pardon|désolée?|non|erreur|je voulais dire|correction|excusez-moi)\b[,:]?",
    bounds=r"\b(?:en hiver|en été|au printemps|en automne|le week-end|le matin|le soir|l'après-midi|à l'aller"
    r"|au retour|cette semaine|la semaine prochaine|en semaine)\b",
)
SPANISH = EuropeanWords(
    signs="""
        yo tú él ella nosotros ellos ellas el los las una unos unas y pero mi mis tu tus su sus es son era soy
        eres está están estoy estaba ha han he hay ser estar de del al en con por para sobre entre que qué
        quién cuándo dónde cómo cuál porque muy también ahora vivo vive trabajo trabaja tengo tiene gusta
        gustan llama nos nuestro nuestra lunes martes miércoles jueves viernes sábado domingo cada desde hasta
        ya como bebo
    """,
    condition=r"\b(?:si|siempre que|en caso|\w+(?:ría|rían|ríamos)|fuera|tuviera|pudiera|pudiéramos)\b",
    wish=r"\b(?:quisiera|quiero|quiere|querría|gustaría|ojalá|espero|espera|sueño|sueña|desea|deseo)\b",
    plan=r"\b(?:voy a|va a|vamos a|van a|pienso|piensa|planeo|planea|planeamos|quizás?|tal vez|a lo mejor"
    r"|\w+(?:ré|rá|remos|rán))\b",
    report=r"\b(?:dice|dicen|dijo|afirma|afirman|cree|creen|piensa que|según|asegura|opina|sostiene|al parecer"
    r"|se rumorea)\b",
    past=r"\b(?:antes|antiguamente|era|éramos|eran|vivía|vivían|vivíamos|trabajaba|trabajaban|tenía|estaba"
    r"|de niñ[oa]|de pequeñ[oa]|hasta \d{4}|el año pasado|ex)\b",
    event=r"\b(?:ayer|hoy|anteayer|esta mañana|anoche)\b|\b(?:he|ha|hemos|han)\b \w+(?:ado|ido|to|cho)\b"
    r"|\b\w+(?:ó|aron|ieron)\b",
    negative=r"\b(?:ya no|no|nunca|jamás|ningún|ninguna|tampoco)\b",
    additive=r"\b(?:también|además|asimismo|otro|otra|otros|otras|igualmente|así como)\b",
    change=r"\b(?:ahora|actualmente|ya no|desde ahora|a partir de ahora|últimamente|por fin)\b",
    ended=r"\bya no\b|\bno\b.{0,60}\bmás\b",
    correction=r"^(?:perdón|perdona|disculpa|lo siento|no|corrección|quería decir|me equivoqué)\b[,:]",
    bounds=r"\b(?:en invierno|en verano|en primavera|en otoño|los fines de semana|por la mañana|por la tarde"
    r"|por la noche|a la ida|a la vuelta|esta semana|la semana que viene|entre semana)\b",
)
EUROPEAN = {"de": GERMAN, "fr": FRENCH, "es": SPANISH}

"""Places that lie within others: who lives in a city lives in a country, too."""

from apps.rules.domain.contradiction.lexicon import keys

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

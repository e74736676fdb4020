"""What receipts, decisions and revisions say, for the catalogs: these sentences are made in English, and kept so."""

from django.utils.translation import gettext_noop as _

from apps.core.pages.sayings import SAYINGS
from apps.llm.domain.rerank import NO_ORDER

# Of `rules.domain.engine`: why a conflict was decided as it was.
DECIDED = (
    _("The memories do not conflict: both stay active."),
    _("One of the memories holds in other places, too: the conflict is noticed, and both stay active."),
    _("The evidence is too weak to act on: the conflict is noticed, and both memories stay active."),
    _(
        "The candidate comes from %(candidate)s, the existing memory from %(existing)s: what is less trusted replaces "
        "nothing by itself, so the conflict is noticed, and both stay active."
    ),
    _("Importance %(high)s beats %(low)s."),
    _("The newer memory wins: it is %(duration)s younger."),
    _("The source %(higher)s ranks above %(lower)s."),
    _("The scores %(high)s and %(low)s are nearer than %(threshold)s: both are merged."),
    _("The score %(high)s beats %(low)s."),
    _("The memories are equal in every step: the default strategy is %(strategy)s."),
    _("The model %(model)s says that both can be true: both stay active."),
)
# Of `semantic.domain.receipt_words`: the evidence of signals, and outcomes.
EVIDENCE = (
    _("Their meanings have a cosine of %(similarity)s; more than %(limit)s counts."),
    _("They share %(shared)s of their keywords; more than %(least)s counts."),
    _("They are %(apart)s apart; up to %(window)s counts."),
    _("Importances of %(candidate)s and %(existing)s differ by %(delta)s; more than %(limit)s counts."),
    _("A strength of more than %(limit)s counts."),
    _("The candidate is read as %(candidate)s, the existing one as %(existing)s."),
    _("Reason: %(reason)s."),
    _("The model %(model)s says that only one of them can be true now. A confidence of at least %(limit)s counts."),
    _("The model %(model)s says that both can be true. A confidence of at least %(limit)s counts."),
    _("The model %(model)s says that they say the same. A confidence of at least %(limit)s counts."),
    _("The model %(model)s is of no known opinion. A confidence of at least %(limit)s counts."),
    _("The judge of pairs (%(model)s) reads the newer one as what holds instead of the older one."),
    _("The judge of pairs (%(model)s) reads the newer one as the same in other words."),
    _("The judge of pairs (%(model)s) reads the newer one as true beside the older one."),
    _("The judge of pairs (%(model)s) reads the newer one as about something else."),
    _("The judge of pairs (%(model)s) reads the newer one as of no known kind."),
    _("That alone is noticed."),
    _("It is sure enough to be acted on."),
    _("It is sure enough that one of them is kept."),
    _("So what the words say is only noticed."),
    _("One side is negated."),
    _("One side denies what the other says."),
    _("A number, an amount, a date or a time differs."),
    _("They differ in words that exclude each other."),
    _("They differ in one attribute that has one value at a time."),
    _("Only one of the two can hold at a time."),
    _("One side says that what the other says has changed."),
    _("The newer side says that what the other says has ended."),
    _("The evidence was too weak to act on: both memories are kept."),
    _("The candidate wins, and the existing memory was superseded by it."),
    _("The existing memory wins, and the candidate was superseded by it."),
    _("Both were merged, and the merged memory is active."),
    _("The existing memory wins, and the candidate was rejected."),
    _("Both memories are kept."),
    _("A decision was undone."),
    _("%(count)s days"),
    _("%(count)s hours"),
    _("%(count)s minutes"),
    _("%(count)s seconds"),
    _("1 day"),
    _("1 hour"),
    _("1 minute"),
    _("1 second"),
)
# Values of columns and documents, as pages show them.
VALUES = (
    *(_("Semantic"), _("Keyword"), _("Time"), _("Importance"), _("Contradiction"), _("Judge")),
    *(_("Trust"), _("trust"), _("person"), _("app"), _("document"), _("derived")),
    *(_("Recency"), _("Source"), _("Multi-factor"), _("Default"), _("Override"), _("Revert")),
    *(_("Demote"), _("Delete"), _("Keep"), _("No-conflict"), _("Noticed")),
    *(_("no-conflict"), _("noticed"), _("importance"), _("recency"), _("source"), _("multi-factor"), _("default")),
    *(_("override"), _("revert"), _("judge")),
    *(_("active"), _("superseded"), _("merged"), _("rejected"), _("deleted")),
    *(_("open"), _("accepted"), _("overridden"), _("reverted"), _("outdated")),
    *(_("Candidate"), _("Existing"), _("candidate"), _("existing"), _("nothing"), _("unknown"), _("did not exist")),
    *(_("created"), _("reinforced"), _("kept_existing"), _("superseded_existing"), _("kept_both")),
    *(_("update"), _("coexist"), _("same")),
    *(_("none"), _("fast"), _("slow"), _("normal"), _("permanent")),
)
SAYINGS.add((*DECIDED, *EVIDENCE), (*VALUES, NO_ORDER))

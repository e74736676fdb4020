"""What each setting of a rule means, in a sentence: for forms and the OpenAPI document."""

HELP: dict[str, str] = {
    "name": "What the rule is called, unique; 1 to 100 characters without a slash.",
    "extends": "The rule whose settings apply wherever this one says nothing.",
    "enabled": "A rule that is not enabled matches nothing; others may still extend it.",
    "priority": "Of several rules that match, the one with the highest priority is used.",
    "description": "What the rule is for.",
    "conditions.user_id": "Only memories of this user. Empty: of everybody.",
    "conditions.persona_id": "Only memories of this persona. Empty: of any or none.",
    "conditions.source": "Only memories from one of these sources. Empty: from any.",
    "conditions.importance_range.min": "Only memories that are at least this important.",
    "conditions.importance_range.max": "Only memories that are at most this important.",
    "detection.semantic_threshold": "Cosine similarity above which two memories conflict.",
    "detection.keyword_threshold": "Share of common keywords above which two memories conflict.",
    "detection.contradiction_threshold": "Strength of the evidence above which two memories contradict each other.",
    "detection.time_window_seconds": "Memories this near in time give the time signal, which alone is no conflict.",
    "detection.importance_delta": "A greater difference gives the importance signal, which alone is no conflict.",
    "detection.weights.semantic": "What the semantic signal counts when the most severe conflict is chosen.",
    "detection.weights.keyword": "The same for the keyword signal.",
    "detection.weights.time": "The same for the time signal.",
    "detection.weights.importance": "The same for the importance signal.",
    "detection.weights.contradiction": "The same for the contradiction signal.",
    "arbitration.priority_importance": "Asked first: the more important memory wins.",
    "arbitration.priority_recency": "Asked second: the newer memory wins.",
    "arbitration.priority_source": "Asked third: of user, conversation, skill, system, inferred, the first one wins.",
    "arbitration.weights.importance": "Weight of the importance in the multi-factor score, which is asked fourth.",
    "arbitration.weights.recency": "Weight of the recency: 1 for the newer memory, halved with each week before it.",
    "arbitration.weights.source": "Weight of the source: 1 for the user down to 0.2 for what was inferred.",
    "arbitration.weights.semantic": "Weight of the similarity: the same for both, so it brings the scores nearer.",
    "arbitration.merge_threshold": "Memories whose scores differ by less than this are merged.",
    "arbitration.allow_merge": "Whether memories may be merged at all.",
    "arbitration.merge_contradictions": "Whether memories that contradict each other may be merged, too.",
    "arbitration.act_on_weak_evidence": "Decide even where the evidence is weak; else such a conflict is only noticed.",
    "arbitration.default_strategy": "What happens when nothing tells the two memories apart.",
    "merge.content_strategy": "How the contents become one. Smart: summarize above a similarity of 0.7, else join.",
    "merge.metadata_strategy.importance": "Boost: the maximum and the boost amount, at most 1.",
    "merge.metadata_strategy.timestamp": "The merged memory is of the later moment.",
    "merge.metadata_strategy.keywords": "All keywords, or those that both have.",
    "merge.metadata_strategy.source": "The more trusted source.",
    "merge.boost_amount": "What the importance strategy `boost` adds.",
    "merge.deduplicate": "Leave out sentences that another one says, too.",
    "merge.deduplicate_threshold": "Share of common words from which two sentences may be duplicates.",
}


def help_for(path: str) -> str:
    """The sentence for a setting; its own name in words where there is none."""
    return HELP.get(path) or path.rpartition(".")[2].replace("_", " ").capitalize() + "."

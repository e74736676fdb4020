"""The store of calls of chat models."""

from apps.core.personal.store import PersonalStore
from apps.llm.models import ModelCall


class CallStore(PersonalStore):
    """Calls of chat models with their prompts. They are not exported: they say what this hub did and paid."""

    name = "model_calls"
    order = 80
    models = (ModelCall,)


STORES = (CallStore(),)

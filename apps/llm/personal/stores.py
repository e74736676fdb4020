"""The store of calls of chat models."""

from apps.llm.models import ModelCall
from apps.llm.personal.erase import CallErasure


class CallStore(CallErasure):
    """Calls of chat models with their prompts. They are not exported: they say what this hub did and paid."""

    name = "model_calls"
    order = 80
    models = (ModelCall,)


STORES = (CallStore(),)

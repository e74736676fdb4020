"""The one table of event subscribers (DESIGN D7).

Name of an event, or `*` for all of them -> the dotted paths of the handlers. A handler takes one
`apps.events.domain.envelope.Envelope`, or with `@takes_batches` a sequence of them, and must be idempotent for their
`event_id`. Each costs a row and a call for every event that it receives: counting and logging need no handler.
"""

SUBSCRIPTIONS: dict[str, tuple[str, ...]] = {
    "memory:episodic:saved": ("apps.semantic.bridge.handlers.events_saved",),
    "memory:episodic:pruned": ("apps.semantic.bridge.handlers.events_pruned",),
    "memory:episodic:warning": ("apps.semantic.bridge.handlers.timeline_warned",),
    "memory:episodic:healthy": ("apps.semantic.bridge.handlers.timeline_healthy",),
}

"""Who hears which event: the one table of event subscribers (DESIGN D7).

Name of an event, or `*` for all of them -> the dotted paths of the handlers. A handler takes one
`apps.events.domain.envelope.Envelope` and must be idempotent for its `event_id`.
"""

SUBSCRIPTIONS: dict[str, tuple[str, ...]] = {
    "*": ("apps.events.handlers.observe",),
}

"""Addresses of the first steps. The card itself is a part of *Now*."""

from apps.cockpit.first_steps import actions, card
from apps.cockpit.first_steps.progress import NEEDED
from apps.cockpit.pages import Page

SAMPLE = (*NEEDED, "semantic.delete_memory", "people.add_erasure")

PAGES = (
    Page(name="first_steps", path="first-steps/", view=card.steps_progress, permissions=NEEDED),
    Page(name="first_key", path="first-steps/key/", view=actions.make_key, permissions=NEEDED),
    Page(name="first_memory", path="first-steps/memory/", view=actions.first_memory, permissions=NEEDED),
    Page(name="first_search", path="first-steps/search/", view=actions.first_search, permissions=NEEDED),
    Page(name="sample", path="first-steps/sample/", view=actions.sample, permissions=SAMPLE),
    Page(name="first_steps_dismiss", path="first-steps/dismiss/", view=actions.dismiss, permissions=NEEDED),
)

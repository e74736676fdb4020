"""The door of `context`: what an assistant should know, in one call."""

from apps.context.building.again import context_given
from apps.context.building.build import context_build

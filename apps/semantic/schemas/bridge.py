"""What the status says of the bridge from the timeline."""

from typing import Any

from rest_framework import serializers

AnySerializer = serializers.Serializer[Any]


class SuspensionOutput(AnySerializer):
    """A warning of the timeline for which events are not made into memories at present."""

    kind = serializers.CharField()
    severity = serializers.CharField()
    since = serializers.DateTimeField()


class BridgeOutput(AnySerializer):
    """How events become memories, for keys that are bound to nothing: it counts everybody's."""

    suspended = serializers.BooleanField()
    suspended_by = SuspensionOutput(many=True)
    policies = serializers.IntegerField(help_text="Routing policies that are enabled.")
    pending = serializers.IntegerField(help_text="Events that wait to become memories.")
    failed = serializers.IntegerField(help_text="Events of which no memory could be made.")
    timeline_lag_ms = serializers.IntegerField(
        help_text="Age of the oldest event that has not been judged yet, or waits; 0 when there is none."
    )
    last_ingestion_lag_ms = serializers.IntegerField(
        allow_null=True, help_text="From the recording of the event that became a memory last to that memory."
    )
    segment_count = serializers.IntegerField(help_text="Segments of the timeline that are in use.")

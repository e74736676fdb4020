"""Examples of the operations of models and tools."""

from typing import Any

from apps.core.schemas.examples import Example

OUTPUT = """I will remember that.
[[ABP_TOOL:memory_save]]
{"content": "Ana likes green tea.", "user_id": "ana",}
[[END_ABP_TOOL]]"""
PARSED = {
    "protocol": "abp",
    "mode": "abp",
    "fallback": None,
    "requests": [
        {
            "protocol": "abp",
            "name": "memory_save",
            "parameters": {"content": "Ana likes green tea.", "user_id": "ana"},
            "fixes": ["json"],
            "truncated": [],
            "span": [22, 118],
        }
    ],
    "refused": [],
    "refused_count": 0,
    "text": "I will remember that.",
}
TEA: dict[str, Any] = {
    "id": "369e2188-b9e7-4e38-99dd-0cd91e210512",
    "version": "efd3ca9c12563a9bcc1f",
    "content": "Ana likes green tea.",
    "user_id": "ana",
    "household_id": None,
    "persona_id": None,
    "agent": "",
    "personality": "",
    "project": "",
    "type": "",
    "global": False,
    "decay_policy": "stable",
    "importance": 0.5,
    "confidence": 1.0,
    "base_confidence": 1.0,
    "keywords": [],
    "source": "user",
    "origin": "app",
    "occurred_at": None,
    "expires_at": None,
    "session_id": "",
    "further_sessions": [],
    "context": "",
    "metadata": {},
    "managed": False,
    "status": "active",
    "deleted": False,
    "superseded_by": None,
    "created_at": "2026-03-05T07:45:21.968000Z",
    "updated_at": "2026-03-05T07:45:21.968000Z",
    "last_reinforced_at": None,
}
TOOL = {
    "name": "memory_reinforce",
    "description": "Confirm that a reinforceable memory is still true: its decay restarts.",
    "parameters": {
        "type": "object",
        "properties": {
            "id": {"type": "string", "pattern": "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"},
        },
        "required": ["id"],
        "additionalProperties": False,
    },
    "permission": "write",
    "allowed": True,
}
PROVIDER = "openai@models.home:8080"
STATUS = {
    "configured": True,
    "status": "ready",
    "providers": [{"name": PROVIDER, "model": "gpt-5", "role": "primary", "available": True, "priced": True}],
    "breaker": [{"provider": PROVIDER, "state": "closed", "since": None, "retry_at": None, "failures": 0}],
    "budget": {
        "day": "2026-03-05",
        "limit_usd": "10",
        "spent_usd": "0.180000000",
        "reserved_usd": "0",
        "remaining_usd": "9.820000000",
        "waived_usd": "0.000000000",
        "percent": 1.8,
        "warned": [],
        "resets_at": "2026-03-06T00:00:00Z",
    },
    "tokens": [{"provider": PROVIDER, "window_seconds": 60, "limit": 90000, "used": 0, "percent": 0.0}],
    "latency": [
        {
            "provider": PROVIDER,
            "quality": "sufficient",
            "count": 37,
            "warmup": 3,
            "trimmed": 0,
            "p50": 821.0,
            "p90": 836.0,
            "p95": 838.0,
            "p99": 839.0,
            "min": 803.0,
            "max": 839.0,
        }
    ],
    "tools": {
        "since": "2026-02-04",
        "outputs": 1,
        "abp": 1,
        "vcp": 0,
        "text": 0,
        "abp_failed": 0,
        "fallback_to_vcp": 0,
        "fallback_to_text": 0,
        "fixed": 1,
        "refused": 0,
        "fallback_rate": 0.0,
        "runs": [{"tool": "memory_save", "protocol": "abp", "outcome": "done", "count": 1}],
    },
}

EXAMPLES = {
    "llm_tools_list": Example("List the tools", answer={"results": [TOOL], "count": 1}),
    "llm_tools_parse": Example(
        "Find the tool request in an output", body={"text": OUTPUT, "mode": "abp"}, answer=PARSED
    ),
    "llm_tools_execute": Example(
        "Execute the tool request in an output",
        body={"text": OUTPUT, "mode": "abp"},
        answer={
            **PARSED,
            "results": [
                {
                    "name": "memory_save",
                    "protocol": "abp",
                    "outcome": "done",
                    "value": {"action": "inserted", "reason": "unique_hash", "memory": TEA, "conflict": None},
                    "problems": [],
                    "retryable": False,
                    "retry_after": None,
                }
            ],
        },
    ),
    "llm_status": Example("Show the state of the chat models", after=("llm_tools_execute",), answer=STATUS),
    "llm_models": Example(
        "List chat models",
        answer={
            "configured": True,
            "providers": [
                {
                    "name": PROVIDER,
                    "role": "primary",
                    "count": 2,
                    "problem": None,
                    "asked_at": "2026-03-05T07:40:24.984000Z",
                }
            ],
            "models": [
                {
                    "id": "gpt-5",
                    "provider": PROVIDER,
                    "role": "primary",
                    "listed": True,
                    "prices": [
                        {
                            "above_input_tokens": 0,
                            "input_per_million_usd": "1.250000",
                            "output_per_million_usd": "10.000000",
                            "valid_from": "2026-01-01",
                            "source": "the price page of the provider",
                        }
                    ],
                },
                {"id": "gpt-5-mini", "provider": PROVIDER, "role": None, "listed": True, "prices": []},
            ],
            "count": 2,
        },
    ),
}

"""The JSON Schema of a decision, for servers that can hold a reply to one."""

from collections.abc import Sequence
from typing import Any

LONGEST_THOUGHT = 400  # characters; without a cap, what a model may not write elsewhere goes into its thought


def decision_schema(tools: Sequence[str]) -> dict[str, Any]:
    """The shape of a reply that may call one of these tools or finish; without tools it can only finish.

    One flat object, in the order in which the prompt shows its keys. The tools' own parameters are left out: small models follow
    a small schema, half the servers know neither alternatives nor references, and the registry checks arguments in any case.
    """
    return {
        "type": "object",
        "properties": {
            "thought": {"type": "string", "maxLength": LONGEST_THOUGHT},
            "action": {"type": "string", "enum": [*tools, "none"]},
            "action_input": {"type": "object"},
            "final_answer": {"type": ["string", "null"] if tools else "string"},
        },
        "required": ["thought", "action", "action_input", "final_answer"],
        "additionalProperties": False,
    }

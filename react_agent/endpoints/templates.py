"""Prompt templates: messages -> the one string that an endpoint without roles takes, and the words that end its reply.

A template is used where the server applies none itself. What a message holds never opens a turn: marks of any public template
(`<|im_start|>`, `[INST]`, `</s>`) and, for the templates made of plain words, their headings at the start of a line are broken
up by a space, whoever wrote the message. The text that begins a prompt (<s>, <|begin_of_text|>) is left to the server, which adds
it to every prompt.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from react_agent.endpoints.roles import strict_roles
from react_agent.errors import ConfigError
from react_agent.registry_neutral import neutral
from react_agent.types import Message, Role

AUTO = "auto"


@dataclass(frozen=True, slots=True)
class Template:
    """turns: what stands before and after a message of each role. opening: what begins the reply. stop: words that end it.

    strict: the system message goes into the first user message, and user and assistant strictly take turns.
    headings: a pattern of what would open a turn inside a message, its first group up to where a space breaks it up.
    """

    name: str
    turns: Mapping[Role, tuple[str, str]]
    opening: str
    stop: tuple[str, ...]
    strict: bool = False
    headings: re.Pattern[str] | None = field(default=None, repr=False)

    def render(self, messages: Sequence[Message]) -> str:
        """The prompt: all messages, and the beginning of the reply."""
        sent = strict_roles(messages) if self.strict else messages
        return "".join(self._turn(message) for message in sent) + self.opening

    def _turn(self, message: Message) -> str:
        before, after = self.turns[message.role]
        text = neutral(message.content)
        if self.headings is not None:
            text = self.headings.sub(r"\1 ", text)
        return before + text + after


def _around(before: str, after: str, system: str, user: str, assistant: str) -> dict[Role, tuple[str, str]]:
    """The same frame for each role, with the role's name in the place of {}."""
    return {"system": (before.format(system), after), "user": (before.format(user), after), "assistant": (before.format(assistant), after)}


_HASHES = re.compile(r"^([ \t]*#)(?=#+[ \t]*(?:instructions?|input|response)\b)", re.IGNORECASE | re.MULTILINE)
_NAMES = re.compile(r"^([ \t]*(?:system|user|human|assistant))(?=[ \t]*:)", re.IGNORECASE | re.MULTILINE)
_USUAL = ("system", "user", "assistant")

CHATML = Template("chatml", _around("<|im_start|>{}\n", "<|im_end|>\n", *_USUAL), "<|im_start|>assistant\n", ("<|im_end|>", "<|im_start|>"))
LLAMA3 = Template(
    "llama3", _around("<|start_header_id|>{}<|end_header_id|>\n\n", "<|eot_id|>", *_USUAL),
    "<|start_header_id|>assistant<|end_header_id|>\n\n", ("<|eot_id|>", "<|start_header_id|>", "<|end_of_text|>", "<|eom_id|>"),
)  # fmt: skip
MISTRAL = Template(
    "mistral", {"system": ("", ""), "user": ("[INST] ", " [/INST]"), "assistant": (" ", "</s>")}, "", ("</s>", "[INST]"), strict=True,
)  # fmt: skip
GEMMA = Template(
    "gemma", _around("<start_of_turn>{}\n", "<end_of_turn>\n", "user", "user", "model"), "<start_of_turn>model\n",
    ("<end_of_turn>", "<start_of_turn>"), strict=True,
)  # fmt: skip
ZEPHYR = Template("zephyr", _around("<|{}|>\n", "</s>\n", *_USUAL), "<|assistant|>\n", ("</s>", "<|user|>", "<|system|>"))
ALPACA = Template(
    "alpaca", {"system": ("", "\n\n"), "user": ("### Instruction:\n", "\n\n"), "assistant": ("### Response:\n", "\n\n")},
    "### Response:\n", ("\n### Instruction:", "\n### Response:", "\n### Input:"), headings=_HASHES,
)  # fmt: skip
PLAIN = Template(
    "plain", {"system": ("", "\n\n"), "user": ("User: ", "\n\n"), "assistant": ("Assistant: ", "\n\n")},
    "Assistant:", ("\nUser:", "\nAssistant:", "\nSystem:"), headings=_NAMES,
)  # fmt: skip
TEMPLATES = {template.name: template for template in (CHATML, LLAMA3, MISTRAL, GEMMA, ZEPHYR, ALPACA, PLAIN)}

# The first pattern that fits decides. A server's chat template is recognised by the marks that it writes, ...
_BY_MARKS = (
    (re.compile(r"<\|im_start\|>"), CHATML),
    (re.compile(r"<\|start_header_id\|>"), LLAMA3),
    (re.compile(r"<start_of_turn>"), GEMMA),
    (re.compile(r"\[INST\]"), MISTRAL),
    (re.compile(r"\A(?!.*(?:<\|end\|>|gMASK)).*<\|user\|>.*(?:eos_token|</s>)", re.DOTALL), ZEPHYR),  # not Phi's, not GLM's
    (re.compile(r"### Instruction"), ALPACA),
)
# ... a model by its name: fine-tunes carry their base's name too, so that they stand first.
_BY_NAME = (
    (re.compile(r"zephyr|tinyllama"), ZEPHYR),
    (re.compile(r"alpaca"), ALPACA),
    (re.compile(r"hermes|dolphin|chatml|qwen|qwq|smollm|(?<![a-z])yi-|internlm|orca"), CHATML),
    (re.compile(r"llama[-_ .]?3"), LLAMA3),
    (re.compile(r"gemma"), GEMMA),
    (re.compile(r"mi[sx]tral|codestral|ministral|devstral|llama[-_ .]?2"), MISTRAL),
)


def template_named(name: str) -> Template:
    """The template of that name, else ConfigError with all names."""
    found = TEMPLATES.get(name.strip().lower().replace("-", "").replace("_", "").replace(" ", ""))
    if found is None:
        known = ", ".join((AUTO, *TEMPLATES))
        raise ConfigError(f"there is no prompt template {name!r}; there are {known}")
    return found


def recognised(source: str) -> Template | None:
    """The template that a server's chat template (Jinja, Go) amounts to, by the marks in it."""
    return next((template for pattern, template in _BY_MARKS if pattern.search(source)), None)


def usual_for(model: str) -> Template | None:
    """The template that models of such a name are trained on; None where the name tells nothing, as for distilled models."""
    name = model.lower()
    return None if "deepseek" in name else next((template for pattern, template in _BY_NAME if pattern.search(name)), None)

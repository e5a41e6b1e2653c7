"""Finds, loads and fills the prompt files: prompts/<language>/{system,examples,frames,reprompts}.md."""

import functools
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from react_agent.errors import ConfigError
from react_agent.registry import Tool, ToolRegistry
from react_agent.registry_neutral import neutral
from react_agent.types import Message

FILES = ("system", "examples", "frames", "reprompts")
MAX_EXAMPLES = 3
PLAIN = ("string", "integer")  # types that an argument's name tells


@dataclass(frozen=True, slots=True)
class Example:
    """A worked dialogue for the tools it names; turns alternate question or observation, and reply."""

    tools: frozenset[str]
    turns: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class PromptSet:
    """One language's prompts. name: language and version; digest: the first 12 hex digits of the SHA-256 over its files."""

    name: str
    digest: str
    language: str
    system: str
    examples: tuple[Example, ...]
    frames: Mapping[str, str]
    reprompts: Mapping[str, str]

    def frame(self, name: str, **values: Any) -> str:
        return fill(self.frames[name], **values)

    def reprompt(self, reason: str, *, excerpt: str = "", **values: Any) -> str:
        """The message for a reply that was refused. excerpt: of the reply, without the full stop that the sentence around it brings."""
        return fill(self.reprompts[reason], excerpt=excerpt.rstrip(".。"), **values)


def prompts_folder() -> Path:
    """The folder of the prompts: beside the modules in a wheel, beside the package in a checkout."""
    here = Path(__file__).resolve().parent
    places = (here / "prompts", here.parent / "prompts")
    for place in places:
        if (place / "en" / "system.md").is_file():
            return place
    raise ConfigError(f"the prompts are missing: neither {places[0]} nor {places[1]} holds en/system.md; reinstall react-agent")


@functools.cache
def load(language: str = "en", folder: Path | None = None) -> PromptSet:
    """Read one language's prompts; raises ConfigError for a language that is not there."""
    root = prompts_folder() if folder is None else folder
    place = root / language
    if not re.fullmatch(r"[a-z]{2,3}(-[A-Za-z]+)?", language) or not place.is_dir():
        have = ", ".join(sorted(p.name for p in root.iterdir() if (p / "system.md").is_file()))
        raise ConfigError(f"there are no prompts for the language {language!r}; there are: {have}")
    texts = {name: (place / f"{name}.md").read_text("utf-8") for name in FILES}
    version = re.match(r"<!-- version: (\S+) -->\n", texts["system"])
    digest = hashlib.sha256("\0".join(texts[name] for name in FILES).encode()).hexdigest()[:12]
    return PromptSet(
        name=f"{language}/{version.group(1) if version else '0'}",
        digest=digest,
        language=language,
        system=_body(texts["system"]),
        examples=tuple(_example(tools, text) for tools, text in sections(texts["examples"]).items()),
        frames=sections(texts["frames"]),
        reprompts=sections(texts["reprompts"]),
    )


def _body(text: str) -> str:
    return re.sub(r"<!--.*?-->\n?", "", text, flags=re.S).strip()


def sections(text: str) -> dict[str, str]:
    """The `## name` sections of a Markdown text."""
    parts = re.split(r"^## +(.+?) *$", _body(text), flags=re.M)
    return {name: body.strip() for name, body in zip(parts[1::2], parts[2::2], strict=True)}


def _example(tools: str, text: str) -> Example:
    parts = re.split(r"^(question|reply|observation): ", text, flags=re.M)
    turns = tuple(
        Message("assistant" if kind == "reply" else "user", body.strip() if kind != "observation" else f"observation: {body.strip()}")
        for kind, body in zip(parts[1::2], parts[2::2], strict=True)
    )
    return Example(frozenset(re.split(r"[,\s]+", tools)) - {"none"}, turns)


def fill(template: str, **values: Any) -> str:
    """Put values in for the {names} that are given; other braces stay, and values are not filled again."""
    if not values:
        return template
    pattern = re.compile("{(" + "|".join(map(re.escape, values)) + ")}")
    return pattern.sub(lambda match: str(values[match.group(1)]), template)


def opening(prompts: PromptSet, tools: ToolRegistry, instructions: str = "", *, examples: bool = True) -> list[Message]:
    """The messages before the question: the system prompt with the tools, then the worked examples as real turns."""
    system = fill(prompts.system, tools="\n".join(tool_line(tool) for tool in tools) or prompts.frames["no_tools"])
    if instructions.strip():
        system += "\n\n" + prompts.frame("instructions", instructions=instructions.strip())
    messages = [Message("system", system)]
    for example in choose_examples(prompts, tools) if examples else ():
        for number, turn in enumerate(example.turns):
            messages.append(_framed(prompts, example, turn, number))
    return messages


def _framed(prompts: PromptSet, example: Example, turn: Message, number: int) -> Message:
    if turn.role == "assistant" or number == 0:
        return turn
    content = turn.content.removeprefix("observation: ")
    call = json.loads(example.turns[number - 1].content)
    return Message("user", prompts.frame("observation", tool=call["action"], content=content))


def choose_examples(prompts: PromptSet, tools: ToolRegistry, most: int = MAX_EXAMPLES) -> list[Example]:
    """The first examples whose tools are all registered; when none fits, one made from a registered tool; without tools the plain one."""
    names = frozenset(tools.names)
    fitting = [example for example in prompts.examples if example.tools and example.tools <= names]
    if fitting:
        return fitting[:most]
    if len(tools):
        return [made_example(prompts, next(iter(tools)))]
    return [example for example in prompts.examples if not example.tools][:1]


def made_example(prompts: PromptSet, tool: Tool) -> Example:
    """A worked example for a tool of the user's, with neutral values made from its schema."""
    required = tool.parameters.get("required", ())
    properties = tool.parameters.get("properties", {})
    arguments = {name: sample_value(properties[name]) for name in properties if name in required}
    call = {"thought": prompts.frame("example_thought", tool=tool.name), "action": tool.name, "action_input": arguments}
    answer = {"final_answer": prompts.frames["example_answer"]}
    question = prompts.frame("example_question", tool=tool.name, arguments=json.dumps(arguments, ensure_ascii=False))
    return Example(
        frozenset({tool.name}),
        (
            Message("user", question),
            Message("assistant", json.dumps(call, ensure_ascii=False)),
            Message("user", 'observation: {"ok": true, "result": "sample-7"}'),
            Message("assistant", json.dumps(answer, ensure_ascii=False)),
        ),
    )


def sample_value(schema: Mapping[str, Any] | bool) -> Any:
    """A neutral value that fits a parameter's schema: an enum's first, a quoted example of the description, else by type."""
    if not isinstance(schema, Mapping):  # true: anything
        return "sample"
    if schema.get("enum"):
        return schema["enum"][0]
    if "const" in schema:
        return schema["const"]
    if schema.get("examples"):
        return schema["examples"][0]
    kind = schema.get("type")
    kind = next((k for k in kind if k != "null"), "string") if isinstance(kind, list) else kind
    if kind is None and schema.get("anyOf"):
        return sample_value(next((part for part in schema["anyOf"] if not _is_null(part)), {}))
    if kind in ("integer", "number"):
        return schema.get("minimum", 3)
    if kind == "array":
        return [sample_value(schema.get("items", {}))]
    if kind == "object":
        return {name: sample_value(item) for name, item in schema.get("properties", {}).items() if name in schema.get("required", ())}
    if kind == "boolean":
        return True
    quoted = re.search(r"example:? [\"'“]([^\"'”]{1,40})[\"'”]|example:? ([\w.-]{1,40})", schema.get("description", ""))
    return next((part for part in quoted.groups() if part), "sample") if quoted else "sample"


def tool_line(tool: Tool) -> str:
    """`- name(argument, argument: type, optional?): what it is for`, with what the arguments are behind it; one neutral line."""
    required = tool.parameters.get("required", ())
    parts, notes = [], []
    for name, schema in tool.parameters.get("properties", {}).items():
        kind = type_name(schema)
        parts.append(f"{name}{'' if name in required else '?'}" + (f": {kind}" if kind not in PLAIN else ""))
        if isinstance(schema, Mapping) and schema.get("description"):
            notes.append(f"{name}: {schema['description']}")
    line = f"- {tool.name}({', '.join(parts)}): {tool.description}" + (f" ({'; '.join(notes)})" if notes else "")
    return neutral(" ".join(line.split()))


def type_name(schema: Mapping[str, Any] | bool) -> str:
    """A short word for a parameter's type: `string`, `"a" | "b"`, `integer`, `list of string`."""
    if not isinstance(schema, Mapping):
        return "any"
    if schema.get("enum"):
        return " | ".join(json.dumps(value, ensure_ascii=False) for value in schema["enum"][:8])
    for union in ("anyOf", "oneOf"):
        if schema.get(union):
            return " | ".join(dict.fromkeys(type_name(item) for item in schema[union] if not _is_null(item)))
    kind = schema.get("type", "any")
    if isinstance(kind, list):
        return " | ".join(k for k in kind if k != "null")
    if kind == "array":
        return f"list of {type_name(schema.get('items', {}))}"
    return str(kind)


def _is_null(schema: Mapping[str, Any] | bool) -> bool:
    return isinstance(schema, Mapping) and schema.get("type") == "null"

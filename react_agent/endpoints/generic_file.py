"""The TOML file that describes an API which no family covers. docs/endpoints.md explains it; what is wrong in one is said with its line."""

import difflib
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from react_agent.endpoints.http_body import Framing
from react_agent.errors import ConfigError
from react_agent.types import FinishReason, Role

PLACEHOLDERS = ("messages", "prompt", "model", "max_output_tokens", "temperature", "seed", "stop", "stream")
PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_TOP = {"url", "stream_url", "model", "template", "framing", "context_window", "headers", "message", "body", "reply", "stream", "reasons"}


@dataclass(frozen=True, slots=True)
class Places:
    """Where things are in an object of a reply: paths such as "choices.0.text"; * is every element of a list. Empty: nowhere.

    done: a field that is true when nothing follows.
    """

    text: str = ""
    reason: str = ""
    reasoning: str = ""
    refusal: str = ""
    model: str = ""
    done: str = ""
    input_tokens: str = ""
    output_tokens: str = ""
    cached_tokens: str = ""


@dataclass(frozen=True, slots=True)
class MessageShape:
    """How one message is written: the names of its two fields, and of the roles."""

    role: str = "role"
    content: str = "content"
    system: str = "system"
    user: str = "user"
    assistant: str = "assistant"

    def wire(self, role: Role, content: str) -> dict[str, str]:
        return {self.role: {"system": self.system, "user": self.user, "assistant": self.assistant}[role], self.content: content}


@dataclass(frozen=True, slots=True)
class GenericApi:
    """An API as a file describes it. stream: None where it has none. reasons: its words for why a model stopped -> ours."""

    url: str
    body: Mapping[str, Any]
    reply: Places
    stream: Places | None = None
    stream_url: str = ""
    model: str = ""
    template: str = ""
    framing: Framing = "sse"
    context_window: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    message: MessageShape = MessageShape()
    reasons: Mapping[str, FinishReason] = field(default_factory=dict)


def read_generic(path: str | Path, env: Mapping[str, str]) -> GenericApi:
    """The API that a file describes; ${NAME} in its URLs and headers comes from env. Raises ConfigError."""
    try:
        text = Path(path).read_text("utf-8-sig")
        return _Reader(str(path), text, tomllib.loads(text), env).api()
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not TOML: {error}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read the description of the endpoint {path}: {error}") from None


@dataclass(frozen=True, slots=True)
class _Reader:
    """Takes a parsed file apart. Keys are named as a person finds them: "[reply] text"."""

    path: str
    text: str
    data: dict[str, Any]
    env: Mapping[str, str]

    def api(self) -> GenericApi:
        self._known("", self.data, _TOP)
        made = GenericApi(
            url=self._variables("", "url", self._text("", "url", needed=True)), body=self._table("body"), reply=self._places("reply"),
            stream=self._places("stream") if "stream" in self.data else None,
            stream_url=self._variables("", "stream_url", self._text("", "stream_url")), model=self._text("", "model"),
            template=self._text("", "template"), framing=self._one_of("", "framing", get_args(Framing), "sse"),
            context_window=self._window(), headers=self._headers(), message=self._message(), reasons=self._reasons(),
        )  # fmt: skip
        self._check_body(made)
        return made

    def _check_body(self, made: GenericApi) -> None:
        """A body must carry the question, and nothing that nobody fills in."""
        used = set()
        for key, value in _strings(made.body):
            for name in PLACEHOLDER.findall(value):
                if name not in PLACEHOLDERS:
                    raise self._error("body", key, f"there is no placeholder {{{name}}}{_near(name, PLACEHOLDERS)}; "
                                      f"there are {', '.join(f'{{{known}}}' for known in PLACEHOLDERS)}")  # fmt: skip
                used.add(name)
        if not used & {"messages", "prompt"}:
            raise self._error("body", "", 'the question is nowhere: one of its values must be "{messages}" or hold {prompt}')
        if made.stream is not None and "stream" not in used and not made.stream_url:
            raise self._error("stream", "", 'streams are never asked for: add stream = "{stream}" to [body], or a stream_url')

    def _places(self, table: str) -> Places:
        values = self._table(table)
        self._known(table, values, Places.__slots__)
        places = Places(**{name: self._text(table, name) for name in values})
        if not places.text:
            raise self._error(table, "", 'text is missing: where is the text of a reply? for example text = "choices.0.text"')
        return places

    def _message(self) -> MessageShape:
        values = self._table("message") if "message" in self.data else {}
        self._known("message", values, MessageShape.__slots__)
        return MessageShape(**{name: self._text("message", name, needed=True) for name in values})

    def _headers(self) -> dict[str, str]:
        values = self._table("headers") if "headers" in self.data else {}
        return {name: self._variables("headers", name, self._text("headers", name)) for name in values}

    def _reasons(self) -> dict[str, FinishReason]:
        values = self._table("reasons") if "reasons" in self.data else {}
        return {word.casefold(): self._one_of("reasons", word, get_args(FinishReason), "unknown") for word in values}

    def _window(self) -> int | None:
        value = self.data.get("context_window")
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
            raise self._error("", "context_window", f"must be a number of tokens, not {value!r}")
        return value

    def _table(self, name: str) -> dict[str, Any]:
        value = self.data.get(name)
        if not isinstance(value, dict):
            raise self._error("", name, f"the table [{name}] is missing" if value is None else f"must be a table: [{name}]")
        return value

    def _text(self, table: str, key: str, needed: bool = False) -> str:
        value = (self.data[table] if table else self.data).get(key, "")
        if not isinstance(value, str):
            raise self._error(table, key, f"must be a text in quotes, not {value!r}")
        if needed and not value.strip():
            raise self._error(table, key, "is missing" if key not in (self.data[table] if table else self.data) else "is empty")
        return value

    def _one_of(self, table: str, key: str, allowed: tuple[Any, ...], default: str) -> Any:
        value = self._text(table, key) or default
        if value not in allowed:
            raise self._error(table, key, f"must be one of {', '.join(allowed)}, not {value!r}")
        return value

    def _variables(self, table: str, key: str, value: str) -> str:
        """A text with ${NAME} filled in from the environment."""
        for name in _VARIABLE.findall(value):
            if not self.env.get(name):
                raise self._error(table, key, f"the environment has no {name}")
        return _VARIABLE.sub(lambda found: self.env[found[1]].strip(), value)

    def _known(self, table: str, values: Mapping[str, Any], known: Collection[str]) -> None:
        for key in values:
            if key not in known:
                raise self._error(table, key, f"is not known{_near(key, known)}; known are {', '.join(sorted(known))}")

    def _error(self, table: str, key: str, problem: str) -> ConfigError:
        line = _line_of(self.text, table, key)
        where = f"{self.path}, line {line}" if line else self.path
        return ConfigError(f"{where}: {' '.join(part for part in (f'[{table}]' if table else '', key) if part) or 'the file'}: {problem}")


def _strings(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Every text in a nested value, with the innermost key above it."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _strings(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner, key)


def _line_of(text: str, table: str, key: str) -> int:
    """The line of a key (or, without one, of its table), counted from 1; 0 when it is not found."""
    inside = ""
    for number, line in enumerate(text.splitlines(), 1):
        if found := re.match(r"\s*\[+\s*\"?([\w.-]+)", line):
            inside = found[1]
            if not key and inside == table:
                return number
        elif key and inside.split(".")[0] == table and re.search(rf"(?:^|[\s{{,])[\"']?{re.escape(key)}[\"']?\s*=", line):
            return number
    return 0


def _near(name: str, known: Collection[str]) -> str:
    close = difflib.get_close_matches(name, known, 1)
    return f" (did you mean {close[0]}?)" if close else ""

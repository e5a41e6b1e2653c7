"""Options that several commands share, and what is made of them."""

import argparse
import contextlib
import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from react_agent.cli import output
from react_agent.cli.fetching import progress_bar
from react_agent.doctor_file import file_for, read, teach
from react_agent.endpoints.base import Endpoint
from react_agent.endpoints.http_endpoint import HttpEndpoint, without_path
from react_agent.endpoints.open import open_endpoint
from react_agent.endpoints.open_local import find_local
from react_agent.endpoints.open_probe import Found
from react_agent.endpoints.open_spec import APIS
from react_agent.endpoints.settings import base_url_in, settings_from
from react_agent.endpoints.structured import CHOICES
from react_agent.endpoints.templates import AUTO, TEMPLATES
from react_agent.errors import ConfigError
from react_agent.folders import home_folder
from react_agent.limits import Limits
from react_agent.local import CATALOGUE, DEFAULT_MODEL, fetch, serve

STATE_VARIABLE = "REACT_AGENT_STATE"


def positive(text: str) -> float:
    """A number above 0, for argparse."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not value > 0 or value == float("inf"):
        raise argparse.ArgumentTypeError(f"must be a number above 0, not {text}")
    return value


def count(text: str) -> int:
    """A whole number from 1, for argparse."""
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1, not {text}")
    return value


def add_endpoint_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "endpoint", "which model answers; without these, LLM_BASE_URL, LLM_API_KEY and LLM_MODEL (or OPENAI_BASE_URL, OPENAI_API_KEY, "
        "OPENAI_MODEL) are read, and then the only model server that runs on this machine is taken; docs/endpoints.md tells more",
    )  # fmt: skip
    where = group.add_mutually_exclusive_group()
    where.add_argument("--endpoint", metavar="ENDPOINT",
                       help="a server's address such as http://localhost:8080, or openai:URL, completions:URL, ollama:MODEL, llamacpp:URL, "
                       "anthropic:MODEL, gemini:MODEL, tgi:URL, kobold:URL, generic:FILE.toml, 'command:PROGRAM ARGS'")  # fmt: skip
    where.add_argument("--local", nargs="?", const=DEFAULT_MODEL, choices=sorted(CATALOGUE), metavar="NAME",
                       help=f"run a model on this machine ({', '.join(CATALOGUE)}; default {DEFAULT_MODEL})")  # fmt: skip
    group.add_argument("--model", help="the model's name, for servers that have several")
    group.add_argument("--api", choices=APIS, default="", metavar="NAME",
                       help=f"how to ask a server whose address alone is given ({', '.join(APIS)}; default: the server tells)")  # fmt: skip
    group.add_argument("--template", default="", metavar="NAME",
                       help=f"make one prompt of the messages, for endpoints that take one ({', '.join((AUTO, *TEMPLATES))})")  # fmt: skip
    group.add_argument("--context-window", type=count, metavar="N", help="tokens of prompt and reply together (default: the server tells)")
    group.add_argument("--model-file", type=Path, metavar="FILE", help="a GGUF file of your own; with --local NAME in place of a download")
    group.add_argument("--api-key-file", type=Path, metavar="FILE", help="a file with the key, in place of LLM_API_KEY")
    group.add_argument("--temperature", type=float, metavar="T", help="default 0, the most likely reply; anthropic: leaves it to the model")
    group.add_argument("--max-output-tokens", type=count, default=512, metavar="N", help="the most tokens of one reply (default 512)")
    group.add_argument("--structured", choices=CHOICES, default="off",
                       help="hold replies to the decision's JSON Schema, where the server proves that it does (auto) or in this way, as "
                       "long as it is not refused (default off: a model that holds the format gains nothing)")  # fmt: skip
    group.add_argument("--seed", type=int, metavar="N", help="for servers that draw at random")
    group.add_argument("--no-stream", action="store_true", help="wait for whole replies")
    group.add_argument("--call-timeout", type=positive, default=300.0, metavar="S", help="seconds for one call (default 300)")
    group.add_argument("--fresh", action="store_true", help="leave aside what react-agent doctor found about this endpoint")
    group.add_argument("--threads", type=count, metavar="N", help="with --local: processor threads")


def add_limit_options(parser: argparse.ArgumentParser, *, max_steps: int = 10) -> None:
    group = parser.add_argument_group("limits", "a run ends when one of them is reached")
    group.add_argument("--max-steps", type=count, default=max_steps, metavar="N", help=f"replies of the model (default {max_steps})")
    group.add_argument("--max-tokens", type=count, metavar="N", help="prompt and reply tokens over the whole run")
    group.add_argument("--max-seconds", type=positive, metavar="S", help="wall clock")
    group.add_argument("--max-cost", type=positive, metavar="C", help="in the currency of the prices, which it needs")
    group.add_argument("--input-price", type=float, metavar="P", help="of a million prompt tokens")
    group.add_argument("--output-price", type=float, metavar="P", help="of a million reply tokens")
    group.add_argument("--prices", type=Path, metavar="FILE",
                       help='prices by model: JSON such as {"small": {"input": 0.1, "output": 0.4}}, per million tokens')  # fmt: skip
    group.add_argument("--max-parse-failures", type=count, default=3, metavar="N", help="unreadable replies in a row (default 3)")


def limits_from(args: argparse.Namespace, model: str = "") -> Limits:
    """The limits that the options set. model: whose prices are looked up in --prices; a price given as an option goes first."""
    listed = prices_of(args.prices, model) if args.prices is not None and model else (None, None)
    given = (args.input_price, args.output_price)
    input_price, output_price = (mine if mine is not None else theirs for mine, theirs in zip(given, listed, strict=True))
    return Limits(
        max_steps=args.max_steps, max_tokens=args.max_tokens, max_seconds=args.max_seconds, max_cost=args.max_cost,
        max_parse_failures=args.max_parse_failures, input_price=input_price, output_price=output_price,
    )  # fmt: skip


def prices_of(path: Path, model: str) -> tuple[float | None, float | None]:
    """A model's two prices in a price file, None for a model that is not in it: an unknown price is not 0."""
    try:
        table = json.loads(read_text(path, "prices"))
        entry = table.get(model)
        return (None, None) if entry is None else (float(entry["input"]), float(entry["output"]))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ConfigError(f'{path}: not a price table; it looks like {{"{model}": {{"input": 0.1, "output": 0.4}}}}') from None


@contextlib.contextmanager
def endpoint_from(args: argparse.Namespace) -> Iterator[tuple[Endpoint, tuple[str, ...]]]:
    """The endpoint that the options or the environment name, and the secrets that must not be shown; a local server ends with it."""
    if args.local is not None or args.model_file is not None:
        with _local(args) as endpoint:
            yield _recalling(args, endpoint), ()
        return
    spec, api, env = args.endpoint or base_url_in(os.environ), args.api, dict(os.environ)
    if not spec and (server := _only_server(args.quiet)) is not None:
        spec, api = server.url, api or server.api
        env = {name: value for name, value in env.items() if "KEY" not in name}  # nobody named this server: it gets no key
    settings = settings_from(env, base_url=spec, model=args.model, api_key_file=args.api_key_file, api=api)
    endpoint = _recalling(args, _open(args, settings.base_url, settings.model, settings.api_key, api, env))
    yield endpoint, endpoint.secrets.values if isinstance(endpoint, HttpEndpoint) else ()


def known_file(args: argparse.Namespace, endpoint: HttpEndpoint) -> Path:
    """Where react-agent doctor keeps what it found about this endpoint."""
    local = args.local is not None or args.model_file is not None
    return file_for(state_folder(), endpoint, endpoint.model if local else "")


def _recalling(args: argparse.Namespace, endpoint: Endpoint) -> Endpoint:
    """The endpoint with what react-agent doctor found about it, unless --fresh is given."""
    if args.fresh or not isinstance(endpoint, HttpEndpoint):
        return endpoint
    with contextlib.suppress(ConfigError):  # a user without a home folder has nothing to recall
        if (known := read(known_file(args, endpoint))) is not None:
            teach(endpoint, known)
    return endpoint


def _only_server(quiet: bool) -> Found | None:
    """The only model server of this machine, None when there is none; ConfigError lists several."""
    found = find_local()
    if len(found) > 1:
        listed = "".join(f"\n  {server.url}  {server.server}  {', '.join(map(without_path, server.models[:4]))}" for server in found)
        raise ConfigError(f"several model servers run on this machine; name one with --endpoint URL:{listed}")
    if found and not quiet:
        output.say(f"endpoint {found[0].server} at {found[0].url}, the only model server here; --endpoint names another")
    return found[0] if found else None


@contextlib.contextmanager
def _local(args: argparse.Namespace) -> Iterator[Endpoint]:
    name = args.local or (args.model_file.stem if args.model_file else DEFAULT_MODEL)
    with progress_bar(name) as progress:
        file = fetch(args.local, path=args.model_file, progress=progress)
    if not args.quiet:
        output.say(f"loading {name} ...")
    with serve(file, threads=args.threads) as server:
        yield _open(args, server.base_url, name, None, args.api, {})


def _open(args: argparse.Namespace, spec: str, model: str, key: str | None, api: str, env: Mapping[str, str]) -> Endpoint:
    structured = None if args.structured == "off" else args.structured  # a program has no such setting
    given = {"temperature": args.temperature, "structured": structured, "seed": args.seed, "context_window": args.context_window}
    return open_endpoint(
        spec, model=model, api=api, api_key=key, template=args.template, env=env, max_output_tokens=args.max_output_tokens,
        stream=not args.no_stream, timeout_s=args.call_timeout, **{name: value for name, value in given.items() if value is not None},
    )  # fmt: skip


def read_text(path: Path | None, what: str) -> str:
    """A UTF-8 file's text, empty for None; ConfigError names the file."""
    if path is None:
        return ""
    try:
        return path.read_text("utf-8")
    except OSError as error:
        raise ConfigError(f"cannot read the {what} {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"cannot read the {what} {path}: it is not UTF-8 text") from None


def state_folder() -> Path:
    """Where traces go by default: REACT_AGENT_STATE, else the user's state folder of this system. ConfigError for a user without one."""
    if given := os.environ.get(STATE_VARIABLE):
        return Path(given)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home_folder(STATE_VARIABLE) / "AppData" / "Local") / "react_agent"
    if sys.platform == "darwin":
        return home_folder(STATE_VARIABLE) / "Library" / "Application Support" / "react_agent"
    return Path(os.environ.get("XDG_STATE_HOME") or home_folder(STATE_VARIABLE) / ".local" / "state") / "react_agent"


def check_trace(args: argparse.Namespace) -> None:
    """ConfigError for a --trace that can become no file."""
    path = args.trace
    if path is None or (path.exists() and not path.is_file() and not path.is_dir()):  # a device or a pipe
        return
    folder = path if path.is_dir() else path.parent
    if not folder.is_dir():
        raise ConfigError(f"the trace {path} cannot be written: {folder} is no folder")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ConfigError(f"the trace {path} cannot be written: nothing may be written in {folder}")


def trace_target(args: argparse.Namespace) -> Path | None:
    """Where the trace goes: --trace, else a new file in the state folder; None with --no-trace or when nothing can be written there."""
    if args.no_trace:
        return None
    if args.trace is not None:
        return Path(args.trace)
    try:
        folder = state_folder() / "traces"
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK | os.X_OK):
            return folder
        why = f"{folder} cannot be written to"
    except OSError as error:
        why = f"{folder} cannot be made ({error.strerror})"
    except ConfigError as error:
        why = str(error)
    output.say(f"no trace is written: {why}; name a file with --trace")
    return None

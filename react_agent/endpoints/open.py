"""One call from what a person writes to an endpoint that works: which API, which address, which key, which model."""

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from react_agent.endpoints.anthropic import AnthropicEndpoint
from react_agent.endpoints.base import Endpoint
from react_agent.endpoints.chat import ChatEndpoint
from react_agent.endpoints.command import CommandEndpoint
from react_agent.endpoints.completions import CompletionsEndpoint
from react_agent.endpoints.gemini import GeminiEndpoint
from react_agent.endpoints.generic import GenericEndpoint
from react_agent.endpoints.generic_file import read_generic
from react_agent.endpoints.http import shown
from react_agent.endpoints.http_checks import check_url
from react_agent.endpoints.http_endpoint import HttpEndpoint
from react_agent.endpoints.koboldcpp import KoboldEndpoint
from react_agent.endpoints.llamacpp import LlamaCppEndpoint
from react_agent.endpoints.ollama import OllamaEndpoint
from react_agent.endpoints.open_probe import Found, recognise
from react_agent.endpoints.open_spec import Spec, parse_spec
from react_agent.endpoints.settings import key_for, missing_key, model_for
from react_agent.endpoints.tgi import TgiEndpoint
from react_agent.errors import ConfigError

_MAKERS: Mapping[str, Callable[..., HttpEndpoint]] = {
    "openai": ChatEndpoint, "completions": CompletionsEndpoint, "ollama": OllamaEndpoint, "llamacpp": LlamaCppEndpoint,
    "anthropic": AnthropicEndpoint, "gemini": GeminiEndpoint, "tgi": TgiEndpoint, "kobold": KoboldEndpoint,
}  # fmt: skip
Made = TypeVar("Made")
_WITHOUT_TEMPLATE = ("openai", "anthropic", "gemini")
_NEEDS_MODEL = ("ollama", "anthropic", "gemini")


def open_endpoint(
    spec: str, *, model: str = "", api: str = "", api_key: str | None = None, template: str = "", env: Mapping[str, str] | None = None,
    **settings: Any,
) -> Endpoint:  # fmt: skip
    """The endpoint that spec names: "openai:URL", "completions:URL", "ollama:[URL|model]", "llamacpp:URL", "anthropic:[model]",
    "gemini:[model]", "tgi:URL", "kobold:URL", "generic:FILE", "command:PROGRAM ARGS", or a URL.

    The API behind a URL alone is told by its path, else by the server: a few look-ups at the same time, without a key, three seconds
    at most; a server that tells nothing is asked as OpenAI's chat API. api: one of these names, and nothing is looked up. template:
    for endpoints that take one string. api_key, model: what is not given comes from env (None: the process's environment), as
    settings_from says; a model that is the server's only one need not be named. settings: of the endpoint's own class.
    Raises ConfigError.
    """
    env = os.environ if env is None else env
    named = parse_spec(spec, env, api)
    if named.api == "command":
        return _made(CommandEndpoint, named.rest, model=model, template=template or "plain", **settings)
    if named.api == "generic":
        described = read_generic(named.rest, env)
        return _made(GenericEndpoint, described, model=model, api_key=api_key, template=template, **settings)
    found = None if named.api else recognise(check_url(named.url))
    named = replace(named, api=_best_api(named, found, template))
    if template and named.api in _WITHOUT_TEMPLATE:
        raise ConfigError(f"the API {named.api} takes messages, not a prompt: leave the template out, or use completions:URL")
    key = api_key or key_for(named, env)
    if not key and (variable := missing_key(named)):
        raise ConfigError(f"{shown(named.url)} wants a key: set {variable}, or name a file that holds it with --api-key-file (or api_key=)")
    if template:
        settings["template"] = template
    made = _made(_MAKERS[named.api], named.url, model=model or model_for(named, env), api_key=key, **settings)
    if not made.model:
        made.model = _only_model(made, named, found)
    return made


def _best_api(named: Spec, found: Found | None, template: str) -> str:
    """The family that was named or recognised, else OpenAI's; one that takes a prompt where a template was named."""
    api = named.api or (found.api if found else "openai")
    if template and api == "openai" and not named.explicit:
        return "llamacpp" if found and found.server == "llama.cpp" else "completions"
    return api


def _only_model(made: HttpEndpoint, named: Spec, found: Found | None) -> str:
    """The model of a server that has one; ConfigError where one must be chosen."""
    names = found.models if found else ()
    if named.api in _NEEDS_MODEL and not names:
        names = tuple(made.model_names())
    if len(names) == 1:
        return names[0]
    if named.api not in _NEEDS_MODEL:
        return ""  # the server takes its own
    several = f"it has {', '.join(names[:12])}" + (f" and {len(names) - 12} more" if len(names) > 12 else "")
    raise ConfigError(f"which model of {shown(named.url)}? {several if names else 'it lists none'}; name one with --model (or model=)")


def _made(maker: Callable[..., Made], *args: Any, **settings: Any) -> Made:
    """An endpoint; a setting that its class does not have is a ConfigError that names it."""
    try:
        return maker(*args, **settings)
    except TypeError as error:
        words = str(error)
        if "unexpected keyword argument" not in words:
            raise
        raise ConfigError(f"this endpoint has no setting {words.rpartition('argument ')[2]}") from None

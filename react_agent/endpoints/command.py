"""Any program as a model: the prompt on its standard input, the reply on its standard output."""

import codecs
import os
import shlex
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from react_agent.endpoints.base import PLAIN, Request
from react_agent.endpoints.command_process import Program
from react_agent.endpoints.http_checks import check_numbers, check_stop
from react_agent.endpoints.http_reply import Delta, Reply
from react_agent.endpoints.http_retry import Deadline
from react_agent.endpoints.http_secrets import Secrets
from react_agent.endpoints.templates import Template, template_named
from react_agent.errors import ConfigError, EndpointError
from react_agent.tokens import estimate_prompt, estimate_tokens
from react_agent.types import Completion, Message, Usage

MOST_WORDS = 600  # characters of a program's own error that are repeated


class CommandEndpoint:
    """A program that is started anew for each call. Raises ConfigError at once for a program that is not there.

    command: the program and its arguments, as a list or as one text that is split as a shell would; no shell runs it (name one, as
    in "sh -c '...'", where it is wanted). template: a name of templates.TEMPLATES or a Template. The program finds the model's name
    and the most tokens of the reply in REACT_AGENT_MODEL and REACT_AGENT_MAX_OUTPUT_TOKENS. stream: whether it is ended as soon as
    the decision is whole. folder: where it runs. env: its environment, None for ours. The other settings are as in HttpEndpoint.
    The counts of its completions are estimates, and why the model stopped is unknown.
    """

    def __init__(
        self, command: str | Sequence[str], model: str = "", *, template: str | Template = "plain", max_output_tokens: int = 512,
        stop: Sequence[str] = (), stream: bool = True, timeout_s: float = 120.0, max_response_bytes: int = 64 << 20,
        context_window: int | None = None, folder: str | Path | None = None, env: Mapping[str, str] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        check_numbers(
            temperature=None, max_output_tokens=max_output_tokens, timeout_s=timeout_s, connect_timeout_s=1.0, first_byte_timeout_s=None,
            max_retries=0, max_response_bytes=max_response_bytes,
        )  # fmt: skip
        self._argv = _argv(command)
        self.model = model
        self.template = template if isinstance(template, Template) else template_named(template)
        self.stop = tuple(dict.fromkeys((*check_stop(stop), *self.template.stop)))
        self.max_output_tokens = max_output_tokens
        self.context_window = context_window
        self.stream = stream
        self.timeout_s = timeout_s
        self.max_response_bytes = max_response_bytes
        self._folder = None if folder is None else str(folder)
        self._env = env
        self._clock = clock

    def complete(self, messages: Sequence[Message], request: Request = PLAIN) -> Completion:
        started = self._clock()
        ends = [started + self.timeout_s, *([] if request.deadline is None else [request.deadline])]
        deadline = Deadline(min(ends), request.cancel, self._clock)
        deadline.check()
        reply = Reply(request, self.stop, watched=self.stream)
        try:
            self._run(messages, reply, deadline)
        except EndpointError as error:
            error.partial = reply.text
            raise
        usage = Usage(estimate_prompt(messages), round(estimate_tokens(reply.text)), estimated=True)
        return Completion(
            reply.text, "stop" if reply.satisfied else "unknown", usage, closed_early=reply.closed_early, model=self.model,
            seconds=self._clock() - started,
        )  # fmt: skip

    def count_tokens(self, messages: Sequence[Message]) -> int | None:
        return None

    def describe(self) -> dict[str, Any]:
        """The settings, for a trace; of the command its name alone, since arguments may be secret."""
        return {
            "endpoint": "command", "command": self._name, "model": self.model, "template": self.template.name, "stop": list(self.stop),
            "max_output_tokens": self.max_output_tokens, "stream": self.stream, "timeout_s": self.timeout_s,
        }  # fmt: skip

    def __repr__(self) -> str:
        return f"CommandEndpoint({self._name!r}, model={self.model!r})"

    @property
    def _name(self) -> str:
        return Path(self._argv[0]).name

    def _run(self, messages: Sequence[Message], reply: Reply, deadline: Deadline) -> None:
        env = {**(os.environ if self._env is None else self._env), "REACT_AGENT_MODEL": self.model,
               "REACT_AGENT_MAX_OUTPUT_TOKENS": str(reply.request.max_output_tokens or self.max_output_tokens)}  # fmt: skip
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        prompt = self.template.render(messages)
        with Program(self._argv, prompt, deadline, env=env, folder=self._folder, max_bytes=self.max_response_bytes) as program:
            for piece in program.pieces():
                reply.add(Delta(decode(piece)))
                if reply.satisfied:
                    return
            reply.add(Delta(decode(b"", True)))
            reply.flush()
            if (code := program.exit_code()) != 0:
                raise self._failed(code, program.errors)

    def _failed(self, code: int, errors: str) -> EndpointError:
        how = f"ended with exit code {code}" if code > 0 else f"was ended by signal {-code}"
        words = Secrets().masked(errors)[-MOST_WORDS:]
        message = f"{self._name} {how}" + (f": {words}" if words else "")
        return EndpointError("server_error", message, "run the command by hand with a short prompt")


def _argv(command: str | Sequence[str]) -> list[str]:
    """The program's path and its arguments."""
    if isinstance(command, str):
        try:
            words = shlex.split(command, posix=os.name == "posix")
        except ValueError as error:
            raise ConfigError(f"the command cannot be taken apart ({error}): check its quotes") from None
    else:
        words = list(command)
    if not words:
        raise ConfigError("there is no command; for example command:my-model --fast")
    program = shutil.which(words[0])
    if program is None:
        raise ConfigError(f"there is no program {words[0]!r} on the PATH, or it cannot be run")
    return [os.path.abspath(program), *words[1:]]

"""What the endpoints that take one string have in common: where their prompt template comes from."""

from collections.abc import Sequence
from typing import Any, Self

from react_agent.endpoints.base import PLAIN as PLAIN_REQUEST
from react_agent.endpoints.http_call import Ask
from react_agent.endpoints.http_decode import fields, string
from react_agent.endpoints.http_endpoint import HttpEndpoint, without_path
from react_agent.endpoints.http_llamacpp import wire_messages
from react_agent.endpoints.http_retry import Deadline
from react_agent.endpoints.roles import strict_roles
from react_agent.endpoints.templates import AUTO, PLAIN, Template, recognised, template_named, usual_for
from react_agent.registry_neutral import neutral
from react_agent.types import Message

_NOT_OFFERED = (401, 403, 404, 405, 501)  # a server that has no such route; anything else may be better in a moment
_REFUSED = (400, 422, 500)                # what a chat template that wants other roles ends in


class PromptEndpoint(HttpEndpoint):
    """An HttpEndpoint that sends one string.

    template: a name of templates.TEMPLATES, a Template, or "auto": the server applies its own where it has a route for that;
    else the one that its chat template amounts to; else the one that models of this name are trained on; else plain text. Which
    one was taken is a note of the completion. A template's own stop words end the text too, after those of stop.
    """

    apply_route = ""  # where the server makes a prompt of messages, and ...
    apply_field = "prompt"  # ... the field of the answer that has it
    source_route = ""  # where it tells its chat template, under "chat_template"

    def __init__(
        self, base_url: str, model: str = "", api_key: str | None = None, *, template: str | Template = AUTO, **settings: Any,
    ) -> None:  # fmt: skip
        super().__init__(base_url, model, api_key, **settings)
        self._own_words = self.stop
        self._applies: bool | None = None if self.apply_route else False  # None: not known yet
        self.template: Template | None = None
        if isinstance(template, Template):
            self._use(template)
        elif template != AUTO:
            self._use(template_named(template))

    @property
    def applies(self) -> bool:
        """Whether the server may have a route that makes a prompt of messages."""
        return self._applies is not False

    def prompt_for(self, ask: Ask) -> str:
        """The messages as one string."""
        if self.template is not None:
            return self.template.render(ask.messages)
        if self.applies and (prompt := self._applied(ask)) is not None:
            return prompt
        return self._found_template(ask.deadline).render(ask.messages)

    def count_prompt(self, prompt: str) -> int | None:
        """How many tokens the server makes of a prompt, None when it does not tell."""
        return None

    def count_tokens(self, messages: Sequence[Message]) -> int | None:
        """The server's own count, asked for on this machine only."""
        if not self.on_this_machine:
            return None
        sent = strict_roles(messages) if self.ladder.learned.strict_roles else tuple(messages)
        return self.count_prompt(self.prompt_for(Ask(sent, 0, False, PLAIN_REQUEST)))

    def template_source(self, deadline: Deadline) -> tuple[int, str]:
        """(status, text) of a look-up of the server's chat template."""
        if not self.source_route:
            return 404, ""
        status, data = self.asked(self.route_url(self.source_route), None, deadline)
        return status, string(fields(data).get("chat_template"))

    def variant(self, **settings: Any) -> Self:
        made = super().variant(**settings)
        if "stop" in settings:
            made._own_words = made.stop
            if made.template is not None:
                made._use(made.template)
        return made

    def describe(self) -> dict[str, Any]:
        return {**super().describe(), "template": AUTO if self.template is None else self.template.name}

    def _applied(self, ask: Ask) -> str | None:
        """The prompt that the server itself makes; roles that its template refuses are made strict, from then on."""
        for messages in (ask.messages, strict_roles(ask.messages)):
            safe = [Message(message.role, neutral(message.content)) for message in messages]
            status, data = self.asked(self.route_url(self.apply_route), {"messages": wire_messages(safe)}, ask.deadline)
            prompt = string(fields(data).get(self.apply_field))
            if status == 200 and prompt:
                self._applies = True
                if messages is not ask.messages:
                    self.ladder.learn(strict_roles=True)
                return prompt
            if status in _NOT_OFFERED:
                self._applies = False
            if status not in _REFUSED:
                return None
        return None

    def _found_template(self, deadline: Deadline) -> Template:
        """The template that the server or the model's name tells; for good unless the server only did not answer just now."""
        status, source = self.template_source(deadline)
        name = self.model or next(iter(self.model_names()), "")
        template, why = recognised(source), "the server's chat template looks like it"
        if template is None:
            template, why = usual_for(name), f"models named like {without_path(name)!r} use it"
        if template is None:
            template, why = PLAIN, "neither the server nor the model's name tells another; name one with template="
        if self._applies is not True and (status == 200 or status in _NOT_OFFERED):
            self._use(template)
            self._unsaid.append(f"prompt template {template.name}: {why}")
        return template

    def _use(self, template: Template) -> None:
        self.template = template
        self.stop = tuple(dict.fromkeys((*self._own_words, *template.stop)))

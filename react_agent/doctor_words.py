"""What each outcome of each check is called, and what it means for the person who runs agents here."""

from collections.abc import Mapping

from react_agent.doctor_finding import Finding, Verdict

Words = tuple[Verdict, str, str]  # verdict, what was found, what it means; {names} are filled in
NOTHING = "nothing to do: "
WORDS: Mapping[str, Mapping[str, Words]] = {
    "server": {
        "answers": ("good", "{server}, asked as {api}", ""),
    },
    "window": {
        "large": ("good", "{tokens:,} tokens", "old observations are shortened before it is full"),
        "small": ("mind", "{tokens:,} tokens", "small for an agent: old observations are soon shortened; serve the model with more"),
        "not_told": ("mind", "not told", "a prompt that is too long shows only when it is refused; name it with --context-window"),
    },
    "system": {
        "reaches": ("good", "accepted", "the rules and the tools go there"),
        "accepted": ("good", "accepted", "whether it reaches the model cannot be told without token counts"),
        "refused": ("mind", "refused", NOTHING + "the system text is put in front of the first question"),
        "dropped": ("bad", "accepted, but dropped", "the model never sees its rules: start the server with another chat template"),
        "made_here": ("good", "made here", "the messages become one prompt before the program sees them"),
    },
    "turns": {
        "free": ("good", "two user messages in a row are accepted", ""),
        "strict": ("mind", "must alternate", NOTHING + "neighbours of one role are put together"),
        "made_strict": ("good", "always alternating", "this API's messages are put in strict order before they are sent"),
        "made_here": ("good", "made here", "the messages become one prompt before the program sees them"),
    },
    "stop": {
        "honoured": ("good", "honoured", ""),
        "ignored": ("mind", "ignored", "texts are cut here, but what follows is written and paid for"),
        "refused": ("mind", "refused", NOTHING + "texts are cut here"),
        "unclear": ("unknown", "not found out", ""),
        "made_here": ("good", "cut here", "a program is not told any"),
    },
    "streaming": {
        "works": ("good", "works", ""),
        "one_piece": ("mind", "arrives in one piece", "replies cannot be closed early"),
        "refused": ("mind", "refused or broken", NOTHING + "whole replies are asked for; none can be closed early"),
        "off": ("unknown", "switched off", "by --no-stream, or because this API has none"),
    },
    "early close": {
        "counted": ("good", "works, with the server's counts", ""),
        "estimated": ("mind", "works, with estimated counts", "the tokens of steps that are closed early are estimates"),
        "impossible": ("mind", "not possible", "what a model writes behind its decision is waited and paid for"),
    },
    "structured": {
        "enforced": ("good", "{modes} enforced", "--structured auto uses it; a model that holds the format gains nothing"),
        "object_only": ("mind", "json_object alone is enforced", "it holds no reply to the tools' names: leave --structured off"),
        "not_enforced": ("mind", "not enforced", "leave --structured off"),
        "not_offered": ("good", "not offered", "this API has no place for a schema; replies are parsed with care in any case"),
    },
    "prefill": {
        "continued": ("good", "continued", "the agent does not use it"),
        "echoed": ("good", "continued and echoed", "the agent does not use it"),
        "ignored": ("good", "not continued", "the agent does not use it"),
        "refused": ("good", "refused", "the agent does not use it"),
        "not_tried": ("unknown", "not tried", "messages always end with the user's here"),
    },
    "usage": {
        "honest": ("good", "honest", "limits and costs count what the server counts"),
        "not_told": ("mind", "not told, or not to be believed", "limits and costs are estimates, and a prompt that is cut goes unseen"),
        "wrong": ("bad", "far from what was sent", "do not rely on token limits and costs here; is the prompt cut?"),
    },
    "cut": {
        "reported": ("good", "reported", "the output limit is raised once when a reply is cut"),
        "from_counts": ("mind", "not reported, but its counts give it away", NOTHING + "the counts are looked at"),
        "hidden": ("mind", "not reported", "a reply that is cut looks like a broken one; keep --max-output-tokens generous"),
        "limit_ignored": ("mind", "the output limit is ignored", "replies may be longer, and cost more, than you allow"),
        "unclear": ("unknown", "not found out", ""),
    },
    "reasoning": {
        "none": ("good", "none seen", ""),
        "apart": ("good", "kept apart from the reply", "it costs output tokens, and never counts as a reply"),
        "in_text": ("good", "inside the reply, between tags", "the parser takes it out"),
        "all_of_it": ("mind", "all tokens went into thinking", "raise --max-output-tokens, or switch thinking off at the server"),
    },
    "speed": {
        "streamed": ("good", "reads {reads:.0f}, writes {writes:.1f} tokens/s", "a step of 800 tokens in, 80 out takes about {step:.1f} s"),
        "whole": ("good", "writes {writes:.1f} tokens/s", "the time for reading the prompt is in this"),
        "unclear": ("unknown", "not found out", ""),
    },
    "format": {
        "held": ("good", "{readable} of {replies} replies readable", ""),
        "held_but_wrong": ("good", "{readable} of {replies} replies readable", "it holds the format; its answers are another matter"),
        "shaky": ("mind", "{readable} of {replies} replies readable", "unreadable replies are asked for again, which costs steps"),
        "lost": ("bad", "{readable} of {replies} replies readable", "too weak for the format: try --structured auto, or a larger model"),
    },
}  # fmt: skip


def told(name: str, outcome: str, evidence: str, **values: object) -> Finding:
    """The finding that a check has come to. values: for programs, and for the words."""
    verdict, found, meaning = WORDS[name][outcome]
    return Finding(name, outcome, verdict, found.format(**values), evidence, meaning.format(**values), values)

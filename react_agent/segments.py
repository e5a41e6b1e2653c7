"""What in a text is reply and what is reasoning, another turn or a server's token; pure.

Tags count only outside objects, since a string may hold any of them: the caller skips objects, MARK finds everything that
matters between them in one pass. Which group matched says what it is: object, open, close, channel, end or turn.
"""

import re

_NAMES = ("think", "thinking", "thought", "thoughts", "reasoning", "reflection", "scratchpad", "analysis", "seed:think")
_PAIRS = {name: re.compile(rf"<(/?){name}(?:\s[^<>\n]{{0,100}})?>", re.IGNORECASE) for name in _NAMES}
_OTHER_PAIRS = {"think]": "[/think]", "think▷": "◁/think▷", "|begin_of_thought|>": "<|end_of_thought|>", "|start_thinking|>": "<|end_thinking|>"}
_OTHER_PATTERNS = {opener: re.compile(re.escape(closer), re.IGNORECASE) for opener, closer in _OTHER_PAIRS.items()}

_NAME = "|".join(_NAMES)
_OPEN = rf"(?<=<)(?:{_NAME})(?:\s[^<>\n]{{0,100}}+)?>|(?<=\[)THINK\]|(?<=◁)think▷|(?<=<)\|(?:begin_of_thought|START_THINKING)\|>"
_CLOSE = rf"(?<=<)/(?:{_NAME})\s*+>|(?<=\[)/THINK\]|(?<=◁)/think▷|(?<=<)\|(?:end_of_thought|END_THINKING)\|>"
_CHANNEL = r"(?<=<)\|channel\|>\s*+(?P<name>\w+)(?P<header>[^<]{0,120}+)(?:<\|constrain\|>\s*+\w*+)?\s*+<\|message\|>"
_END = (
    r"(?<=<)(?:\|(?:im_end|eot_id|eom_id|endoftext|end_of_text|end_of_turn|end_of_message|return|call|end|eos)\|>"
    r"|/s>|end_of_turn>|eos>|｜end▁of▁sentence｜>)"
)
_TURN = r"(?<=<)(?:\|(?:im_start|start|start_header_id)\|>|start_of_turn>)\s*+(?P<role>\w*+)"
_TAG = rf"(?i:(?P<open>{_OPEN})|(?P<close>{_CLOSE})|(?P<channel>{_CHANNEL})|(?P<end>{_END})|(?P<turn>{_TURN}))"

# An object begins with a brace and a key with its colon. Braces in prose and sets do not; nor does \text{Answer: 5}.
_QUOTED = r"""(?:"[^"\\\n]{1,80}+"|\\?["'“‘`„＂«][^"'“”‘’`\\{}\[\]:：\n]{1,80}+\\?["'”’`“＂»]?)"""
_BARE = r"""[^\W\d][\w.-]{0,60}+["'”]?"""
_BLANK = r"[\s,，\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\x00-\x08]"
_NOISE = rf"(?:{_BLANK}++|//[^\n]{{0,200}}+\n|\#[^\n]{{0,200}}+\n|/\*(?:[^*]|\*(?!/)){{0,80}}+\*/|\\[nrt])*+"
_COLON = rf"{_BLANK}*+[:：]"
_OBJECT = rf"(?<=[{{｛])(?:(?={_NOISE}{_QUOTED}{_COLON})|(?<![\w\\$^][{{｛])(?={_NOISE}{_BARE}{_COLON}))"
CHANNEL_END = re.compile(r"\s*+<\|(?:end|channel|start|return|call)\|>", re.IGNORECASE)
MARK = re.compile(rf"[{{｛<\[◁](?:(?P<object>{_OBJECT})|{_TAG})")


def reasoning_end(text: str, opener: re.Match[str]) -> int:
    """Where the reasoning that an opening tag begins is over, after its closing tag; -1 when it is never closed.

    Tags of the same name nest, so that a text that was cut inside them is never taken for the reply.
    """
    tag = opener["open"].casefold()
    name = re.split(r"[\s>]", tag, maxsplit=1)[0]
    if name not in _PAIRS:
        closer = _OTHER_PATTERNS[tag].search(text, opener.end())
        return closer.end() if closer else -1
    depth = 1
    for match in _PAIRS[name].finditer(text, opener.end()):
        depth += -1 if match[1] else 1
        if not depth:
            return match.end()
    return -1

"""What in a text is reply and what is reasoning, another turn or a server's token; pure.

Tags count only outside objects, since a string may hold any of them: the caller skips objects, MARK finds everything that
matters between them in one pass. Which group matched says what it is: object, open, close, channel, end or turn.
"""

import re

_NAMES = ("think", "thinking", "thought", "thoughts", "reasoning", "reflection", "scratchpad", "analysis", "seed:think")
_OTHERS = {"[think]": "[/think]", "◁think▷": "◁/think▷", "<|begin_of_thought|>": "<|end_of_thought|>",
           "<|start_thinking|>": "<|end_thinking|>"}  # fmt: skip
_PAIRS = {name: re.compile(rf"<(/?){name}(?:\s[^<>\n]{{0,100}}(?<!/))?>", re.IGNORECASE) for name in _NAMES}
_PAIRS |= {opener: re.compile(f"({re.escape(closer)})", re.IGNORECASE) for opener, closer in _OTHERS.items()}

_NAME = "|".join(_NAMES)
_OPEN = rf"(?<=<)(?:{_NAME})(?:[ \t][^<>\n]{{0,100}}+(?<!/))?>|(?<=\[)THINK\]|(?<=◁)think▷|(?<=<)\|(?:begin_of_thought|START_THINKING)\|>"
_CLOSE = rf"(?<=<)/(?:{_NAME})[ \t]{{0,20}}+>|(?<=\[)/THINK\]|(?<=◁)/think▷|(?<=<)\|(?:end_of_thought|END_THINKING)\|>"
_CHANNEL = r"(?<=<)\|channel\|>\s*+(?P<name>\w+)(?P<header>[^<]{0,120}+)(?:<\|constrain\|>\s*+\w*+)?\s*+<\|message\|>"
_END = (
    r"(?<=<)(?:\|(?:im_end|eot_id|eom_id|endoftext|end_of_text|end_of_turn(?:_token)?|end_of_message|return|call|end|eos"
    r"|user|system|tool|observation)\|>|/s>|end_of_turn>|eos>|｜(?:end▁of▁sentence|user)｜>)"
)
_TURN = r"(?<=<)(?:\|(?:im_start|start|start_header_id)\|>|start_of_turn>)\s*+(?P<role>\w*+)"
_TAG = rf"(?i:(?P<open>{_OPEN})|(?P<close>{_CLOSE})|(?P<channel>{_CHANNEL})|(?P<end>{_END})|(?P<turn>{_TURN}))"

# An object begins with a brace and a key with its colon, or a quoted one with no comma behind it. Braces in prose and sets do not; nor
# does \text{Answer: 5}.
_STRING = r"""(?:"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+')"""
_QUOTED = rf"""(?:{_STRING}|\\?["'“”‘’`„＂«「『][^"'“”‘’`\\{{}}\[\]:：\n]{{1,80}}+\\?["'”’`“＂»」』]?)"""
_BARE = r"""[^\W\d][\w.-]{0,60}+["'”]?"""
_BLANK = r"[\s,，\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\x00-\x08]"
_NOISE = rf"(?:{_BLANK}++|//[^\n]{{0,200}}+\n|\#[^\n]{{0,200}}+\n|/\*(?:[^*]|\*(?!/)){{0,40}}+\*/|\\[nrt])*+"
_COLON = rf"{_BLANK}*+(?:/\*[^*]{{0,80}}+\*/{_BLANK}*+)?+[:：]"
_OBJECT = rf"(?<=[{{｛])(?:(?={_NOISE}(?:{_QUOTED}{_COLON}|{_STRING}\s*+[\"'“{{\[]))|(?<![\w\\$^][{{｛])(?={_NOISE}{_BARE}{_COLON}))"
CHANNEL_END = re.compile(r"\s*+<\|(?:end|channel|start|return|call)\|>", re.IGNORECASE)
TURN_END = re.compile(rf"<(?i:{_END})(?!{CHANNEL_END.pattern})", re.IGNORECASE)  # after the reply began
MARK = re.compile(rf"[{{｛<\[◁](?:(?P<object>{_OBJECT})|(?=[A-Za-z/|｜]){_TAG})")
OPENING = re.compile(rf"[<\[◁](?i:{_OPEN})")
CLOSING = re.compile(rf"[<\[◁](?i:{_CLOSE})")


def pair_of(opener: str) -> re.Pattern[str]:
    """The pattern of the tags that belong to an opening tag; group 1 is not empty in those that close.

    Tags of one name nest, so that a text that was cut inside them is never taken for the reply.
    """
    name = opener.casefold()
    return _PAIRS.get(name) or _PAIRS.get(name[1:-1]) or _PAIRS[re.split(r"[\s>]", name[1:], maxsplit=1)[0]]


def reasoning_end(text: str, opener: re.Match[str]) -> int:
    """Where the reasoning that an opening tag begins is over, after its closing tag; -1 when it is never closed."""
    depth = 1
    for match in pair_of(opener[0]).finditer(text, opener.end()):
        depth += -1 if match[1] else 1
        if not depth:
            return match.end()
    return -1

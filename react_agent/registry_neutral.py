"""Text from tools, made harmless: what a chat template would take for one of its own marks is broken up by one space.

The space goes behind the first character of the mark: `<|im_start|>` -> `< |im_start| >`, `[INST]` -> `[ INST]`, `</think>` ->
`< /think>`. A person and a model still read the same words, and no tokenizer finds its special token. What is no mark of a
public template stays as it is: `a <b> c`, `x[1]`, `<div>`, `usage: copy <file> [args]`.
"""

import re

# Between < > (also </ >) or [ ] (also [/ ]); everything that holds a bar is found by the bar.
_ANGLE_ANY_CASE = "s|unk|bos|eos|pad|think|thinking|thought|reasoning|reflection|bos_token|eos_token|eop|sop|eot|eod|eoh|eoa|eom|bot"
_ANGLE = (
    "mask|cls|sep|start_of_turn|end_of_turn|start_of_image|end_of_image|start_of_audio|end_of_audio|image_soft_token|end_of_utterance"
    "|tools?|tool_calls?|tool_responses?|tool_results?|tool_outputs?|function_calls?|function_results?|available_tools|image|__media__"
    "|(?:start|end)_function_(?:call|declaration|response)|escape"
    "|fim[_-](?:prefix|middle|suffix|pad)|file_sep|repo_name|reponame|gh_stars|endoftext|SPECIAL_\\d+|reserved_\\d+|extra_id_\\d+"
    "|unused\\d+|TOKENS_UNUSED_\\d+|seed:\\w+"
)
_SQUARE_ANY_CASE = "inst|sys|gmask|smask"
_SQUARE = (
    "SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|MODEL_SETTINGS|ARGS|CALL_ID|THINK|PREFIX|MIDDLE|SUFFIX|IMG|IMG_BREAK"
    "|IMG_END|AUDIO|BEGIN_AUDIO|TRANSCRIBE|MASK|CLS|SEP|PAD|UNK|BOS|EOS|UNUSED_TOKEN_\\d+|control_\\d+"
)
_OPEN, _CLOSE, _BAR = "[<\uff1c]", "[>\uff1e]", "[|\uff5c]"  # with their full-width forms
_MARK = re.compile(
    f"{_OPEN}(?={_BAR})"  # <|im_start|> at its beginning
    f"|{_BAR}(?={_CLOSE})"  # and at its end
    f"|{_OPEN}(?=/?(?:(?i:{_ANGLE_ANY_CASE})|{_ANGLE}){_CLOSE})"  # <s>, </think>, <end_of_turn>
    f"|{_OPEN}(?={_OPEN}/?(?i:sys){_CLOSE})"  # <<SYS>>
    f"|\\[(?=/?(?:(?i:{_SQUARE_ANY_CASE})|{_SQUARE})\\])"  # [INST], [/TOOL_RESULTS]
    "|\\[(?=\\|\\w)|(?<=\\w)\\|(?=\\])"  # [|system|]
    "|\\](?=~!?b[\\[\\]])|\\[(?=e~\\[)"  # ]~b], ]~!b[, [e~[
)
_UNSEEN = re.compile("[\ud800-\udfff]|[\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069]|[\U000e0000-\U000e007f]+")


def neutral(text: str) -> str:
    """The text with template marks broken up, and U+FFFD for what no reader sees: lone surrogates, C1, bidi and tag characters."""
    return _MARK.sub(r"\g<0> ", _UNSEEN.sub("\ufffd", text))

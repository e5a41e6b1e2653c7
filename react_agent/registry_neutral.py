"""Text from tools, made harmless: what a chat template would take for one of its own marks is broken up by one space.

The space goes after the first character of the mark, `<|im_start|>` -> `< |im_start| >`, `[INST]` -> `[ INST]`, so that a person and
a model still read the same words, while no tokenizer finds its special token. Other text stays as it is: `a <b> c`, `[1]`, `<div>`.
"""

import re

# The words that chat templates of public models put between < > (also </ >) or [ ] (also [/ ]), beside everything with a bar.
_ANGLE = (
    "s|unk|pad|bos|eos|mask|sep|cls|bos_token|eos_token|bot|eot|eod|sop|eop|eoh|eoa|eom|eos_id|start|end|sys"
    "|think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis|commentary"
    "|start_of_turn|end_of_turn|start_of_image|end_of_image|start_of_audio|end_of_audio|image_soft_token|turn|channel"
    "|tool_call|tool_calls|tool_response|tool_responses|tool_result|tool_results|tool_output|tool_use|tool|tools"
    "|function_call|function_calls|function_results|function_response|functions|invoke|available_tools|system|user|assistant|human|model"
    "|fim_prefix|fim_middle|fim_suffix|fim_pad|fim-prefix|fim-middle|fim-suffix|file_sep|filename|reponame|repo_name|gh_stars|endoftext"
    "|sentinel|special_\\d+|reserved_\\d+|extra_id_\\d+|unused\\d+|unused_token_\\d+|0x[0-9a-f]{2}|seed:\\w+"
)
_SQUARE = (
    "inst|sys|system_prompt|available_tools|tool_calls|tool_results|tool_content|args|call_id|think|prefix|middle|suffix|img|img_break|img_end"
    "|audio|begin_audio|transcribe|gmask|smask|mask|cls|sep|pad|unk|bos|eos|model_settings|unused_token_\\d+|control_\\d+|reference_doc_\\d+"
)
_BAR = "[|\uff5c\u2502\u00a6]"
_OPENS, _CLOSES = "<\uff1c", ">\uff1e"
_MARK = re.compile(
    f"[{_OPENS}](?={_BAR})"  # <|im_start|>, and with full-width signs
    f"|{_BAR}(?=[{_CLOSES}])"  # |>
    f"|[{_OPENS}](?=/?(?:{_ANGLE})[{_CLOSES}])"  # <s>, </think>, <end_of_turn>
    f"|[{_OPENS}](?=[{_OPENS}]/?sys)"  # <<SYS>>
    f"|\\[(?=/?(?:{_SQUARE})\\])"  # [INST], [/TOOL_RESULTS]
    "|\\[(?=\\|)|\\|(?=\\])"  # [|system|]
    "|\\](?=[~!][~!b])",  # ]~b]
    re.IGNORECASE,
)
_UNPRINTABLE = re.compile("[\ud800-\udfff\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e0fff]")


def neutral(text: str) -> str:
    """The text with template marks broken up, and U+FFFD for what no reader sees: lone surrogates, C1, bidi and tag characters."""
    return _MARK.sub(r"\g<0> ", _UNPRINTABLE.sub("\ufffd", text))

"""What each repair is, in words for a person: every name that a decision's repairs can have."""

from collections.abc import Mapping

REPAIRS: Mapping[str, str] = {
    # syntax
    "single_quotes": "single quotes around text, as in Python",
    "smart_quotes": "curly or other typographic quotes around text",
    "backtick_quotes": "backticks around text",
    "triple_quotes": "three quotes around text, as in Python",
    "over_escaped": "the object was escaped once too often",
    "raw_control": "a raw newline or another control character in a text",
    "bad_escape": "an escape that JSON does not have",
    "unescaped_quote": "a quote inside a text was not escaped",
    "doubled_quote": "a closing quote was typed twice",
    "unquoted_key": "a key without quotes",
    "half_quoted_key": "a key with one quote missing",
    "unquoted_name": "a tool's name without quotes",
    "python_literal": "True, False or None, or another spelling of true, false or null",
    "full_width": "a full-width bracket, comma or colon",
    "invisible": "an invisible character between or inside names",
    "comment": "a comment",
    "missing_comma": "a comma was missing",
    "extra_comma": "a comma too many",
    "trailing_comma": "a comma before a closing bracket",
    "mismatched_closer": "a closing bracket was missing or of the wrong kind",
    "surplus_closer": "a closing bracket too many",
    "missing_closer": "the last brace was missing",
    "surplus_opener": "an opening brace was typed twice",
    "missing_opener": "the first brace was missing",
    "missing_value": "final_answer had no value",
    "duplicate_key": "a key was given twice with the same value",
    # shape
    "alias_key": "a key under another name",
    "wrapper": "an object around the decision",
    "nested_call": "name and arguments in one object, as in native tool calls",
    "list_of_one": "a list around one element",
    "json_text": "action_input was the text of an object",
    "bare_input": "action_input was the one argument itself",
    "no_input": "action_input was left out for a tool without parameters",
    "tool_name": "the tool's name in other letters or with something around it",
    "finish_word": "the answer came as an action such as finish",
    "label_text": "labelled lines instead of an object",
    "yaml": "indented lines instead of a JSON object",
    # what was dropped
    "premature_answer": "an answer beside or after the call was dropped",
    "invented_observation": "an invented observation or another speaker's turn was dropped",
    "dropped_tail": "text after the decision was dropped",
}

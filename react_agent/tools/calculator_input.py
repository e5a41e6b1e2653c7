"""What people and models write around an expression, taken off: fences, currency signs, a trailing "= ?", typographic characters.

clean() changes spelling, never meaning, and refuses what is no expression: SQL, assignments, several lines.
"""

import re
import unicodedata

from react_agent.errors import ToolError

MAX_CHARACTERS = 1_000
_SPACES = dict.fromkeys(map(ord, "\t\u00a0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u3000"), " ")
_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_SIGNS = str.maketrans(
    {
        "×": "*", "✕": "*", "✖": "*", "⨯": "*", "·": "*", "⋅": "*", "∙": "*", "•": "*", "∗": "*", "÷": "/", "∕": "/", "⁄": "/",
        "⨉": "*", "╳": "*", "⁎": "*", "￥": "¥", "￡": "£", "￠": "¢", "￦": "₩",
        "−": "-", "–": "-", "—": "-", "―": "-", "˗": "-", "‐": "-", "‑": "-", "﹣": "-", "﹢": "+", "➕": "+", "➖": "-", "➗": "/",
        "π": "pi", "𝜋": "pi", "τ": "tau", "∞": " infinity ", "≤": " <= ", "≥": " >= ", "≠": " != ", "‰": "/1000 ",
    }
)  # fmt: skip
_CHARACTERS = _SPACES | _FULL_WIDTH | _SIGNS
_LATEX = {r"\times": "*", r"\cdot": "*", r"\div": "/", r"\left": "", r"\right": "", r"\pi": "pi", r"\%": "%", r"\$": ""}
_CURRENCIES = "$€£¥₹₽₩¢"

_GROUPED = re.compile(r"(?<![\w.,])[1-9][0-9]{0,2}(?:([\u00a0\u2009\u202f'’])[0-9]{3})(?:\1[0-9]{3})*(?![0-9])")
_MIXED = re.compile(r"(?<![\w.])([0-9]*) ?([¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞])")
_FENCE = re.compile(r"```(?:[a-zA-Z]*\s*\n)?(.*?)\n?```", re.DOTALL)
_EMOJI_SIGN = re.compile("(?<=[✖➕➖➗])\ufe0f")  # what follows a sign that is to be drawn in colour
_OPENING = re.compile(
    r"(?:(?:what(?:['’]s| is)|how much is|calculate|compute|evaluate|solve)\b(?:\s+the\b(?:\s+(?:value|result)\s+of\b)?)?\s*:?|=(?!=))\s*",
    re.IGNORECASE,
)
_ENDING = re.compile(r"\s*(?:(?<![=<>])=\s*\??|\?|;|(?<=[)!%])\.)\s*$")
_SQL = re.compile(r"(?:select|insert|update|delete|create|drop|alter|pragma|explain)\s+\S|with\s+\w+\s+as\b", re.IGNORECASE)
_ASSIGNMENT = re.compile(r"\s*([^\W\d]\w*)\s*(?:[-+*/%]|\*\*|//)?=(?!=)\s*(.*)")
_YEAR, _MONTH, _DAY = "(?:19|20)[0-9]{2}", "(?:0[1-9]|1[0-2])", "(?:0[1-9]|[12][0-9]|3[01])"
_DATE = re.compile(
    rf"(?<![\w.])(?:{_YEAR}-{_MONTH}-{_DAY}|{_DAY}-{_DAY}-{_YEAR}|[0-3]?[0-9]/[0-3]?[0-9]/{_YEAR}"
    rf"|{_YEAR}/(?=0|[0-9]+/0){_MONTH}/{_DAY})(?![\w.])"
)  # 2000/10/20 is left alone: it divides well


def clean(expression: object) -> str:
    """The expression on one line, in plain characters. Raises ToolError type, too_long, syntax, unsupported, ambiguous, empty."""
    if not isinstance(expression, str):
        raise ToolError("type", f"the expression must be text, not {type(expression).__name__}", 'write it as a string: "2 + 2"')
    if len(expression) > MAX_CHARACTERS:
        raise ToolError("too_long", f"the expression has more than {MAX_CHARACTERS:,} characters", "calculate it in parts")
    text = _without_wrapping(_plain_characters(expression))
    _refuse_other_languages(text)
    text = _one_line(text)
    if not text:
        raise ToolError("empty", "the expression is empty", 'write one, for example "17.5% of 1234" or "sqrt(16)"')
    return text


def excerpt(text: str, most: int = 40) -> str:
    """A piece of the input for a message, on one line."""
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


def name_of(character: str) -> str:
    return repr(character) if character.isprintable() else f"the invisible character U+{ord(character):04X}"


def _plain_characters(text: str) -> str:
    if text.isascii() and text.isprintable() and "'" not in text:
        return text
    text = text.removeprefix("\ufeff")
    for position, character in enumerate(text, 1):
        if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") and character not in "\t\r\n":
            raise ToolError("syntax", f"{name_of(character)} at position {position}", "write the expression again in plain characters")
    text = _EMOJI_SIGN.sub("", text)
    text = _GROUPED.sub(lambda match: match[0].replace(match[1], ""), text)
    text = _MIXED.sub(_vulgar_fraction, text)
    return text.translate(_CHARACTERS)


def _vulgar_fraction(match: re.Match[str]) -> str:
    top, _, bottom = unicodedata.normalize("NFKC", match[2]).partition("⁄")
    return f"({match[1] or 0}+{top}/{bottom})"


def _without_wrapping(text: str) -> str:
    text = text.strip()
    if "\\" in text:
        for written, meant in _LATEX.items():
            text = text.replace(written, meant)
    fenced = _FENCE.fullmatch(text)
    text = (fenced[1] if fenced else text.strip("`")).strip()
    opening = _OPENING.match(text)
    return _without_currency(_ENDING.sub("", text[opening.end() :] if opening else text)).strip()


def _without_currency(text: str) -> str:
    signs = [sign for sign in _CURRENCIES if sign in text]
    if len(signs) > 1:
        raise ToolError("unsupported", f"two currencies in one expression: {' and '.join(signs)}", "convert to one currency first")
    return text.replace(signs[0], " ") if signs else text


def _refuse_other_languages(text: str) -> None:
    if _SQL.match(text):
        raise ToolError("unsupported", "this is SQL, not arithmetic", "use sql_query for SQL; give the calculator only numbers")
    assigned = _ASSIGNMENT.match(text)
    if assigned:
        message = f"there are no variables, so {excerpt(assigned[1])} cannot be set"
        raise ToolError("unsupported", message, f"write only the right side: {excerpt(assigned[2].strip(), 80)}")
    date = _DATE.search(text)
    if date:
        apart = date[0].replace("-", " - ").replace("/", " / ")
        hint = f"to calculate with its numbers write {apart}; dates are not numbers: use the dates of the database (sql_query)"
        raise ToolError("ambiguous", f"{date[0]} looks like a date", hint)


def _one_line(text: str) -> str:
    """Line breaks inside brackets are spaces; elsewhere they separate expressions, of which only one is calculated."""
    if "#" in text and "\n" not in text and "\r" not in text:
        text = text.partition("#")[0].rstrip()
    if "\n" not in text and "\r" not in text:
        return text
    depth = 0
    for character in text:
        depth += (character in "([") - (character in ")]")
        if character in "\r\n" and depth <= 0:
            raise ToolError("unsupported", "this is more than one line", "write one expression a call")
    return text.replace("\r", " ").replace("\n", " ")

"""Which tool a question speaks of: the one whose description has words of the question that the other tools' have not."""

import re
from collections import Counter
from collections.abc import Iterable

from react_agent.registry import Tool

CLEAR = 1.5  # how many times the second-best score the best has to be
_WORD = re.compile(r"[^\W\d_]{3,}")
UNSPACED = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"  # in these scripts words and numbers stand without spaces: 共12个
_UNSPACED = re.compile(f"[{UNSPACED}]+")
# Words of any question, and of what tools do in general.
_COMMON = frozenset(re.findall(r"\w+", """
    about after all and any are before best between both but call can column columns come comes could did does each end example
    find first for from get give has have how into its last lines long look many more most much must name names near not number
    numbers off one only other out over put read reads result row rows same sample say should show some start take tell text than
    that the their them then there these they this time two units use value values was were what when where which who why will with
    without word words would you your
"""))


def words_of(text: str) -> set[str]:
    """The stems of the telling words of a text; in scripts without spaces, each two characters."""
    pairs = {run[at : at + 2] for run in _UNSPACED.findall(text) for at in range(len(run) - 1)}
    words = map(str.casefold, _WORD.findall(_UNSPACED.sub(" ", text.replace("_", " "))))
    return pairs | {stem(word) for word in words if word not in _COMMON}


def stem(word: str) -> str:
    """A guess that makes retries, retry and retrying one word."""
    for ending, instead in (("ies", "y"), ("ing", ""), ("ed", ""), ("es", ""), ("s", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return (word.removesuffix(ending) + instead).rstrip("e")
    return word.rstrip("e")


def vocabulary(tool: Tool) -> set[str]:
    """The words of a tool's name, of what it is for and of what its arguments are."""
    described = (schema.get("description", "") for schema in tool.parameters.get("properties", {}).values() if isinstance(schema, dict))
    return words_of(" ".join([tool.name, tool.description, *described]))


def likely_tool(question: str, tools: Iterable[Tool]) -> str | None:
    """The name of the tool that clearly speaks of the question; None when there is no choice, when no tool does, or several do."""
    asked = words_of(question)
    known = {tool.name: vocabulary(tool) for tool in tools}
    owners = Counter(word for words in known.values() for word in words)
    scores = {name: sum(1 / owners[word] for word in words if word in asked) for name, words in known.items()}
    ranked = sorted(scores, key=lambda name: -scores[name])
    if len(ranked) < 2 or scores[ranked[0]] < max(1.0, CLEAR * scores[ranked[1]]):
        return None
    return ranked[0]

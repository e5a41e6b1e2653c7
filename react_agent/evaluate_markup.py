"""HTML that is safe by construction: whatever is put into an element is escaped, unless it was made here."""

from react_agent.report import safe_text


class Markup(str):
    """Text that is HTML already; only element() and join() make it."""

    __slots__ = ()


def element(tag: str, *content: str, **attributes: str) -> Markup:
    """<tag attribute="...">content</tag>. Attributes: class_ is class, aria_label is aria-label."""
    named = "".join(f' {name.rstrip("_").replace("_", "-")}="{safe_text(value)}"' for name, value in attributes.items())
    return Markup(f"<{tag}{named}>{join(*content)}</{tag}>")


def join(*parts: str) -> Markup:
    """The parts one after the other."""
    return Markup("".join(part if isinstance(part, Markup) else safe_text(part) for part in parts))

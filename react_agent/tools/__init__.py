"""The built-in tools; each function returns a list of Tool for a ToolRegistry."""

from react_agent.tools.documents import document_tools
from react_agent.tools.files import file_tools

__all__ = ["document_tools", "file_tools"]

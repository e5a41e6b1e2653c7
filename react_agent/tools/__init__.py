"""The built-in tools; each function returns a list of Tool for a ToolRegistry."""

from react_agent.tools.calculator import calculator_tools
from react_agent.tools.documents import document_tools
from react_agent.tools.files import file_tools
from react_agent.tools.sqlite import sqlite_tools
from react_agent.tools.stock import stock_tools
from react_agent.tools.weather import weather_tools

__all__ = ["calculator_tools", "document_tools", "file_tools", "sqlite_tools", "stock_tools", "weather_tools"]

"""Has the decision's object closed? Asked by the streaming endpoints, piece by piece."""


class DecisionWatcher:
    """feed() takes the reply's text as it arrives and says True once the decision's object has closed."""

    __slots__ = ("_depth", "_escaped", "_in_string", "closed")

    def __init__(self) -> None:
        self.closed = False
        self._depth = 0
        self._in_string = False
        self._escaped = False

    def feed(self, piece: str) -> bool:
        for char in piece if not self.closed else "":
            self._step(char)
        return self.closed

    def _step(self, char: str) -> None:
        if self._in_string:
            self._in_string = self._escaped or char != '"'
            self._escaped = char == "\\" and not self._escaped
        elif char == "{":
            self._depth += 1
        elif self._depth and char == '"':
            self._in_string = True
        elif self._depth and char == "}":
            self._depth -= 1
            self.closed = self._depth == 0

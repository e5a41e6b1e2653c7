"""Where in a reply something stands, for repairs and errors about its shape."""

from typing import NamedTuple


class Place(NamedTuple):
    """A part of a text, such as one object: from start to end."""

    text: str
    start: int
    end: int

    def of(self, fragment: str) -> int:
        """Where a fragment stands in the part; where the part begins if it was written in another way."""
        at = self.text.find(fragment, self.start, self.end)
        return self.start if at < 0 else at

    def of_key(self, key: str) -> int:
        at = self.text.find(f'"{key}"', self.start, self.end)
        return self.start if at < 0 else at

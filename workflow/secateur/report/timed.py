"""A client that has so much time in all, whatever each of its calls is granted."""

import time
from typing import Any

__all__ = ["Timed"]


class Timed:
    """A client whose every further call raises TimeoutError once `seconds` have gone by."""

    def __init__(self, client: Any, seconds: float) -> None:
        self._client, self._seconds, self._until = client, seconds, time.monotonic() + seconds

    def __getattr__(self, name: str) -> Any:
        if time.monotonic() > self._until:
            raise TimeoutError(f"not told in {self._seconds:.0f} s")
        return getattr(self._client, name)

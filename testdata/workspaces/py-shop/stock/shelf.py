"""Shelves and what is on them."""

from core.label import mark
from core.money import Money, price


class Shelf:
    """Shelf holds items of one kind."""

    def __init__(self, name: str, each: Money = price(100)) -> None:
        self.name = name
        self.each = each
        self._items = 0

    def add(self, items: int) -> None:
        """add puts items on the shelf."""
        self._items += items

    def take(self, items: int) -> None:
        self._items -= items

    def count(self) -> int:
        return self._items

    def __str__(self) -> str:
        return f"{mark(self.name)} ×{self.count()}"

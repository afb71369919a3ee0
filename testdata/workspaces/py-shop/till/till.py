"""Selling."""

from core.money import Money, price, total
from stock.shelf import Shelf


def sell(shelf: Shelf, items: int) -> Money | None:
    """sell takes items from a shelf if there are enough of them."""
    if shelf.count() < items:
        return None
    shelf.take(items)
    return total([shelf.each for _ in range(items)])


free = price(0)

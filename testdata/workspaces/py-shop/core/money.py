"""Amounts of money."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Money:
    """Money is an amount in cents."""

    cents: int


def price(cents: int) -> Money:
    """price makes money of cents."""
    return Money(cents)


def total(amounts: list[Money]) -> Money:
    """total adds amounts up."""
    return price(sum(each.cents for each in amounts))

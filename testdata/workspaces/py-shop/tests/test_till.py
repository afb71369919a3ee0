import unittest

from core.label import café, mark, shop, smile
from core.money import price
from stock.shelf import Shelf
from till.till import free, sell


class TillTest(unittest.TestCase):
    def test_sell(self) -> None:
        apples = Shelf("apples", price(30))
        apples.add(5)
        self.assertEqual(sell(apples, 3), price(90))
        self.assertEqual(apples.count(), 2)
        self.assertIsNone(sell(apples, 3))
        self.assertEqual(free.cents, 0)

    def test_labels(self) -> None:
        self.assertEqual(café, "é" + mark("a"))
        self.assertEqual(shop, "日本" + mark("b"))
        self.assertEqual(smile, "😀" + mark("c") + "😀" + mark("d"))

import { type Money, price, total } from "../core/money.js";
import { Shelf } from "../stock/shelf.js";

/** sell takes items from a shelf if there are enough of them. */
export function sell(shelf: Shelf, items: number): Money | undefined {
  if (shelf.count() < items) {
    return undefined;
  }
  shelf.take(items);
  return total(Array.from({ length: items }, () => shelf.each));
}

/** free is what nothing costs. */
export const free = price(0);

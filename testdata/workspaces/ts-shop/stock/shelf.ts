import { mark } from "../core/label.js";
import { type Money, price } from "../core/money.js";

/** Counter counts what is there. */
export interface Counter {
  count(): number;
}

/** Shelf holds items of one kind. */
export class Shelf implements Counter {
  private items = 0;

  constructor(readonly name: string, readonly each: Money = price(100)) {}

  /** add puts items on the shelf. */
  add(items: number): void {
    this.items += items;
  }

  take(items: number): void {
    this.items -= items;
  }

  count(): number {
    return this.items;
  }

  toString(): string {
    return `${mark(this.name)} ×${this.count()}`;
  }
}

/** Money is an amount in cents. */
export interface Money {
  cents: number;
}

/** price makes money of cents. */
export function price(cents: number): Money {
  return { cents };
}

/** total adds amounts up. */
export function total(amounts: Money[]): Money {
  return price(amounts.reduce((sum, each) => sum + each.cents, 0));
}

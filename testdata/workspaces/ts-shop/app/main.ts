import { café, mark, shop, smile } from "../core/label.js";
import { price } from "../core/money.js";
import { Shelf } from "../stock/shelf.js";
import { sell } from "../till/till.js";

const apples = new Shelf("apples", price(30));
apples.add(5);
const paid = sell(apples, 3);
if (paid?.cents !== 90 || apples.count() !== 2) {
  throw new Error(`paid ${paid?.cents}, left ${apples}`);
}
if (sell(apples, 3) !== undefined) {
  throw new Error("sold what was not there");
}
if ([café, shop, smile].join() !== `é${mark("a")},日本${mark("b")},😀${mark("c")}😀${mark("d")}`) {
  throw new Error(smile);
}
console.log("sold", String(apples));

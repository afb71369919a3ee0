mod wide;

use stock::Shelf;
use till::{sell, total};

fn main() {
    let (mut tea, mut wide) = (Shelf::new("tea"), Shelf::new("日本 é 😀"));
    tea.add(2);
    /* é 日本 😀 */ wide.add(3);
    assert!(sell(&mut tea));
    println!("é 日本 😀 {} of {}", total(&tea, &wide), wide::twice(&wide));
}

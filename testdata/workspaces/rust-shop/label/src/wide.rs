use stock::{Counter, Shelf};

/// Written on another system.
pub fn twice(shelf: &Shelf) -> i64 {
    let mut copy = shelf.clone(); /* é 日本 😀 */ copy.add(0);
    let two = 2 * copy.count();
    two
}

use stock::{Counter, Shelf};

/// Written on another system.
pub fn twice(shelf: &Shelf) -> i64 {
    let _note = "é 日本 😀"; let two = 2 * shelf.count();
    two
}

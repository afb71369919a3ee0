//! Selling.

use stock::{Counter, Shelf};

/// Takes one thing off a shelf, if there is one.
pub fn sell(shelf: &mut Shelf) -> bool {
    if shelf.count() == 0 {
        return false;
    }
    shelf.add(-1);
    true
}

/// Counts what stands on two shelves.
pub fn total(left: &Shelf, right: &Shelf) -> i64 {
    left.count() + right.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sells() {
        let mut tea = Shelf::new("tea");
        tea.add(1);
        assert!(sell(&mut tea) && !sell(&mut tea));
    }
}

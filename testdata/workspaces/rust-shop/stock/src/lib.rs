//! What stands on the shelves.

use std::fmt;

/// Anything that can be counted.
pub trait Counter {
    fn count(&self) -> i64;
}

/// A number of one thing.
#[derive(Debug, Default, Clone)]
pub struct Shelf {
    pub name: String,
    held: i64,
}

impl Shelf {
    pub fn new(name: &str) -> Self {
        Shelf { name: name.to_string(), held: 0 }
    }

    /// Puts n more onto the shelf.
    pub fn add(&mut self, n: i64) {
        self.held += n;
    }
}

impl Counter for Shelf {
    fn count(&self) -> i64 {
        self.held
    }
}

impl fmt::Display for Shelf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds() {
        let mut tea = Shelf::new("tea");
        tea.add(2);
        assert_eq!(tea.count(), 2);
    }
}

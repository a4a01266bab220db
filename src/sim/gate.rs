use std::collections::VecDeque;

/// What a turn of an object wrote, and what may leave when that is durable.
#[derive(Clone, Debug)]
pub(super) struct Turn<W, O> {
    pub writes: Vec<W>,
    pub outputs: Vec<O>,
}

impl<W, O> Default for Turn<W, O> {
    fn default() -> Self {
        Self { writes: Vec::new(), outputs: Vec::new() }
    }
}

/// An object's output gate: writes become durable in order, and nothing overtakes them.
#[derive(Clone, Debug)]
pub(super) struct Gate<W, O> {
    under_way: VecDeque<Turn<W, O>>,
}

impl<W, O> Default for Gate<W, O> {
    fn default() -> Self {
        Self { under_way: VecDeque::new() }
    }
}

impl<W, O> Gate<W, O> {
    /// Takes in a turn. What it gives back can leave at once; otherwise a write is to be made.
    pub fn pass(&mut self, turn: Turn<W, O>) -> Option<Vec<O>> {
        if turn.writes.is_empty() && self.under_way.is_empty() {
            return Some(turn.outputs);
        }
        self.under_way.push_back(turn);
        None
    }

    /// The first write that is under way has been made.
    pub fn made(&mut self) -> Option<Turn<W, O>> {
        self.under_way.pop_front()
    }

    /// How many writes are under way.
    pub fn len(&self) -> usize {
        self.under_way.len()
    }

    pub fn is_empty(&self) -> bool {
        self.under_way.is_empty()
    }
}

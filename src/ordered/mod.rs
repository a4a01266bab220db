//! The ordered maps and sets of the core: [`Map`] and [`Set`].
//!
//! They are std's B-trees, but on the demo page: there each kind of map is code that a browser downloads, and
//! a sorted vector is a small part of a B-tree's. The maps of a page hold tens of entries, of an object on the
//! platform up to hundreds of thousands. Both keep the same order, so that both give the same results.

#[cfg(any(feature = "page", test))]
mod map;
#[cfg(any(feature = "page", test))]
mod set;
#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;

#[cfg(feature = "page")]
pub(crate) use self::{map::Map, set::Set};
#[cfg(not(feature = "page"))]
pub(crate) use std::collections::{BTreeMap as Map, BTreeSet as Set};

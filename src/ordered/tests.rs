//! The sorted vectors beside the B-trees that they stand in for: the same calls, the same answers.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Bound;

use proptest::prelude::*;
use proptest::sample::select;

use super::map::Map;
use super::set::Set;

/// Keys are few, so that they meet.
const KEYS: [&str; 8] = ["", "a", "aa", "ab", "b", "ba", "c", "d"];

#[derive(Clone, Debug)]
enum Op {
    Insert(String, u8),
    Remove(&'static str),
    Change(&'static str, u8),
    OrInsert(String, u8),
    OrDefault(String),
    PopFirst,
    Retain(u8),
    AddToAll(u8),
    Extend(Vec<(String, u8)>),
    Clear,
}

fn key() -> impl Strategy<Value = String> {
    select(&KEYS[..]).prop_map(str::to_owned)
}

fn op() -> impl Strategy<Value = Op> {
    let entries = prop::collection::vec((key(), any::<u8>()), 0..4);
    prop_oneof![
        6 => (key(), any::<u8>()).prop_map(|(key, value)| Op::Insert(key, value)),
        2 => select(&KEYS[..]).prop_map(Op::Remove),
        2 => (select(&KEYS[..]), any::<u8>()).prop_map(|(key, by)| Op::Change(key, by)),
        2 => (key(), any::<u8>()).prop_map(|(key, value)| Op::OrInsert(key, value)),
        1 => key().prop_map(Op::OrDefault),
        1 => Just(Op::PopFirst),
        1 => (0..4u8).prop_map(Op::Retain),
        1 => any::<u8>().prop_map(Op::AddToAll),
        2 => entries.prop_map(Op::Extend),
        1 => Just(Op::Clear),
    ]
}

fn bound() -> impl Strategy<Value = Bound<String>> {
    prop_oneof![Just(Bound::Unbounded), key().prop_map(Bound::Included), key().prop_map(Bound::Excluded),]
}

/// Does the same to a map of either kind, and says what it answered.
macro_rules! apply {
    ($map:expr, $op:expr) => {{
        let map = $map;
        match $op.clone() {
            Op::Insert(key, value) => format!("{:?}", map.insert(key, value)),
            Op::Remove(key) => format!("{:?}", map.remove(key)),
            Op::Change(key, by) => {
                format!("{:?}", map.get_mut(key).map(|value| std::mem::replace(value, by)))
            }
            Op::OrInsert(key, value) => format!("{}", std::mem::replace(map.entry(key).or_insert(value), 7)),
            Op::OrDefault(key) => format!("{}", map.entry(key).or_default()),
            Op::PopFirst => format!("{:?}", map.pop_first()),
            Op::Retain(part) => {
                let mut asked = Vec::new();
                map.retain(|key, value| {
                    asked.push((key.clone(), *value));
                    *value = value.wrapping_mul(3);
                    *value % 4 != part
                });
                format!("{asked:?}")
            }
            Op::AddToAll(by) => {
                map.values_mut().for_each(|value| *value = value.wrapping_add(by));
                for (_, value) in &mut *map {
                    *value = value.wrapping_mul(5);
                }
                map.iter_mut()
                    .map(|(key, value)| {
                        *value ^= 1;
                        format!("{key}{value}")
                    })
                    .collect()
            }
            Op::Extend(entries) => format!("{:?}", map.extend(entries)),
            Op::Clear => format!("{:?}", map.clear()),
        }
    }};
}

/// Everything that can be read of a map of either kind.
macro_rules! shown {
    ($map:expr) => {{
        let map = $map;
        let found = KEYS.map(|key| (map.contains_key(key), map.get(key)));
        let ends = (map.first_key_value(), map.last_key_value());
        let keys: Vec<_> = map.keys().rev().collect();
        let values: Vec<_> = map.values().rev().collect();
        let taken: Vec<_> = map.clone().into_iter().zip(map.clone().into_keys()).collect();
        let left: Vec<_> = map.clone().into_values().collect();
        let mut hash = DefaultHasher::new();
        map.hash(&mut hash);
        format!(
            "{map:?} {:x} {} {} {found:?} {ends:?} {keys:?} {values:?} {taken:?} {left:?} {}",
            hash.finish(),
            map.len(),
            map.is_empty(),
            map.iter().map(|(key, value)| format!("{key}{value}")).collect::<String>(),
        )
    }};
}

proptest! {
    #[test]
    fn a_map_answers_as_a_b_tree(ops in prop::collection::vec(op(), 0..60), bounds in (bound(), bound())) {
        let (mut map, mut tree) = (Map::<String, u8>::default(), BTreeMap::new());
        for op in &ops {
            let before = map.clone();
            prop_assert_eq!(apply!(&mut map, op), apply!(&mut tree, op), "{:?} on {:?}", op, before);
            prop_assert_eq!(shown!(&map), shown!(&tree), "{:?} on {:?}", op, before);
            prop_assert_eq!(map == before, map.iter().eq(&before));
        }
        // Where a B-tree panics, there is nothing in the range.
        let is_range = match (&bounds.0, &bounds.1) {
            (Bound::Excluded(start), Bound::Excluded(end)) => start < end,
            (Bound::Included(start) | Bound::Excluded(start), Bound::Included(end) | Bound::Excluded(end)) => {
                start <= end
            }
            _ => true,
        };
        let expected = if is_range { tree.range(bounds.clone()).collect() } else { Vec::new() };
        prop_assert_eq!(map.range(bounds.clone()).collect::<Vec<_>>(), expected.clone());
        prop_assert!(map.range(bounds).rev().eq(expected.into_iter().rev()));
    }

    #[test]
    fn a_map_is_written_and_read_as_a_b_tree(entries in prop::collection::vec((key(), any::<u8>()), 0..12)) {
        let map: Map<String, u8> = entries.iter().cloned().collect();
        let tree: BTreeMap<String, u8> = entries.iter().cloned().collect();
        let text = serde_json::to_string(&map).unwrap();
        prop_assert_eq!(&text, &serde_json::to_string(&tree).unwrap());
        prop_assert_eq!(&serde_json::from_str::<Map<String, u8>>(&text).unwrap(), &map);
        let bytes = postcard::to_allocvec(&map).unwrap();
        prop_assert_eq!(&bytes, &postcard::to_allocvec(&tree).unwrap());
        prop_assert_eq!(&postcard::from_bytes::<Map<String, u8>>(&bytes).unwrap(), &map);
        // As somebody else may have written it: in any order, and a key twice.
        let written: Vec<_> = entries.iter().map(|(key, value)| format!("{key:?}:{value}")).collect();
        let text = format!("{{{}}}", written.join(","));
        let read: Map<String, u8> = serde_json::from_str(&text).unwrap();
        prop_assert!(read.iter().eq(&tree), "{}", text);
    }

    #[test]
    fn a_set_answers_as_a_b_tree(ops in prop::collection::vec((0..12u8, key()), 0..60)) {
        let (mut set, mut tree) = (Set::<String>::new(), BTreeSet::new());
        for (what, key) in ops {
            match what {
                0..5 => prop_assert_eq!(set.insert(key.clone()), tree.insert(key)),
                5..8 => prop_assert_eq!(set.remove(key.as_str()), tree.remove(key.as_str())),
                8 | 9 => prop_assert_eq!(set.pop_first(), tree.pop_first()),
                10 => {
                    set.clear();
                    tree.clear();
                }
                _ => {
                    set.extend([key.clone(), "a".to_owned()]);
                    tree.extend([key, "a".to_owned()]);
                }
            }
            prop_assert_eq!(KEYS.map(|key| set.contains(key)), KEYS.map(|key| tree.contains(key)));
            prop_assert_eq!((set.len(), set.is_empty()), (tree.len(), tree.is_empty()));
            prop_assert_eq!(format!("{set:?}"), format!("{tree:?}"));
            prop_assert!(set.iter().eq(&tree) && set.clone().into_iter().eq(tree.clone()));
            prop_assert_eq!(&set, &tree.iter().rev().cloned().collect::<Set<_>>());
        }
        prop_assert_eq!(Set::<String>::default(), Set::new());
    }
}

#[test]
fn what_is_no_map_is_not_read() {
    assert!(serde_json::from_str::<Map<String, u8>>("[]").unwrap_err().to_string().contains("a map"));
    assert!(serde_json::from_str::<Map<String, u8>>(r#"{"a": true}"#).is_err());
}

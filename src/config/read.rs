//! Reading a JSON object field by field, so that every fault in it is named and not just the first.

use serde_json::{Map, Value};

use crate::Error;

/// Text from outside is repeated in messages up to this many characters.
const LONGEST_SHOWN: usize = 64;

/// One JSON object that is being read, and where its faults go.
#[derive(Debug)]
pub(crate) struct Fields<'a, 'e> {
    map: &'a Map<String, Value>,
    path: &'e str,
    errors: &'e mut Vec<Error>,
}

impl<'a, 'e> Fields<'a, 'e> {
    /// Opens the object at `path`, and names each field of it that is not one of `known`.
    pub(crate) fn open(
        value: &'a Value,
        path: &'e str,
        known: &[&str],
        errors: &'e mut Vec<Error>,
    ) -> Option<Self> {
        let Value::Object(map) = value else {
            errors.push(at(path, format!("{} is not an object", show(value))));
            return None;
        };
        for name in map.keys().filter(|name| !known.contains(&name.as_str())) {
            let shown: String = name.chars().take(LONGEST_SHOWN).collect();
            errors.push(at(&join(path, &shown), format!("is not a field here; {}", suggest(name, known))));
        }
        Some(Self { map, path, errors })
    }

    /// The field, if it is there.
    pub(crate) fn get(&self, name: &str) -> Option<&'a Value> {
        self.map.get(name)
    }

    /// Where the field is, as messages name it.
    pub(crate) fn path_of(&self, name: &str) -> String {
        join(self.path, name)
    }

    /// Notes a fault of the field.
    pub(crate) fn fail(&mut self, name: &str, detail: impl Into<String>) {
        self.errors.push(Error::spec(self.path_of(name), detail));
    }

    /// Notes a fault whose path begins within this object.
    pub(crate) fn note(&mut self, error: Error) {
        self.errors.push(error.under(self.path));
    }

    /// Reads a field that may be absent. A fault is noted, and then the field counts as absent.
    pub(crate) fn optional<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&'a Value) -> Result<T, String>,
    ) -> Option<T> {
        let value = self.get(name)?;
        read(value).map_err(|detail| self.fail(name, detail)).ok()
    }

    /// Reads a field that must be there; `hint` says what to write.
    pub(crate) fn required<T>(
        &mut self,
        name: &str,
        hint: &str,
        read: impl FnOnce(&'a Value) -> Result<T, String>,
    ) -> Option<T> {
        if self.get(name).is_none() {
            self.fail(name, format!("is missing; {hint}"));
        }
        self.optional(name, read)
    }

    /// Reads a string or a list of strings: each with what comes after the field's name in its path.
    pub(crate) fn strings(&mut self, name: &str) -> Option<Vec<(String, &'a str)>> {
        let (values, is_list) = match self.get(name)? {
            Value::Array(values) => (values.as_slice(), true),
            value => (std::slice::from_ref(value), false),
        };
        let mut strings = Vec::with_capacity(values.len());
        for (index, value) in values.iter().enumerate() {
            let here = if is_list { format!("{name}[{index}]") } else { name.to_owned() };
            match text(value) {
                Ok(text) => strings.push((here, text)),
                Err(detail) => self.fail(&here, detail),
            }
        }
        (strings.len() == values.len()).then_some(strings)
    }

    /// How many faults were noted so far, here and elsewhere.
    pub(crate) fn faults(&self) -> usize {
        self.errors.len()
    }
}

/// An error at `path`; an empty path is the whole value.
pub(crate) fn at(path: &str, detail: String) -> Error {
    if path.is_empty() {
        Error::new(crate::error::ErrorKind::InvalidSpec, detail)
    } else {
        Error::spec(path, detail)
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// A value as messages repeat it: short, and never a whole list or object.
pub(crate) fn show(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => quote(text),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// `text` in quotes, escaped and cut short.
pub(crate) fn quote(text: &str) -> String {
    match text.char_indices().nth(LONGEST_SHOWN) {
        Some((end, _)) => format!("{:?}...", text.get(..end).unwrap_or_default()),
        None => format!("{text:?}"),
    }
}

/// `"a", "b", "c"`.
pub(crate) fn quote_all<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    names.into_iter().map(quote).collect::<Vec<_>>().join(", ")
}

pub(crate) fn text(value: &Value) -> Result<&str, String> {
    value.as_str().ok_or_else(|| format!("{} is not a string", show(value)))
}

pub(crate) fn flag(value: &Value) -> Result<bool, String> {
    value.as_bool().ok_or_else(|| format!("{} is not true or false", show(value)))
}

/// A whole number within bounds; 60.0 is 60.
pub(crate) fn whole(value: &Value, least: u64, most: u64) -> Result<u64, String> {
    let number = value.as_u64().or_else(|| value.as_f64().and_then(|float| exactly(float, most)));
    if let Some(number) = number.filter(|number| (least..=most).contains(number)) {
        return Ok(number);
    }
    let unquote = if value.is_string() { "; write it without quotes" } else { "" };
    Err(format!("{} is not a whole number from {least} to {most}{unquote}", show(value)))
}

fn exactly(float: f64, most: u64) -> Option<u64> {
    // Nothing is rounded by the casts: `most` is at most 2^53 - 1, and the float is whole.
    let fits = float.is_finite() && float.fract() == 0.0 && float >= 0.0 && float <= most as f64;
    fits.then_some(float as u64)
}

/// One of a few words.
pub(crate) fn choice<T: Copy>(value: &Value, choices: &[(&str, T)]) -> Result<T, String> {
    let words = || choices.iter().map(|(word, _)| *word).collect::<Vec<_>>();
    let Some(written) = value.as_str() else {
        return Err(format!("{} is not a string; use one of {}", show(value), quote_all(words())));
    };
    match choices.iter().find(|(word, _)| *word == written) {
        Some((_, meaning)) => Ok(*meaning),
        None => Err(format!("{} is unknown; {}", show(value), suggest(written, &words()))),
    }
}

/// Says that no policy has this name, and which there are.
pub(crate) fn no_such_policy<'n>(name: &str, names: impl IntoIterator<Item = &'n str>) -> String {
    let known = quote_all(names);
    let known = if known.is_empty() { "none" } else { &known };
    format!("no policy is called {}; there are {known}", quote(name))
}

/// What may have been meant by `name`: the nearest of `known` if one is near, else all of them.
pub(crate) fn suggest(name: &str, known: &[&str]) -> String {
    let nearest = known.iter().map(|word| (distance(name, word), *word)).min();
    match nearest {
        // A third of the letters wrong is another word, not a slip.
        Some((steps, word)) if steps <= 1 + word.len() / 4 => format!("did you mean {word:?}?"),
        Some(_) => format!("use one of {}", quote_all(known.iter().copied())),
        None => "nothing is allowed here".to_owned(),
    }
}

/// How many letters have to be changed, added or left out to make one word of the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, letter) in one.chars().take(LONGEST_SHOWN).enumerate() {
        let mut diagonal = line;
        let mut left = line + 1;
        for (cell, compared) in row.iter_mut().skip(1).zip(&other) {
            let above = *cell;
            left = (diagonal + usize::from(letter != *compared)).min(above + 1).min(left + 1);
            diagonal = above;
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = line + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_edit_distances() {
        for (one, other, steps) in [
            ("", "", 0),
            ("limit", "limit", 0),
            ("limits", "limit", 1),
            ("lmit", "limit", 1),
            ("kitten", "sitting", 3),
            ("", "abc", 3),
        ] {
            assert_eq!((distance(one, other), distance(other, one)), (steps, steps), "{one} {other}");
        }
    }

    #[test]
    fn a_near_word_is_suggested_and_a_far_one_is_not() {
        assert_eq!(suggest("polcy", &["key", "policy", "cost"]), "did you mean \"policy\"?");
        assert_eq!(suggest("weight", &["key", "cost"]), "use one of \"key\", \"cost\"");
    }

    #[test]
    fn whole_numbers_are_whole() {
        let number = |text: &str| whole(&serde_json::from_str(text).unwrap(), 0, crate::MAX_COUNT).ok();
        assert_eq!(
            (number("60"), number("60.0"), number("6e1"), number("-0")),
            (Some(60), Some(60), Some(60), Some(0))
        );
        assert_eq!(number("9007199254740991"), Some(crate::MAX_COUNT));
        for bad in [
            "-1",
            "1.5",
            "9007199254740992",
            "9007199254740993.0",
            "18446744073709551616",
            "1e300",
            "\"60\"",
            "null",
        ] {
            assert_eq!(number(bad), None, "{bad}");
        }
    }

    #[test]
    fn long_text_is_cut() {
        assert_eq!(quote(&"ü".repeat(200)).chars().count(), 64 + 2 + 3);
    }
}

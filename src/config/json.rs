//! JSON text, read strictly: a member given twice is a fault, where `serde_json` keeps the last.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Why text cannot be read.
#[derive(Debug)]
pub(crate) struct JsonFault {
    /// Where; `None` when the text is not JSON at all.
    pub(crate) path: Option<String>,
    /// What is wrong.
    pub(crate) detail: String,
}

/// Reads one JSON value and nothing after it.
///
/// Numbers above what an f64 holds (1e400) are well-formed JSON, so they are a fault with a path.
pub(crate) fn parse(text: &[u8]) -> Result<Value, JsonFault> {
    let mut json = serde_json::Deserializer::from_slice(text);
    match serde_path_to_error::deserialize::<_, Strict>(&mut json) {
        Ok(Strict(value)) => {
            json.end().map_err(|error| JsonFault { path: None, detail: error.to_string() })?;
            Ok(value)
        }
        Err(error) => {
            // The whole value has no name.
            let path = error.path().iter().next().map_or_else(String::new, |_| error.path().to_string());
            let detail = error.inner().to_string();
            let is_json = error.inner().is_data() || detail.starts_with("number out of range");
            Err(JsonFault { path: is_json.then_some(path), detail })
        }
    }
}

struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Self)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(Strict(value)) = list.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            if map.contains_key(&name) {
                return Err(A::Error::custom(format!("{} is given twice", super::read::quote(&name))));
            }
            let Strict(value) = members.next_value()?;
            map.insert(name, value);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fault(text: &str) -> (Option<String>, String) {
        let fault = parse(text.as_bytes()).unwrap_err();
        (fault.path, fault.detail)
    }

    #[test]
    fn what_is_json_but_cannot_be_used_has_a_path() {
        assert_eq!(
            fault(r#"{"limits":[{"cost":1,"cost":2}]}"#),
            (Some("limits[0]".into()), "\"cost\" is given twice at line 1 column 27".into())
        );
        let (path, detail) = fault(r#"{"limits":[{"cost":1e400}]}"#);
        assert_eq!(path.as_deref(), Some("limits[0].cost"));
        assert!(detail.starts_with("number out of range"), "{detail}");
    }

    #[test]
    fn what_is_not_json_has_none() {
        let nested = "[".repeat(100_000);
        for text in ["", "{", "{}x", "{'a':1}", "{\"a\":01}", "nul", "\u{feff}{}", "\"\\ud800\"", &nested] {
            assert_eq!(fault(text).0, None, "{}", text.chars().take(20).collect::<String>());
        }
        assert!(parse(b"\"\xff\"").unwrap_err().path.is_none());
    }

    proptest! {
        #[test]
        fn otherwise_it_reads_what_serde_json_reads(text in r#"[\[\]{}",:0-9a-eE.+\\ -]{0,40}"#) {
            if let Ok(value) = parse(text.as_bytes()) {
                prop_assert_eq!(value, serde_json::from_str::<Value>(&text).unwrap());
            }
        }
    }
}

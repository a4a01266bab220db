use wasm_bindgen::JsValue;

use super::js;
use crate::Error;

/// What a call of the API ends with instead of an answer.
#[derive(Debug)]
pub enum Fault {
    /// The core refuses a specification, a reading or a cost.
    Refused(Error),
    /// An exception of a caller's own function, passed on as it is.
    Thrown(JsValue),
    /// A call from inside another call of the same object, at a point where it cannot be answered.
    Reentrant(&'static str),
}

impl Fault {
    /// An `invalid-spec` fault that names the field it is about.
    pub(super) fn spec(path: &str, detail: impl Into<String>) -> Self {
        Self::Refused(Error::spec(path, detail))
    }

    /// The same fault, with `prefix` put before its path.
    pub(super) fn under(self, prefix: &str) -> Self {
        match self {
            Self::Refused(error) => Self::Refused(error.under(prefix)),
            other => other,
        }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl From<JsValue> for Fault {
    fn from(thrown: JsValue) -> Self {
        Self::Thrown(thrown)
    }
}

impl From<Fault> for JsValue {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Refused(error) => match error.path() {
                // About the whole value: there is nothing to put before a colon.
                None if error.is_invalid_spec() => js::fault(error.code(), Some(""), error.detail()),
                Some("") => js::fault(error.code(), Some(""), error.detail()),
                path => js::fault(error.code(), path, &error.to_string()),
            },
            Fault::Thrown(thrown) => thrown,
            Fault::Reentrant(message) => js::fault("reentrant-call", None, message),
        }
    }
}

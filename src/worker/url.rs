//! The address of a request, as everybody after us will read it.

use wasm_bindgen::JsValue;
use web_sys::{Request, Url};

/// A normal URL: no backslash that stands for a slash, no dot segment that is still to be resolved.
///
/// The runtime hands a URL over as the client sent it, and a parser on the way to the origin turns
/// `/x\\..\\api` into `/api`. What is matched has to be what is sent.
pub struct Normal {
    url: String,
    /// True when it is not what the request says.
    pub changed: bool,
}

impl Normal {
    /// The URL of `request`. Only one that has something to resolve costs a parse.
    pub fn of(request: &Request) -> Self {
        let url = request.url();
        let path = path_and_query(&url);
        let path = path.split(['?', '#']).next().unwrap_or(path);
        let is_plain =
            !path.contains('\\') && !path.contains("/.") && !path.contains("%2e") && !path.contains("%2E");
        match if is_plain { Err(JsValue::UNDEFINED) } else { Url::new(&url) } {
            Ok(parsed) => Self { url: parsed.href(), changed: true },
            Err(_) => Self { url, changed: false },
        }
    }

    /// The whole URL.
    pub fn as_str(&self) -> &str {
        &self.url
    }

    /// The path, without the query.
    pub fn path(&self) -> &str {
        let path = self.path_and_query();
        path.split(['?', '#']).next().unwrap_or(path)
    }

    /// The query, without its question mark.
    pub fn query(&self) -> &str {
        let path = self.path_and_query();
        let path = path.split('#').next().unwrap_or(path);
        path.split_once('?').map_or("", |(_, query)| query)
    }

    /// The path and what comes after it.
    pub fn path_and_query(&self) -> &str {
        path_and_query(&self.url)
    }
}

fn path_and_query(url: &str) -> &str {
    let after_scheme = url.split_once("://").map_or(url, |(_, rest)| rest);
    after_scheme.find('/').and_then(|at| after_scheme.get(at..)).unwrap_or("/")
}

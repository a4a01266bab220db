//! Request paths, and the patterns that match them.

use std::fmt;

use crate::Error;

/// A request's path as rules and identities see it: percent-decoded once, in segments.
///
/// Doubled slashes and a slash at the end are ignored, case is kept, and a percent sign that no two
/// hexadecimal digits follow stands for itself. An encoded slash (`%2F`) separates segments like a
/// plain one, and `.` and `..` are resolved after decoding, so that `/public/..%2Fadmin` is `/admin`.
///
/// Shown as text, everything that could be read in two ways is encoded again; parsing that text gives
/// the same path.
///
/// # Example
///
/// ```
/// use sluicegate::http::RequestPath;
///
/// assert_eq!(RequestPath::parse("/api//users/%41da/").to_string(), "/api/users/Ada");
/// assert_eq!(RequestPath::parse("/100%").to_string(), "/100%25");
/// assert_eq!(RequestPath::parse("").to_string(), "/");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RequestPath {
    segments: Vec<Vec<u8>>,
    hides_dots: bool,
}

impl RequestPath {
    /// Reads the path name of a parsed URL. Every text is a path.
    pub fn parse(pathname: &str) -> Self {
        let mut segments: Vec<Vec<u8>> = Vec::new();
        let mut hides_dots = false;
        for segment in decode_once(pathname.as_bytes()).split(|byte| *byte == b'/') {
            // Some origins cut off what follows a semicolon before they resolve dots.
            let name = segment.split(|byte| *byte == b';').next().unwrap_or_default();
            match name {
                b"" if segment.is_empty() => {}
                b"." => hides_dots = true,
                b".." => {
                    hides_dots = true;
                    segments.pop();
                }
                _ => segments.push(segment.to_vec()),
            }
        }
        Self { segments, hides_dots }
    }

    /// True when the path has a `.` or `..` segment. A URL parser resolves those, also `%2e%2e`, so one
    /// that is still there stood behind an encoded slash or before a semicolon. Some origins resolve it
    /// all the same: to one `/admin/..%2Fx` is `/x`, to the other it lies below `/admin`. Nobody can tell
    /// which rule it falls under, and nothing but an attack sends it: answer such a request 400.
    pub const fn hides_dots(&self) -> bool {
        self.hides_dots
    }
}

impl fmt::Display for RequestPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.segments.is_empty() {
            return f.write_str("/");
        }
        for segment in &self.segments {
            f.write_str("/")?;
            for byte in segment {
                match byte {
                    b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' => write!(f, "{}", char::from(*byte))?,
                    _ if b"-._~!$&'()*+,;=:@".contains(byte) => write!(f, "{}", char::from(*byte))?,
                    _ => write!(f, "%{byte:02X}")?,
                }
            }
        }
        Ok(())
    }
}

/// What paths a rule is for: one path, or all below a prefix.
///
/// `/api/*` matches `/api/x`, `/api/x/y` and `/api` itself (a slash at the end is ignored, so `/api/`
/// is `/api`), but not `/apix`. `/*` matches every path. A star that is meant as a letter is `%2A`.
///
/// # Example
///
/// ```
/// use sluicegate::http::{PathPattern, RequestPath};
///
/// let pattern = PathPattern::parse("/api/*")?;
/// assert!(pattern.matches(&RequestPath::parse("/api/users/1")));
/// assert!(!pattern.matches(&RequestPath::parse("/apix")));
/// # Ok::<(), sluicegate::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathPattern {
    path: RequestPath,
    is_prefix: bool,
}

impl PathPattern {
    /// Reads a pattern.
    ///
    /// # Errors
    ///
    /// An [`invalid-spec`](Error::is_invalid_spec) error, with the path `path`, for a pattern that does
    /// not begin with a slash, has a star anywhere but as its whole last segment, has dot segments, or
    /// has a query or a fragment.
    pub fn parse(pattern: &str) -> Result<Self, Error> {
        let fail = |detail: &str| {
            Err(Error::spec("path", format!("{} {detail}", crate::config::read::quote(pattern))))
        };
        if !pattern.starts_with('/') {
            return fail("does not begin with a slash");
        }
        if pattern.contains(['?', '#']) {
            return fail("has a query or a fragment; rules match the path alone");
        }
        let (path, is_prefix) = match pattern.strip_suffix("/*") {
            Some(prefix) => (prefix, true),
            None => (pattern, false),
        };
        if path.contains('*') {
            return fail("has a * that is not its whole last segment; use one such as /api/*");
        }
        let path = RequestPath::parse(path);
        if path.hides_dots {
            return fail("has a . or .. segment; write the path that is meant");
        }
        Ok(Self { path, is_prefix })
    }

    /// The pattern `/*`.
    pub(crate) fn all() -> Self {
        Self { path: RequestPath::parse("/"), is_prefix: true }
    }

    /// True when the pattern is for this path.
    pub fn matches(&self, path: &RequestPath) -> bool {
        if self.is_prefix {
            path.segments.starts_with(&self.path.segments)
        } else {
            path.segments == self.path.segments
        }
    }

    /// True when this pattern matches everything that `other` matches.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        self.matches(&other.path) && (self.is_prefix || !other.is_prefix)
    }
}

impl fmt::Display for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.to_string().replace('*', "%2A");
        match (self.is_prefix, path.as_str()) {
            (true, "/") => f.write_str("/*"),
            (true, path) => write!(f, "{path}/*"),
            (false, path) => f.write_str(path),
        }
    }
}

/// Decodes each percent sequence once; what is not one is kept as it is.
pub(super) fn decode_once(text: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        let byte = match after {
            [high, low, ..] if first == b'%' => hex(*high).zip(hex(*low)).map(|(h, l)| h << 4 | l),
            _ => None,
        };
        decoded.push(byte.unwrap_or(first));
        rest = if byte.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    decoded
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

use std::fmt;

/// What went wrong, in a form that programs can tell apart.
///
/// A refused request is not an error: it is a [`Decision`](crate::Decision). Errors are inputs that
/// cannot be decided about at all: a reading that cannot be true, a specification that makes no
/// sense, a cost that is not a whole number.
///
/// # Example
///
/// ```
/// use sluicegate::Cost;
///
/// let error = Cost::try_from_f64(1.5).unwrap_err();
/// assert!(error.is_invalid_cost());
/// assert_eq!(error.code(), "invalid-cost");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    path: Option<String>,
    detail: String,
}

/// The kinds of [`Error`]; private, so that one can be added without breaking a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorKind {
    InvalidSpec,
    InvalidCost,
    AmbiguousJump,
    MonotonicRegression,
    ImplausibleWall,
    ReaderRegression,
    NonFinite,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, detail: impl Into<String>) -> Self {
        Self { kind, path: None, detail: detail.into() }
    }

    /// A specification error that names the field it is about, such as `policies[2].window`.
    pub(crate) fn spec(path: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { kind: ErrorKind::InvalidSpec, path: Some(path.into()), detail: detail.into() }
    }

    pub(crate) fn cost(detail: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidCost, detail)
    }

    /// The same error, with `prefix` put before its path.
    #[must_use]
    pub(crate) fn under(mut self, prefix: &str) -> Self {
        self.path = Some(match self.path {
            Some(path) if path.starts_with('[') => format!("{prefix}{path}"),
            Some(path) if !path.is_empty() => format!("{prefix}.{path}"),
            _ => prefix.to_owned(),
        });
        self
    }

    /// The stable name of the kind of error: the `code` of the JavaScript `Error`.
    pub fn code(&self) -> &'static str {
        match self.kind {
            ErrorKind::InvalidSpec => "invalid-spec",
            ErrorKind::InvalidCost => "invalid-cost",
            ErrorKind::AmbiguousJump => "ambiguous-jump",
            ErrorKind::MonotonicRegression => "monotonic-regression",
            ErrorKind::ImplausibleWall => "implausible-wall",
            ErrorKind::ReaderRegression => "reader-regression",
            ErrorKind::NonFinite => "non-finite",
        }
    }

    /// The field that is wrong, if the error is about one: `policies[2].window`.
    pub fn path(&self) -> Option<&str> {
        self.path.as_deref()
    }

    /// What is wrong with it, without the path.
    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// True when a configuration or a period specification cannot be used.
    pub fn is_invalid_spec(&self) -> bool {
        self.kind == ErrorKind::InvalidSpec
    }

    /// True when a cost is not a whole number from 0 to 2^53 - 1.
    pub fn is_invalid_cost(&self) -> bool {
        self.kind == ErrorKind::InvalidCost
    }

    /// True when a clock reading was refused, whatever the reason.
    pub fn is_refused_reading(&self) -> bool {
        !self.is_invalid_spec() && !self.is_invalid_cost()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => write!(f, "{path}: {}", self.detail),
            None => f.write_str(&self.detail),
        }
    }
}

impl std::error::Error for Error {}

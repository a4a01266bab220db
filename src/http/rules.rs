//! Rules: which policies a request falls under.

use super::path::{PathPattern, RequestPath};

/// A method and a path, and the policies for the requests that match both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    methods: Vec<String>,
    path: Option<PathPattern>,
    policies: Vec<usize>,
}

impl Rule {
    /// A rule for these methods (none: any) and paths (`None`: any). No policies: let all through.
    pub(crate) fn new(methods: Vec<String>, path: Option<PathPattern>, policies: Vec<usize>) -> Self {
        Self { methods, path, policies }
    }

    /// True when the rule is for such a request.
    ///
    /// Methods are compared without regard to case: to HTTP `post` is not `POST`, to many origins it is,
    /// and it must not be a way around a limit.
    pub fn matches(&self, method: &str, path: &RequestPath) -> bool {
        // What a path with hidden dots is, depends on the origin: no reason to let it through uncounted.
        if self.is_allow() && path.hides_dots() {
            return false;
        }
        let method_fits = self.methods.is_empty() || self.has_method(method);
        method_fits && self.path.as_ref().is_none_or(|pattern| pattern.matches(path))
    }

    /// The policies to apply, as indices into [`Config::policies`](crate::config::Config::policies).
    /// Empty when the rule lets everything through.
    pub fn policies(&self) -> &[usize] {
        &self.policies
    }

    /// True when the rule lets its requests through uncounted.
    pub fn is_allow(&self) -> bool {
        self.policies.is_empty()
    }

    /// The methods that it is for; `None` for any.
    pub(super) fn methods(&self) -> Option<&[String]> {
        (!self.methods.is_empty()).then_some(self.methods.as_slice())
    }

    /// The paths that it is for; `None` for any.
    pub(super) const fn path(&self) -> Option<&PathPattern> {
        self.path.as_ref()
    }

    fn has_method(&self, method: &str) -> bool {
        self.methods.iter().any(|own| own.eq_ignore_ascii_case(method))
    }

    /// True when every request that `other` matches is matched here too.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        let methods = self.methods.is_empty()
            || (!other.methods.is_empty() && other.methods.iter().all(|method| self.has_method(method)));
        let paths = match (&self.path, &other.path) {
            (None, _) => true,
            (Some(own), Some(other)) => own.covers(other),
            (Some(own), None) => own.covers(&PathPattern::all()),
        };
        methods && paths
    }
}

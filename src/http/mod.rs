//! What the adapter needs to speak HTTP: rules, identities, header fields, problem details, the
//! check, the tenants API and the page. Pure: texts go in, texts come out.

mod address;
mod answer;
mod body;
mod check;
mod fields;
mod identity;
mod key;
mod page;
mod path;
mod policies;
mod problem;
mod rules;
mod tenant;

pub use answer::{LimitResult, all_allowed, check_response};
pub use body::MAX_BODY_BYTES;
pub use check::{CheckLimit, CheckRequest, MAX_KEY_BYTES, MAX_LIMITS, parse_check};
pub use fields::{HeaderDraft, rate_limit, rate_limit_policy, retry_after_seconds};
pub use identity::{HeaderName, Identity, Part, RequestFacts, Resolved};
pub use key::{HashKey, KeyHash};
pub use page::{PageFile, PageRoute};
pub use path::{PathPattern, RequestPath};
pub use policies::policies_response;
pub use problem::{PROBLEM_CONTENT_TYPE, Problem, Status};
pub use rules::Rule;
pub use tenant::{TenantCall, TenantRoute};

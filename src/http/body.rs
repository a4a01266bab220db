//! Bodies: JSON that is read strictly, as a whole or not at all.

use serde_json::Value;

use super::problem::{MOST_FAULTS, Problem, Status, faults};
use crate::Error;
use crate::config::json;
use crate::config::read::at;

/// The largest body of a request to a route of ours. The adapter is to stop reading there.
pub const MAX_BODY_BYTES: usize = 64 * 1024;

/// Reads a body. The inner error is about a field: a member given twice, since programs disagree about
/// which one counts, or a number that no program can hold.
///
/// # Errors
///
/// The problem to answer with: 413 for a body that is too large, 400 for one that is not JSON.
pub(super) fn read(body: &[u8]) -> Result<Result<Value, Error>, Problem> {
    if body.len() > MAX_BODY_BYTES {
        let detail = format!("The body is larger than {MAX_BODY_BYTES} bytes.");
        return Err(Problem::new(Status::ContentTooLarge, detail));
    }
    match json::parse(body) {
        Ok(value) => Ok(Ok(value)),
        Err(fault) => match fault.path {
            Some(path) => Ok(Err(at(&path, fault.detail))),
            None => Err(Problem::new(Status::BadRequest, format!("The body is not JSON: {}.", fault.detail))),
        },
    }
}

/// The problem of `what` with these faults, of which so many are listed as fit an answer: 422.
pub(super) fn invalid(what: &str, consequence: &str, mut errors: Vec<Error>) -> Problem {
    let detail = format!("{what} has {}. {consequence}", faults(errors.len()));
    errors.truncate(MOST_FAULTS);
    Problem::invalid(Status::UnprocessableContent, detail, errors)
}

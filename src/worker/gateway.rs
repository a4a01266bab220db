//! The gateway: rules, limits, and then the origin.

use std::cell::RefCell;

use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Request, Response, ResponseInit};
use worker::Env;

use super::decide::{Limit, decide};
use super::pops::Pop;
use super::setup::Setup;
use super::url::Normal;
use super::{origin, page, respond};
use crate::Cost;
use crate::config::{Config, Subject};
use crate::http::{LimitResult, Problem, RequestFacts, RequestPath, Rule};

/// Answers a request that is for the origin: refuses it, or passes it on.
pub async fn gateway(request: &Request, env: &Env, setup: &Setup, url: &Normal) -> Result<Response, JsValue> {
    let config = match &setup.config {
        Ok(config) => config,
        // A wrong rule never means "no limit".
        Err(errors) => return respond::problem(&Problem::configuration(errors)),
    };
    let path = RequestPath::parse(url.path());
    if path.hides_dots() {
        return respond::problem(&Problem::hidden_dots());
    }
    let rule = config.matching(&request.method(), &path);
    if rule.is_none() && page::is_home(request, env, url) {
        return page::redirect(setup);
    }
    let Some(rule) = rule.filter(|rule| !rule.is_allow()) else {
        return origin::forward(request, env, url, &[]).await;
    };
    let counted = match subjects(request, setup, config, rule, &path)? {
        Ok(counted) => counted,
        Err(problem) => return respond::problem(&problem),
    };
    let Counted { limits, joined } = counted;
    let pop = Pop::near(request, env, config.settings());
    let results = decide(&pop, config.settings(), &limits, false).await;
    if let Some(problem) = Problem::refusal(&results) {
        return respond::refusal(&problem, &results, config.settings());
    }
    let response = origin::forward(request, env, url, &joined).await?;
    announce(response, &results, config)
}

/// Whom the policies of a rule count a request as.
struct Counted<'a> {
    limits: Vec<Limit<'a>>,
    /// Headers that were counted by and came more than once, as they were counted: joined. The origin
    /// gets them so, or it could take the first for an identity that was never counted.
    joined: Vec<(String, String)>,
}

/// Whom each policy of `rule` counts this request as; a problem if one insists on an identity that
/// the request does not have.
fn subjects<'a>(
    request: &Request,
    setup: &Setup,
    config: &'a Config,
    rule: &Rule,
    path: &RequestPath,
) -> Result<Result<Counted<'a>, Problem>, JsValue> {
    let headers = request.headers();
    let joined = RefCell::new(Vec::new());
    let header = |name: &str| {
        let value = headers.get(name).ok().flatten();
        if let Some(value) = value.as_ref().filter(|value| value.contains(',')) {
            joined.borrow_mut().push((name.to_owned(), value.clone()));
        }
        value
    };
    let ip = headers.get("cf-connecting-ip")?;
    let facts = RequestFacts { ip: ip.as_deref(), path, header: &header };
    let mut limits = Vec::with_capacity(rule.policies().len());
    for policy in rule.policies().iter().filter_map(|index| config.policies().get(*index)) {
        match policy.subject(&setup.hash_key, &facts) {
            Subject::Counted(key) => limits.push(Limit { policy, key, cost: Cost::ONE }),
            Subject::Skipped => {}
            Subject::Refused => return Ok(Err(Problem::missing_identity(policy))),
        }
    }
    Ok(Ok(Counted { limits, joined: joined.into_inner() }))
}

/// Adds the limit fields to an origin's answer, beside any that it has itself.
fn announce(response: Response, results: &[LimitResult<'_>], config: &Config) -> Result<Response, JsValue> {
    // A switch to another protocol has no answer to put fields on.
    if response.status() == 101 || results.is_empty() {
        return Ok(response);
    }
    // An origin's answer has immutable headers; a copy of it has not, and streams the same body.
    let init: &ResponseInit = response.unchecked_ref();
    let Ok(copy) = Response::new_with_opt_readable_stream_and_init(response.body().as_ref(), init) else {
        // A status that only the origin may give (600 and above): better without the fields than not at all.
        return Ok(response);
    };
    respond::add_limit_fields(&copy.headers(), results, config.settings())?;
    Ok(copy)
}

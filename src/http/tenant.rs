//! The settings and the usage of one tenant: `/v1/tenants/{id}` and what is below it.

use serde_json::{Map, Value};

use super::body;
use super::check::MAX_KEY_BYTES;
use super::key::{HashKey, KeyHash};
use super::path::decode_once;
use super::problem::{Problem, Status};
use crate::config::read::{Fields, at, no_such_policy, quote, quote_all, show, text, whole};
use crate::config::{Config, Policy, Subject};
use crate::ledger::{TenantOp, TenantRequest};
use crate::{Error, MAX_COUNT};

const ROOT: &str = "/v1/tenants/";

/// A route of the tenants API.
///
/// | route | methods |
/// |---|---|
/// | `/v1/tenants/{id}` | `GET`, `PUT` and `DELETE` the tenant's own settings |
/// | `/v1/tenants/{id}/usage`, `/audit`, `/log` | `GET` |
/// | `/v1/tenants/{id}/reopen` | `POST` |
///
/// `{id}` is what the identity of the quota has in a request, such as the value of a header,
/// percent-encoded: a slash in it is `%2F`. `?policy=NAME` says which quota is meant; it may be left out
/// where the body of a `PUT` or `POST` names it, and where there is only one calendar quota.
///
/// # Example
///
/// ```
/// use sluicegate::config::Config;
/// use sluicegate::http::{HashKey, TenantRoute};
/// use sluicegate::ledger::TenantOp;
///
/// # let config = Config::from_json(r#"{"policies": [{"name": "monthly", "algorithm": "calendar-quota",
/// #     "limit": 10000, "identity": "header:x-api-key", "period": {"unit": "month", "time_zone": "UTC"}}]}"#)?;
/// let route = TenantRoute::parse("/v1/tenants/acme%2Feu").unwrap();
/// let call = route.read(&config, &HashKey::default(), "PUT", "policy=monthly", br#"{"limit": 500}"#).unwrap();
/// assert_eq!((call.id.as_str(), call.request.policy.as_str()), ("acme/eu", "monthly"));
/// assert_eq!(call.request.op, TenantOp::Put { limit: Some(500), period: None });
/// assert_eq!(route.read(&config, &HashKey::default(), "POST", "", b"").unwrap_err().status().code(), 405);
/// # Ok::<(), sluicegate::config::ConfigErrors>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TenantRoute<'p> {
    /// As it stands in the path, encoded.
    id: &'p str,
    place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Settings,
    Usage,
    Audit,
    Log,
    Reopen,
}

/// What an operator asks about a tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TenantCall {
    /// The policy's index in [`Config::policies`].
    pub policy_index: usize,
    /// The tenant's counter: names its Ledger.
    pub key: KeyHash,
    /// The tenant, decoded.
    pub id: String,
    /// What its Ledger is to do.
    pub request: TenantRequest,
}

impl<'p> TenantRoute<'p> {
    /// True for a path that belongs to the tenants API, whether it is a route or not.
    pub fn is_below(path: &str) -> bool {
        path.strip_prefix(ROOT.trim_end_matches('/'))
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Reads a path, without its query; `None` when it is no route of the tenants API.
    pub fn parse(path: &'p str) -> Option<Self> {
        let (id, place) = match path.strip_prefix(ROOT)?.split_once('/') {
            None => (path.strip_prefix(ROOT)?, Place::Settings),
            Some((id, "usage")) => (id, Place::Usage),
            Some((id, "audit")) => (id, Place::Audit),
            Some((id, "log")) => (id, Place::Log),
            Some((id, "reopen")) => (id, Place::Reopen),
            Some(_) => return None,
        };
        Some(Self { id, place })
    }

    /// The methods that the route takes, as in the `Allow` field.
    pub const fn methods(&self) -> &'static str {
        match self.place {
            Place::Settings => "GET, PUT, DELETE",
            Place::Usage | Place::Audit | Place::Log => "GET",
            Place::Reopen => "POST",
        }
    }

    /// True when a request with this method has a body that is to be read.
    pub fn has_body(&self, method: &str) -> bool {
        matches!((self.place, method), (Place::Settings, "PUT") | (Place::Reopen, "POST"))
    }

    /// Reads a request: all of it, or nothing.
    ///
    /// # Errors
    ///
    /// The problem to answer with: 405 for a method that the route does not take, 413 for a body that is too
    /// large, 400 for one that is not JSON and for an identity that is not text, else 422 with every fault.
    pub fn read(
        &self,
        config: &Config,
        key: &HashKey,
        method: &str,
        query: &str,
        body: &[u8],
    ) -> Result<TenantCall, Problem> {
        if !self.methods().split(", ").any(|own| own == method) {
            let detail = format!("This route takes {} only.", self.methods());
            return Err(Problem::new(Status::MethodNotAllowed, detail));
        }
        let Ok(id) = String::from_utf8(decode_once(self.id.as_bytes())) else {
            return Err(Problem::new(Status::BadRequest, "The tenant in the path is not UTF-8."));
        };
        let mut errors = Vec::new();
        let mut body = if self.has_body(method) { read_object(body)? } else { Map::new() };
        let policy = self.policy(config, query, body.remove("policy"), &mut errors);
        let subject = policy.and_then(|(index, policy)| {
            subject(policy, key, &id).map(|key| (index, policy, key)).map_err(|error| errors.push(error)).ok()
        });
        let op = self.op(method, &Value::Object(body), &mut errors);
        match subject.zip(op) {
            Some(((policy_index, policy, key), op)) if errors.is_empty() => {
                let request = TenantRequest { policy: policy.name.clone(), op };
                Ok(TenantCall { policy_index, key, id, request })
            }
            _ => Err(invalid(errors)),
        }
    }

    /// The quota that is meant; `told` is what the body calls it.
    fn policy<'c>(
        &self,
        config: &'c Config,
        query: &str,
        told: Option<Value>,
        errors: &mut Vec<Error>,
    ) -> Option<(usize, &'c Policy)> {
        let asked = match named_in(query) {
            Ok(asked) => asked,
            Err(error) => {
                errors.push(error);
                return None;
            }
        };
        let told = match told.as_ref().map(text).transpose() {
            Ok(told) => told,
            Err(detail) => {
                errors.push(Error::spec("policy", detail));
                return None;
            }
        };
        if let (Some(asked), Some(told)) = (&asked, told)
            && asked != told
        {
            let detail = format!("is {} in the body and {} in the query", quote(told), quote(asked));
            errors.push(Error::spec("policy", detail));
            return None;
        }
        quota(config, told.or(asked.as_deref()))
            .map_err(|detail| errors.push(Error::spec("policy", detail)))
            .ok()
    }

    fn op(&self, method: &str, body: &Value, errors: &mut Vec<Error>) -> Option<TenantOp> {
        match (self.place, method) {
            (Place::Settings, "PUT") => TenantOp::put(body).map_err(|faults| errors.extend(faults)).ok(),
            (Place::Settings, "DELETE") => Some(TenantOp::Delete),
            (Place::Settings, _) => Some(TenantOp::Get),
            (Place::Usage, _) => Some(TenantOp::Usage),
            (Place::Audit, _) => Some(TenantOp::Audit),
            (Place::Log, _) => Some(TenantOp::Log),
            (Place::Reopen, _) => {
                let mut fields = Fields::open(body, "", &["used"], errors)?;
                let hint = "say how many units count as used; 0 gives the whole limit again";
                let used = fields.required("used", hint, |value| whole(value, 0, MAX_COUNT));
                used.map(|used| TenantOp::Reopen { used })
            }
        }
    }
}

/// The members of a body.
fn read_object(body: &[u8]) -> Result<Map<String, Value>, Problem> {
    match body::read(body)? {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(other) => Err(invalid(vec![at("", format!("{} is not an object", show(&other)))])),
        Err(error) => Err(invalid(vec![error])),
    }
}

fn invalid(errors: Vec<Error>) -> Problem {
    body::invalid("The request", "Nothing was changed.", errors)
}

/// The calendar quota of that name, or the only one.
fn quota<'c>(config: &'c Config, name: Option<&str>) -> Result<(usize, &'c Policy), String> {
    let quotas: Vec<(usize, &Policy)> =
        config.policies().iter().enumerate().filter(|(_, policy)| policy.period().is_some()).collect();
    let names = || quotas.iter().map(|(_, policy)| policy.name.as_str());
    match (name, quotas.as_slice()) {
        (_, []) => Err("no policy is a \"calendar-quota\", and only those have tenants".to_owned()),
        (None, [only]) => Ok(*only),
        (None, _) => Err(format!("is missing; write ?policy= and one of {}", quote_all(names()))),
        (Some(name), _) => {
            let found = quotas.iter().find(|(_, policy)| policy.name == name).copied();
            found.ok_or_else(|| match config.policy(name) {
                Some(_) => {
                    format!("{} is no \"calendar-quota\"; there are {}", quote(name), quote_all(names()))
                }
                None => no_such_policy(name, names()),
            })
        }
    }
}

/// The name in `policy=NAME`, which is all that a query can say.
fn named_in(query: &str) -> Result<Option<String>, Error> {
    let mut name = None;
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let key = decoded(key);
        if key != "policy" {
            let shown: String = key.chars().take(64).collect();
            return Err(at(&shown, "is not a parameter here; use \"policy\"".to_owned()));
        }
        if name.replace(decoded(value)).is_some() {
            return Err(Error::spec("policy", "is given twice"));
        }
    }
    Ok(name)
}

fn decoded(text: &str) -> String {
    String::from_utf8_lossy(&decode_once(text.replace('+', " ").as_bytes())).into_owned()
}

/// Whom the policy would count a request of this tenant as.
fn subject(policy: &Policy, key: &HashKey, id: &str) -> Result<KeyHash, Error> {
    let fail = |detail: String| Err(Error::spec("id", detail));
    if !(1..=MAX_KEY_BYTES).contains(&id.len()) {
        return fail(format!("has {} bytes; a tenant is named by 1 to {MAX_KEY_BYTES}", id.len()));
    }
    let name = quote(&policy.name);
    if policy.identity.parts().len() > 1 {
        return fail(format!(
            "is one string, and {name} counts by several: such tenants have no settings of their own"
        ));
    }
    match policy.subject_given(key, &[id]) {
        Ok(Subject::Counted(hash)) => Ok(hash),
        Ok(Subject::Refused | Subject::Skipped) => fail(format!("is blank, which {name} does not count")),
        Err(error) => fail(error.detail().to_owned()),
    }
}

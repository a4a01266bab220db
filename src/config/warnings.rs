//! What works, but hardly as it was meant.

use super::in_words;
use super::policy::{Counting, Policy, Rate, Scope};
use super::read::quote;
use crate::global::CapLimit;
use crate::http::{Part, Rule};
use crate::policy::Algorithm;

/// A shorter window over all points of presence is over before its Ledger was asked more than once.
const SHORTEST_GLOBAL_MS: u64 = 5_000;

/// Headers that clients can write, or that name an address in another form than `ip`.
const ADDRESS_HEADERS: [&str; 5] =
    ["x-forwarded-for", "x-real-ip", "forwarded", "cf-connecting-ip", "true-client-ip"];

/// Everything that an operator should look at once more.
pub(super) fn warnings(policies: &[Policy], rules: &[Rule]) -> Vec<String> {
    let mut warnings = Vec::new();
    for (index, policy) in policies.iter().enumerate() {
        let about = of_identity(policy).into_iter().chain(of_counting(policy));
        warnings.extend(about.map(|(field, warning)| format!("policies[{index}].{field}: {warning}")));
    }
    for (index, rule) in rules.iter().enumerate() {
        if let Some(earlier) = rules.iter().take(index).position(|earlier| earlier.covers(rule)) {
            warnings.push(format!(
                "rules[{index}] is never reached: rules[{earlier}] matches all that it matches"
            ));
        }
    }
    if rules.is_empty() {
        warnings.push(
            "there are no rules: the gateway lets everything through, and only checks are counted".to_owned(),
        );
    }
    warnings
}

fn of_identity(policy: &Policy) -> Vec<(&'static str, String)> {
    let mut warnings = Vec::new();
    for part in policy.identity.parts() {
        if let Part::Header(name) = part
            && ADDRESS_HEADERS.contains(&name.as_str())
        {
            let name = quote(name.as_str());
            warnings.push(format!(
                "a client can write {name} itself, or spell its address in many ways; use \"ip\""
            ));
        }
    }
    if policy.period().is_some() && policy.identity.parts().len() > 1 {
        let warning = "the tenants API names a tenant by one string, so tenants of several cannot have settings of \
                       their own";
        warnings.push(warning.to_owned());
    }
    warnings.into_iter().map(|warning| ("identity", warning)).collect()
}

fn of_counting(policy: &Policy) -> Vec<(&'static str, String)> {
    let Counting::Rate(Rate { algorithm: Algorithm::FixedWindow(fixed), scope, window, .. }) =
        &policy.counting
    else {
        return Vec::new();
    };
    let Scope::Global { tolerance_ppm } = *scope else { return Vec::new() };
    let mut warnings = Vec::new();
    if window.get() < SHORTEST_GLOBAL_MS {
        let (window, shortest) = (in_words(window.get()), in_words(SHORTEST_GLOBAL_MS));
        warnings.push((
            "window",
            format!(
                "over all points of presence {window} goes by in asking; use scope = \"pop\" below {shortest}"
            ),
        ));
    }
    let slack = CapLimit::new(fixed.limit(), tolerance_ppm).map_or(0, CapLimit::slack);
    if tolerance_ppm > 0 && fixed.limit() > 0 && slack == 0 {
        let (part, limit) = (decimal(tolerance_ppm), fixed.limit());
        warnings.push((
            "tolerance",
            format!(
                "{part} of {limit} is less than one unit, so every request waits for the Ledger; write tolerance = 0 \
                 if that is meant"
            ),
        ));
    }
    warnings
}

/// Millionths as they are written: 100,000 is 0.1.
fn decimal(ppm: u32) -> String {
    let (whole, part) = (ppm / CapLimit::WHOLE_PPM, ppm % CapLimit::WHOLE_PPM);
    let text = format!("{whole}.{part:06}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn millionths_are_shown_as_they_were_written() {
        for (ppm, text) in [(0, "0"), (1, "0.000001"), (100_000, "0.1"), (1_000_000, "1"), (120_000, "0.12")]
        {
            assert_eq!(decimal(ppm), text);
        }
    }
}

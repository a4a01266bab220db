//! `RateLimit` and `RateLimit-Policy`.

use crate::*;

#[test]
fn the_fields_are_those_of_the_draft() {
    let config = config();
    let all = results(&config, &[("per-ip", None), ("bucket", limited(Some(1))), ("shadow", None)]);
    let eleven = rate_limit(&all, HeaderDraft::Eleven);
    assert_eq!(eleven.as_deref(), Some(r#""per-ip";r=59;t=42, "bucket";r=59;t=42"#));
    let next = rate_limit(&all, HeaderDraft::Next);
    assert_eq!(next.as_deref(), Some(r#""per-ip";a=59;w=42, "bucket";a=59;w=42"#));
    let policies = rate_limit_policy(&all);
    assert_eq!(policies.as_deref(), Some(r#""per-ip";q=60;w=60, "bucket";q=60;w=60;sluicegate-burst=20"#));
}

#[test]
fn what_is_not_known_or_not_enforced_is_not_said() {
    let config = config();
    assert_eq!(rate_limit(&results(&config, &[("shadow", None)]), HeaderDraft::Eleven), None);
    assert_eq!(rate_limit(&[LimitResult::out_of_reach(named(&config, "per-ip"))], HeaderDraft::Eleven), None);
    assert_eq!(rate_limit_policy(&results(&config, &[("shadow", None)])), None);
    let field = |grows_ms, reset_ms| {
        let decision = Decision { grows_ms, reset_ms, ..decision(None) };
        rate_limit(&[counted(named(&config, "per-ip"), decision, None)], HeaderDraft::Eleven).unwrap()
    };
    assert_eq!(field(0, 0), r#""per-ip";r=59"#);
    assert_eq!(field(0, 1), r#""per-ip";r=59;t=1"#);
    assert_eq!(field(2_001, 60_000), r#""per-ip";r=59;t=3"#);
}

/// What a field says, parsed by the rules of RFC 9651.
fn parse(field: &str) -> Vec<(String, Vec<(String, i64)>)> {
    let list: List = Parser::new(field).parse().unwrap();
    let item = |entry: &ListEntry| match entry {
        ListEntry::Item(item) => {
            let BareItem::String(name) = &item.bare_item else { panic!("{field}") };
            let number = |value: &BareItem| i64::from(value.as_integer().unwrap());
            let parameters = item.params.iter().map(|(key, value)| (key.as_str().to_owned(), number(value)));
            (name.as_str().to_owned(), parameters.collect())
        }
        ListEntry::InnerList(_) => panic!("{field}"),
    };
    list.iter().map(item).collect()
}

proptest! {
    #[test]
    fn any_numbers_give_fields_that_parse(
        remaining: u64, reset_ms: u64, grows_ms: u64, limit in 0..=MAX_COUNT, burst in 0..=MAX_COUNT,
        window in 1u64..=366, name in "[A-Za-z0-9._-]{1,64}",
    ) {
        let config = Config::from_value(&json!({"policies": [{"name": name, "algorithm": "token-bucket", "limit": limit,
            "burst": burst, "window": format!("{window}d"), "identity": "ip"}]})).unwrap();
        let policy = &config.policies()[0];
        let most = 999_999_999_999_999;
        let number = |value: u64| i64::try_from(value.min(most)).unwrap();
        let decision = Decision { limit, remaining, reset_ms, grows_ms, refusal: None };
        let results = [counted(policy, decision, None)];
        let said = parse(&rate_limit_policy(&results).unwrap());
        let mut expected = vec![("q".to_owned(), number(limit)), ("w".to_owned(), number(window * 86_400))];
        if burst != limit {
            expected.push(("sluicegate-burst".to_owned(), number(burst)));
        }
        prop_assert_eq!(said, vec![(name.clone(), expected)]);
        let said = parse(&rate_limit(&results, HeaderDraft::Eleven).unwrap());
        prop_assert_eq!(&said[0].1[0], &("r".to_owned(), number(remaining)));
        let wait_ms = if grows_ms > 0 { grows_ms } else { reset_ms };
        // The largest number stands for never: there is nothing to tell then.
        let wait = (wait_ms > 0 && wait_ms < MAX_COUNT).then(|| ("t".to_owned(), number(wait_ms.div_ceil(1000))));
        prop_assert_eq!(said[0].1.get(1), wait.as_ref());
    }
}

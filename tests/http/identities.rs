//! Identities: whom a request is counted as.

use crate::*;

#[test]
fn what_differs_is_counted_apart_and_what_does_not_is_not() {
    let config = config();
    let ip = |ip| subject(named(&config, "per-ip"), Some(ip), None, "/");
    assert_eq!(ip("203.0.113.7"), ip("::ffff:203.0.113.7"));
    assert_eq!(ip("2001:db8::1"), ip("2001:db8::2"));
    assert_ne!(ip("203.0.113.7"), ip("203.0.113.8"));
    let other = subject(named(&config, "shadow"), Some("203.0.113.7"), None, "/");
    assert_eq!(ip("203.0.113.7"), other, "policies of one identity meet in one object");
    let key = |value| subject(named(&config, "per-key"), None, Some(value), "/");
    assert_eq!(key(" abc "), key("abc"));
    assert_ne!(key("abc"), key("ABC"));
    let path = |path| subject(named(&config, "per-path"), None, None, path);
    assert_eq!(path("/a/%62/"), path("//a/b"));
    assert_ne!(path("/a"), path("/b"));
}

#[test]
fn a_missing_identity_is_for_the_policy_to_decide() {
    let config = config();
    let key = |name, value| subject(named(&config, name), None, value, "/");
    assert!(matches!(key("per-key", None), Subject::Counted(_)));
    assert_eq!(key("per-key", None), key("per-key", Some(" \t ")));
    assert_ne!(key("per-key", None), key("per-key", Some("shared")));
    assert_eq!((key("refuse", None), key("skip", None)), (Subject::Refused, Subject::Skipped));
    assert!(matches!(key("refuse", Some("x")), Subject::Counted(_)));
    let part = |ip| subject(named(&config, "combined"), ip, None, "/");
    assert_eq!(part(Some("203.0.113.7")), part(None), "one missing part is a missing identity");
    let ip = |ip| subject(named(&config, "per-ip"), ip, None, "/");
    assert_eq!(ip(Some("not an address")), ip(None));
}

#[test]
fn the_secret_changes_every_key() {
    let config = config();
    let policy = named(&config, "per-ip");
    let with = |secret: &str| policy.subject_given(&HashKey::from_secret(secret), &["203.0.113.7"]);
    assert_ne!(with("a"), with("b"));
    assert_eq!(with("a"), with("a"));
}

#[test]
fn a_given_identity_must_be_one_that_a_request_could_have() {
    let config = config();
    let error = |name, given: &[&str]| {
        named(&config, name).subject_given(&HashKey::default(), given).unwrap_err().to_string()
    };
    assert_eq!(error("per-ip", &["x"]), "key: \"x\" is not an IPv4 or IPv6 address");
    assert_eq!(error("per-path", &["/a?b"]), "key: \"/a?b\" is more than a path; leave out the query");
    assert_eq!(
        error("combined", &["1.2.3.4", "k"]),
        "key: is not a list of 3 strings: \"ip\", \"header:x-key\", \"path\""
    );
    assert_eq!(error("combined", &["x", "k", "/"]), "key[0]: \"x\" is not an IPv4 or IPv6 address");
    assert_eq!(error("per-ip", &[]), "key: is not one string, the \"ip\"");
}

fn address() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<std::net::Ipv4Addr>().prop_map(|ip| ip.to_string()),
        any::<std::net::Ipv4Addr>().prop_map(|ip| format!("::ffff:{ip}")),
        any::<std::net::Ipv6Addr>().prop_map(|ip| ip.to_string()),
        any::<std::net::Ipv6Addr>().prop_map(|ip| ip.to_string().to_uppercase()),
    ]
}

proptest! {
    /// The gateway and a check that is told the same lead to one counter.
    #[test]
    fn a_given_identity_is_the_one_of_the_request(
        ip in address(), value in "[ a-z\u{a0}]{0,4}", path in "/([a-b/]|%2[fe5]|%|%6){0,8}",
    ) {
        let config = config();
        for (name, given) in [
            ("per-ip", vec![ip.as_str()]),
            ("per-key", vec![value.as_str()]),
            ("per-tenant", vec![value.as_str()]),
            ("per-path", vec![path.as_str()]),
            ("combined", vec![ip.as_str(), value.as_str(), path.as_str()]),
            ("refuse", vec![value.as_str()]),
            ("skip", vec![value.as_str()]),
        ] {
            let policy = named(&config, name);
            let told = policy.subject_given(&HashKey::default(), &given);
            prop_assert_eq!(told, Ok(subject(policy, Some(&ip), Some(&value), &path)), "{}", name);
        }
    }

    /// Letters moved from one part to the next make another identity.
    #[test]
    fn parts_do_not_run_into_each_other(one in "[ab,\0:]{1,4}", two in "[ab,\0:]{1,4}", cut in 0usize..8) {
        let config = Config::from_value(&json!({"policies": [{"name": "x", "algorithm": "fixed-window", "limit": 1,
            "window": "1s", "identity": ["header:a", "header:b"]}]})).unwrap();
        let joined: String = format!("{one}{two}");
        let cut = cut.clamp(1, joined.len() - 1);
        let (left, right) = joined.split_at(cut);
        let key = |left: &str, right: &str| config.policies()[0].subject_given(&HashKey::default(), &[left, right]);
        prop_assert_eq!(key(&one, &two) == key(left, right), one == left);
    }

    #[test]
    fn no_value_panics(ip in ".{0,20}", value in ".{0,20}", path in ".{0,20}") {
        let config = config();
        for policy in config.policies() {
            subject(policy, Some(&ip), Some(&value), &path);
            let _ = policy.subject_given(&HashKey::default(), &[&value]);
        }
    }
}

//! Paths, patterns and rules.

use crate::*;

#[test]
fn spellings_of_one_path_are_one_path() {
    for (spelling, canonical) in [
        ("/", "/"),
        ("", "/"),
        ("//", "/"),
        ("/api/", "/api"),
        ("/api//x", "/api/x"),
        ("/API", "/API"),
        ("/%61pi", "/api"),
        ("/%2561", "/%2561"),
        ("/a%2fb", "/a/b"),
        ("/a%2F%2Fb%2F", "/a/b"),
        ("/%", "/%25"),
        ("/%4", "/%254"),
        ("/%zz", "/%25zz"),
        ("/%25zz", "/%25zz"),
        ("/%+1", "/%25+1"),
        ("/ü", "/%C3%BC"),
        ("/%c3%bc", "/%C3%BC"),
        ("/%ff", "/%FF"),
        ("/%00", "/%00"),
        ("/a b", "/a%20b"),
        ("/public/..%2Fadmin", "/admin"),
        ("/..%2f..%2fx", "/x"),
        ("/a/.%2Fb", "/a/b"),
        ("/a/%2e%2e/b", "/b"),
        ("/a/%252e%252e/b", "/a/%252e%252e/b"),
        ("/...", "/..."),
        ("/a%5C..", "/a%5C.."),
        ("/a?b", "/a%3Fb"),
    ] {
        assert_eq!(RequestPath::parse(spelling).to_string(), canonical, "{spelling}");
    }
}

#[test]
fn a_hidden_dot_segment_is_noticed_and_never_let_through() {
    for (path, hides) in [
        ("/a/..%2Fb", true),
        ("/.", true),
        ("/a/%2e%2e", true),
        ("/a/..;/b", true),
        ("/a/.;x=1/b", true),
        ("/a/%252e", false),
        ("/.a/b..", false),
        ("/a;..", false),
    ] {
        assert_eq!(RequestPath::parse(path).hides_dots(), hides, "{path}");
    }
    let config = Config::from_value(&json!({
        "policies": [{"name": "a", "algorithm": "fixed-window", "limit": 1, "window": "1s", "identity": "ip"}],
        "rules": [{"path": "/public/*", "allow": true}, {"policies": ["a"]}],
    })).unwrap();
    let policies = |path| config.matching("GET", &RequestPath::parse(path)).unwrap().policies().len();
    assert_eq!((policies("/public/x"), policies("/x")), (0, 1));
    assert_eq!(policies("/admin/..%2Fpublic/x"), 1, "an origin may see /admin here");
    assert_eq!(policies("/public/..%2Fadmin"), 1);
    assert_eq!(Problem::hidden_dots().status(), Status::BadRequest);
}

#[test]
fn patterns_match_whole_segments() {
    for (pattern, path, matches) in [
        ("/api/*", "/api/x", true),
        ("/api/*", "/api/x/y", true),
        ("/api/*", "/api", true),
        ("/api/*", "/api/", true),
        ("/api/*", "/apix", false),
        ("/api/*", "/", false),
        ("/api/*", "/API/x", false),
        ("/api/*", "/%61pi%2fx", true),
        ("/*", "/", true),
        ("/*", "/x/y", true),
        ("/", "/", true),
        ("/", "/x", false),
        ("/api", "/api/", true),
        ("/api", "/api/x", false),
        ("/api/", "/api", true),
        ("/%61", "/a", true),
        ("/a%2Ab", "/a*b", true),
        ("/%2A", "/x", false),
        ("/100%", "/100%25", true),
    ] {
        let parsed = PathPattern::parse(pattern).unwrap();
        assert_eq!(parsed.matches(&RequestPath::parse(path)), matches, "{pattern} {path}");
    }
}

#[test]
fn methods_are_compared_without_case() {
    let config = Config::from_value(&json!({
        "policies": [{"name": "a", "algorithm": "fixed-window", "limit": 1, "window": "1s", "identity": "ip"}],
        "rules": [{"method": "patch", "policies": ["a"]}],
    })).unwrap();
    let path = RequestPath::parse("/");
    assert!(config.matching("PATCH", &path).is_some() && config.matching("patch", &path).is_some());
    assert!(config.matching("GET", &path).is_none());
}

proptest! {
    #[test]
    fn normalising_twice_changes_nothing(path in "(/|%2[fFeE5]|%[0-9a-fA-F]{2}|%|\\.|[a-zA-Z*?#ü ]){0,16}") {
        let once = RequestPath::parse(&path).to_string();
        prop_assert_eq!(&RequestPath::parse(&once).to_string(), &once);
        prop_assert!(!RequestPath::parse(&once).hides_dots());
    }

    /// What a pattern is shown as matches the same paths.
    #[test]
    fn a_pattern_survives_its_text(pattern in "/([a-b%/]|%2[AaFf5]){0,6}(/\\*)?", path in "/([a-b%/*]|%2[AaFf5]){0,6}") {
        if let Ok(parsed) = PathPattern::parse(&pattern) {
            let again = PathPattern::parse(&parsed.to_string()).unwrap();
            prop_assert_eq!(&again, &parsed);
            let path = RequestPath::parse(&path);
            prop_assert_eq!(again.matches(&path), parsed.matches(&path));
        }
    }
}

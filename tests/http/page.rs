//! Which paths are the page's, and which files they mean.

use sluicegate::http::PageRoute;

use crate::*;

fn file(path: &str) -> Option<(&str, bool)> {
    match PageRoute::parse(path)? {
        PageRoute::File(file) => Some((file.path(), file.is_immutable())),
        _ => None,
    }
}

#[test]
fn a_file_is_named_as_it_lies_there() {
    for (path, expected) in [
        ("/page/", ("/index.html", false)),
        ("/page/index.html", ("/index.html", false)),
        ("/page/sluicegate_bg.wasm", ("/sluicegate_bg.wasm", false)),
        ("/page/chunks/chunk-L7JV4CP6.js", ("/chunks/chunk-L7JV4CP6.js", true)),
        ("/page/chunks", ("/chunks", false)),
        ("/page/chunksx/a.js", ("/chunksx/a.js", false)),
        ("/page/a/chunks/a.js", ("/a/chunks/a.js", false)),
    ] {
        assert_eq!(file(path), Some(expected), "{path}");
    }
}

#[test]
fn what_is_not_a_plain_name_is_no_file() {
    for below in [
        "//",
        "/app.js/",
        "//app.js",
        "/./app.js",
        "/../app.js",
        "/..",
        "/.",
        "/.hidden",
        "/a/.hidden",
        "/%61pp.js",
        "/..%2fapp.js",
        "/a\\b",
        "/a;b",
        "/a b",
        "/ä",
        "/\0",
        "/a*",
        "/~a",
        "/a:b",
        "/a?b",
        "/a#b",
    ] {
        let path = format!("/page{below}");
        assert_eq!(PageRoute::parse(&path), Some(PageRoute::Unknown), "{path}");
    }
}

#[test]
fn other_paths_are_left_alone() {
    for path in ["", "/", "/pages", "/page;x", "/page%2F", "/Page/", "/pag", "/v1/page/", "page/", "//page/"]
    {
        assert_eq!(PageRoute::parse(path), None, "{path}");
    }
}

proptest! {
    /// Whatever is asked for, the name that is looked up has one reading and lies below the folder.
    #[test]
    fn no_path_leads_out(below in "[a-c./%\\\\;2eEfF~-]{0,12}") {
        let path = format!("/page/{below}");
        if let Some((name, _)) = file(&path) {
            let given = format!("/{below}");
            prop_assert!(name == "/index.html" || name == given, "{} became {}", given, name);
            prop_assert!(name.split('/').skip(1).all(|part| !part.is_empty() && !part.starts_with('.')), "{}", name);
            prop_assert_eq!(RequestPath::parse(name).to_string(), name);
            prop_assert!(!RequestPath::parse(name).hides_dots());
        }
    }
}

//! Routes of the page, and the files behind them.

const ROOT: &str = "/page";

/// What a request below `/page` asks for.
///
/// # Example
///
/// ```
/// use sluicegate::http::PageRoute;
///
/// let file = |path| match PageRoute::parse(path) {
///     Some(PageRoute::File(file)) => Some((file.path(), file.is_immutable())),
///     _ => None,
/// };
/// assert_eq!(file("/page/"), Some(("/index.html", false)));
/// assert_eq!(file("/page/app.js"), Some(("/app.js", false)));
/// assert_eq!(file("/page/chunks/live-5F2K.js"), Some(("/chunks/live-5F2K.js", true)));
/// assert_eq!(PageRoute::parse("/page"), Some(PageRoute::Bare));
/// assert_eq!(PageRoute::parse("/page/limiter.json"), Some(PageRoute::Limiter));
/// assert_eq!(PageRoute::parse("/page/.%2Findex.html"), Some(PageRoute::Unknown));
/// assert_eq!(PageRoute::parse("/pages"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageRoute<'p> {
    /// The page without its slash, where its links would lead elsewhere.
    Bare,
    /// Who serves the page. As a plain file it says that nobody does.
    Limiter,
    /// A file of the page, if it is there.
    File(PageFile<'p>),
    /// Nothing that the page could have.
    Unknown,
}

/// A file of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageFile<'p> {
    path: &'p str,
}

impl<'p> PageRoute<'p> {
    /// Reads a path, without its query; `None` when it has nothing to do with the page.
    pub fn parse(path: &'p str) -> Option<Self> {
        Some(match path.strip_prefix(ROOT)? {
            "" => Self::Bare,
            "/" => Self::File(PageFile { path: "/index.html" }),
            "/limiter.json" => Self::Limiter,
            file if is_plain(file) => Self::File(PageFile { path: file }),
            below if below.starts_with('/') => Self::Unknown,
            _ => return None,
        })
    }
}

impl<'p> PageFile<'p> {
    /// Where it is among the files of the page; begins with a slash.
    pub const fn path(&self) -> &'p str {
        self.path
    }

    /// True when its name changes with what is in it: the build names what is in `chunks/` by its content.
    pub fn is_immutable(&self) -> bool {
        self.path.starts_with("/chunks/")
    }
}

/// True for a path that everybody reads alike. The build makes no other names, so nothing that is encoded, hidden
/// or a way up is ever looked for.
fn is_plain(path: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let is_name = |name: &str| !name.is_empty() && !name.starts_with('.') && name.bytes().all(plain);
    path.strip_prefix('/').is_some_and(|names| names.split('/').all(is_name))
}

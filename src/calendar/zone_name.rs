//! Which strings can name a time zone at all.
//!
//! Runtimes do not agree about that: some take offsets, some take the abbreviations of the 1990s, and
//! some know names that the tz database has dropped. A tenant's settings must mean the same wherever
//! they are read, so what is not a name of the tz database is refused here, before any zone is loaded.

/// The names of the tz database that have no slash, in lower case. It adds none any more.
const WITHOUT_SLASH: &str = "cet cst6cdt cuba eet egypt eire est est5edt gb gb-eire gmt gmt+0 gmt-0 gmt0 \
    greenwich hongkong hst iceland iran israel jamaica japan kwajalein libya met mst mst7mdt navajo nz \
    nz-chat poland portugal prc pst8pdt roc rok singapore turkey uct universal utc w-su wet zulu";

/// Names with a slash that some runtime knows and the tz database does not. `Etc/Unknown` is a system
/// that does not know its zone; the prefixes are folders of tz data, or zones of System V.
const NOT_NAMES: [&str; 2] = ["etc/unknown", "us/pacific-new"];
const NOT_PREFIXES: [&str; 3] = ["systemv/", "posix/", "right/"];

/// The longest name that is looked at; the longest of the tz database has 32 characters.
const LONGEST: usize = 64;

/// Says what is wrong with a string as the name of a time zone, if anything is.
pub(crate) fn fault(name: &str) -> Option<String> {
    if name.is_empty() {
        return Some("is empty; name an IANA time zone such as \"Europe/Paris\", or \"UTC\"".to_owned());
    }
    let shown: String = name.chars().take(LONGEST).collect();
    let lower = name.to_ascii_lowercase();
    if is_offset(&lower) {
        return Some(format!(
            "{shown:?} is an offset, and an offset has no calendar rules; name an IANA time zone such as \"Asia/Kolkata\""
        ));
    }
    let well_formed = name.len() <= LONGEST
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '-' | '+'))
        && name.split('/').all(|part| !part.is_empty());
    let known = if lower.contains('/') {
        !NOT_NAMES.contains(&lower.as_str()) && !NOT_PREFIXES.iter().any(|prefix| lower.starts_with(prefix))
    } else {
        is_without_slash(&lower)
    };
    (!well_formed || !known).then(|| unknown(&shown))
}

/// What is said of a name that is not one, or that the runtime has no rules for.
pub(crate) fn unknown(name: &str) -> String {
    format!("{name:?} is not the name of a time zone; use an IANA name such as \"Europe/Paris\", or \"UTC\"")
}

fn is_without_slash(lower: &str) -> bool {
    WITHOUT_SLASH.split(' ').any(|name| name == lower)
}

/// `+05:30`, `-3`, `UTC+3`, `GMT+0530`, `Z+1`: anything that says a distance from UTC.
fn is_offset(lower: &str) -> bool {
    if is_without_slash(lower) {
        return false;
    }
    let rest = ["utc", "gmt", "z"].iter().find_map(|name| lower.strip_prefix(name)).unwrap_or(lower).trim();
    let digits = rest.trim_start_matches(['+', '-', '\u{2212}', ' ']);
    !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit() || matches!(c, ':' | '.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken() {
        for name in [
            "UTC",
            "utc",
            "GMT",
            "GMT+0",
            "Etc/GMT+12",
            "EST5EDT",
            "America/Argentina/ComodRivadavia",
            "NZ-CHAT",
        ] {
            assert_eq!(fault(name), None, "{name}");
        }
    }

    #[test]
    fn offsets_are_refused_as_offsets() {
        for name in
            ["+05:30", "-03", "UTC+3", "UTC-03:00", "GMT+0530", "gmt+1", "UTC 3", "+0", "\u{2212}05:00", "5"]
        {
            assert!(fault(name).is_some_and(|fault| fault.contains("offset")), "{name}");
        }
    }

    #[test]
    fn what_only_some_runtimes_know_is_refused() {
        for name in [
            "",
            " ",
            "Z",
            "PST",
            "BST",
            "IST",
            "local",
            "localtime",
            "Factory",
            "US/Pacific-New",
            "Etc/Unknown",
            "SystemV/PST8PDT",
            "posix/UTC",
            " UTC",
            "UTC ",
            "UTC\0",
            "Europe//Paris",
            "/etc/passwd",
            "../../etc/localtime",
            "Europe/Zürich",
            "Europe/Paris\n",
            "Asia",
        ] {
            assert!(fault(name).is_some(), "{name:?}");
        }
        assert!(fault(&"A/".repeat(5_000_000)).is_some_and(|fault| fault.len() < 300));
    }
}

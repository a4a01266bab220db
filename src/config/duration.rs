//! Durations as an operator writes them: a whole number and a unit.

use serde_json::Value;

use super::read::{show, text};

const UNITS: [(&str, u64); 5] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];

/// Milliseconds of `90s`, `5m`, `1h`, `1d` or `500ms`.
pub(super) fn duration(value: &Value) -> Result<u64, String> {
    if let Value::Number(number) = value {
        return Err(format!("{number} has no unit; use \"{number}s\" if seconds are meant"));
    }
    let written = text(value)?;
    let digits = written.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = written.split_at(digits);
    let factor = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor);
    match (digits, factor) {
        (1.., Some(factor)) => {
            let ms = number.parse::<u64>().ok().and_then(|number| number.checked_mul(factor));
            ms.ok_or_else(|| format!("{} is too long", show(value)))
        }
        _ => Err(format!("{} is not a duration; use 10s, 5m, 1h", show(value))),
    }
}

/// A duration within bounds, both of which are allowed.
pub(super) fn duration_within(value: &Value, shortest_ms: u64, longest_ms: u64) -> Result<u64, String> {
    let ms = duration(value)?;
    if (shortest_ms..=longest_ms).contains(&ms) {
        return Ok(ms);
    }
    let (shortest, longest) = (written(shortest_ms), written(longest_ms));
    Err(format!("{} is not from {shortest} to {longest}", show(value)))
}

/// The shortest way to write `ms` as a configuration would: `1m`, `90s`.
fn written(ms: u64) -> String {
    let (unit, factor) = whole_unit(ms);
    format!("{}{unit}", ms / factor)
}

/// `ms` as it reads after "per": `minute`, `90 seconds`.
pub(crate) fn in_words(ms: u64) -> String {
    let (unit, factor) = whole_unit(ms);
    let word = match unit {
        "d" => "day",
        "h" => "hour",
        "m" => "minute",
        "s" => "second",
        _ => "millisecond",
    };
    match ms / factor {
        1 => word.to_owned(),
        count => format!("{count} {word}s"),
    }
}

fn whole_unit(ms: u64) -> (&'static str, u64) {
    let largest = UNITS.iter().rev().find(|(_, factor)| ms > 0 && ms.is_multiple_of(*factor));
    *largest.unwrap_or(&UNITS[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_a_whole_number_and_a_unit() {
        for (written, ms) in [
            ("500ms", 500),
            ("90s", 90_000),
            ("5m", 300_000),
            ("1h", 3_600_000),
            ("1d", 86_400_000),
            ("0s", 0),
        ] {
            assert_eq!(duration(&written.into()), Ok(ms), "{written}");
        }
        for bad in ["", "s", "1", "1x", "1.5m", "-1s", " 1s", "1 s", "1S", "1sec", "٣s", "1m30s"] {
            assert!(duration(&bad.into()).unwrap_err().ends_with("use 10s, 5m, 1h"), "{bad}");
        }
        assert_eq!(
            duration(&"99999999999999999999d".into()).unwrap_err(),
            "\"99999999999999999999d\" is too long"
        );
        assert_eq!(duration(&"99999999999999999d".into()).unwrap_err(), "\"99999999999999999d\" is too long");
        assert_eq!(duration(&60.into()).unwrap_err(), "60 has no unit; use \"60s\" if seconds are meant");
    }

    #[test]
    fn a_duration_reads_well() {
        assert_eq!((in_words(60_000), in_words(90_000)), ("minute".to_owned(), "90 seconds".to_owned()));
        assert_eq!(
            (written(86_400_000), written(1_500), written(0)),
            ("1d".into(), "1500ms".into(), "0ms".into())
        );
    }
}

//! Log lines: one JSON object each, so that they can be searched by field.

use serde_json::{Value, json};

/// Something an operator should look at, with its figures.
pub fn warn(event: &str, fields: &Value) {
    worker::console_warn!("{}", line("warn", event, fields));
}

/// Something that failed.
pub fn error(event: &str, detail: &str) {
    worker::console_error!("{}", line("error", event, &json!({ "detail": detail })));
}

fn line(level: &str, event: &str, fields: &Value) -> String {
    let mut line = json!({ "sluicegate": event, "level": level });
    if let (Some(line), Some(fields)) = (line.as_object_mut(), fields.as_object()) {
        line.extend(fields.clone());
    }
    line.to_string()
}

//! Request bodies, read up to a bound.

use js_sys::Uint8Array;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{ReadableStreamDefaultReader, Request};

use super::js;

/// The body of `request`, or `None` if it is longer than `most` bytes. A length that is announced is
/// believed at once; one that is not is counted while reading, and reading stops at the bound.
pub async fn read(request: &Request, most: usize) -> Result<Option<Vec<u8>>, JsValue> {
    let announced = request.headers().get("content-length")?.and_then(|length| length.parse::<u64>().ok());
    if announced.is_some_and(|length| length > most as u64) {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    let Some(stream) = request.body() else { return Ok(Some(bytes)) };
    let reader: ReadableStreamDefaultReader = stream.get_reader().dyn_into()?;
    loop {
        let chunk = JsFuture::from(reader.read()).await?;
        if js::get(&chunk, "done").is_truthy() {
            return Ok(Some(bytes));
        }
        let chunk: Uint8Array = js::get(&chunk, "value").dyn_into()?;
        if bytes.len() + chunk.length() as usize > most {
            // Not awaited: nobody needs to know whether the sender noticed.
            let _cancelled = reader.cancel();
            return Ok(None);
        }
        bytes.extend_from_slice(&chunk.to_vec());
    }
}

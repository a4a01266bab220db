use wasm_bindgen::JsValue;

use super::fault::Fault;
use super::js;
use crate::Error;
use crate::clock::{ElapsedRealtimeMs, Readings, RealtimeReader};
use crate::error::ErrorKind;

/// A caller's clock source.
#[derive(Debug)]
pub(super) struct Source<'a>(&'a JsValue);

impl<'a> Source<'a> {
    /// Checks that `clock` has the methods of one.
    pub(super) fn new(clock: &'a JsValue) -> Result<Self, Fault> {
        if !clock.is_object() {
            let detail = format!(
                "{} is not a clock source; pass systemClock(), or an object with monotonicMs() and wallMs()",
                js::describe(clock)
            );
            return Err(Fault::spec("", detail));
        }
        for (name, needed) in [("monotonicMs", true), ("wallMs", true), ("elapsedRealtimeMs", false)] {
            let method = js::get(clock, &JsValue::from_str(name))?;
            if !method.is_function() && (needed || !method.is_undefined()) {
                return Err(Fault::spec(name, format!("{} is not a method", js::describe(&method))));
            }
        }
        Ok(Self(clock))
    }

    /// One that has been checked before. What has changed about it since is an exception when it is used.
    pub(super) const fn checked(clock: &'a JsValue) -> Self {
        Self(clock)
    }

    /// What both clocks read, one right after the other.
    pub(super) fn readings(&self) -> Result<Readings, Fault> {
        let monotonic_ms = js::monotonic_ms(self.0)?;
        Ok(Readings::try_from_f64(monotonic_ms, js::wall_ms(self.0)?)?)
    }

    /// Does `work` with the source's reader, where it has one.
    pub(super) fn with_reader<T>(
        &self,
        work: impl FnOnce(Option<RealtimeReader<'_>>) -> Result<T, Error>,
    ) -> Result<T, Fault> {
        if js::has_reader(self.0)? {
            with_reader(|| js::elapsed_realtime_ms(self.0), |reader| work(Some(reader)))
        } else {
            Ok(work(None)?)
        }
    }
}

/// Does `work`, a call of the core, with a caller's function as its reader.
///
/// The core knows nothing of exceptions: one waits here until the core has put everything in order.
pub(super) fn with_reader<T>(
    ask: impl Fn() -> Result<f64, JsValue>,
    work: impl FnOnce(RealtimeReader<'_>) -> Result<T, Error>,
) -> Result<T, Fault> {
    let mut thrown = None;
    let done = work(&mut || match ask() {
        Ok(ms) => ElapsedRealtimeMs::try_from_f64(ms),
        Err(exception) => {
            thrown = Some(exception);
            Err(Error::new(ErrorKind::NonFinite, "the suspend-inclusive clock could not be read"))
        }
    });
    done.map_err(|error| thrown.map_or(Fault::Refused(error), Fault::Thrown))
}

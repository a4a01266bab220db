//! What one `PopCounter` decides, without the object around it.

mod host;
mod message;

pub use host::{AskId, PopEvent, PopHost, RequestId, StoredStart};
pub use message::{Measure, OpenTerms, POP_VERSION, PopAsk, PopLimit, PopReceipt, PopReply, PopReplyLimit};

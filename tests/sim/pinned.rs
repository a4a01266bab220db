//! One run with everything in it, and what it comes to: the same natively and in wasm, for ever.

use sluicegate::sim::compare::{Comparison, Frame, WorldSpec};

const SPEC: &str = r#"{
    "seed": 7, "starts_at_ms": 1775001600000, "limit": 60, "counts": {"window_ms": 30000}, "tolerance_ppm": 100000,
    "on_error": "local", "ledger": {"offset_ms": 250, "drift_ppm": -40},
    "pops": [{"offset_ms": 0}, {"offset_ms": 900, "drift_ppm": 60}, {"offset_ms": -3600000}, {"offset_ms": 7}],
    "network": {"latency_ms": 30, "jitter_ms": 200, "loss_ppm": 50000}, "sample_ms": 250,
    "traffic": [
        {"from_ms": 0, "until_ms": 140000, "pace": {"random": {"gap_us": 250000}}, "place": "anywhere"},
        {"from_ms": 0, "until_ms": 130000, "place": {"moving": {"stay_ms": 700}},
         "pace": {"bursts": {"every_ms": 30000, "first_ms": 29900, "requests": 40, "spread_ms": 200}}}
    ]}"#;

const FAULTS: [(u64, &str); 7] = [
    (7_003, r#"{"step": {"machine": {"pop": 0}, "ms": -60000}}"#),
    (12_000, r#"{"cut-off": {"machine": {"pop": 1}, "for_ms": 30000}}"#),
    (12_000, r#"{"crash": {"machine": {"pop": 2}}}"#),
    (31_500, r#"{"freeze": {"machine": {"pop": 3}, "for_ms": 9000}}"#),
    (40_001, r#"{"split": {"machine": {"pop": 2}, "for_ms": 20000}}"#),
    (70_000, r#"{"crash": {"machine": {"ledger": 0}}}"#),
    (82_000, r#"{"step": {"machine": {"ledger": 0}, "ms": -5000}}"#),
];

/// What the windows, and the days, of that run come to: each character of what is shown of them counts.
pub const WINDOWS: u64 = 18_316_509_209_163_181_892;
pub const DAYS: u64 = 6_275_954_516_888_724_343;

/// The windows, let pass in steps of so many milliseconds.
pub fn windows(step_ms: u64) -> u64 {
    fingerprint(SPEC, step_ms)
}

/// The same as days, from a minute before midnight.
pub fn days(step_ms: u64) -> u64 {
    let spec = SPEC.replace(r#"{"window_ms": 30000}"#, r#"{"period": "day"}"#);
    fingerprint(&spec.replace("1775001600000", "1775001540000"), step_ms)
}

fn fingerprint(spec: &str, step_ms: u64) -> u64 {
    let spec = WorldSpec::from_json(spec).unwrap();
    let mut world = Comparison::new(spec).unwrap();
    let advance = |world: &mut Comparison, to_ms: u64| {
        while world.now_ms() < to_ms {
            world.advance(to_ms.min(world.now_ms() + step_ms));
        }
    };
    for (at, fault) in FAULTS {
        advance(&mut world, at);
        let fault = world.spec().fault_from_json(fault).unwrap();
        world.fail(fault);
    }
    advance(&mut world, 150_000);
    let frame = Frame { events: Vec::new(), ..world.frame() };
    let shown = format!("{:?} {}", world.take_samples(), serde_json::to_string(&frame).unwrap());
    // FNV-1a.
    shown
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

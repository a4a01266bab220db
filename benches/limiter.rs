//! What a decision costs on the hot path, and what opening a period adds to it.
//!
//! `cargo bench`; under `cargo test --benches` each runs once.

#![allow(missing_docs)] // what criterion's macros make

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use sluicegate::bucket::{Refill, TokenBucket};
use sluicegate::calendar::{JiffZone, Naming, OpenPeriod, PeriodSpec, Unit, period_for};
use sluicegate::clock::{MonotonicMs, Readings, SuspendPolicy, TrackerConfig, WallMs};
use sluicegate::quota::QuotaSpec;
use sluicegate::{Cost, QuotaClock, QuotaClockConfig};

/// 2026-05-06T12:00Z.
const NOON: i64 = 1_778_068_800_000;
const MONTH_MS: i64 = 31 * 86_400_000;
const ZONE: &str = "America/New_York";

fn monthly() -> PeriodSpec {
    PeriodSpec::new(Unit::Month, ZONE).and_then(|spec| spec.with_anchor_day(31)).unwrap()
}

fn zone() -> JiffZone {
    JiffZone::new(ZONE, Naming::Snake).unwrap()
}

/// Both clocks, `ms` later.
fn after(ms: i64) -> Readings {
    Readings { monotonic: MonotonicMs(ms), wall: WallMs(NOON + ms) }
}

fn limiter(with_quota: bool) -> QuotaClock<JiffZone> {
    let bucket = TokenBucket::new(1_000, Refill::new(1, 1).unwrap()).unwrap();
    let config = QuotaClockConfig::new(bucket, TrackerConfig::new(SuspendPolicy::Ignore));
    // As large as it can be: no run of a benchmark uses it up.
    let quota = QuotaSpec::new(sluicegate::MAX_COUNT, monthly()).unwrap();
    let config = if with_quota { config.with_quota(quota) } else { config };
    QuotaClock::new(config, zone(), after(0), None).unwrap()
}

fn try_consume(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("try_consume");
    let mut bench = |name: &str, with_quota, units, step_ms: i64| {
        let (mut limiter, mut now) = (limiter(with_quota), 0);
        let cost = Cost::new(units).unwrap();
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                // A run is some hours long, so the open period stays open.
                now += step_ms;
                limiter.try_consume(black_box(after(now)), None, black_box(cost))
            });
        });
    };
    bench("bucket only", false, 1, 1);
    bench("bucket and open quota", true, 1, 1);
    bench("refused by the bucket", true, 1_000, 0);
    group.finish();
}

/// Each request opens the next month.
fn opening(criterion: &mut Criterion) {
    let start = limiter(true);
    criterion.bench_function("try_consume/opens a month", |bencher| {
        let (mut limiter, mut now) = (start.clone(), 0);
        bencher.iter(|| {
            now += MONTH_MS;
            // Some 95,000 months until the calendar ends.
            if now > 90_000 * MONTH_MS {
                (limiter, now) = (start.clone(), 0);
            }
            limiter.try_consume(black_box(after(now)), None, Cost::ONE)
        });
    });
}

fn period(criterion: &mut Criterion) {
    let (spec, zone) = (monthly(), zone());
    let open = OpenPeriod::first(&spec, &zone, WallMs(NOON)).unwrap();
    let mut group = criterion.benchmark_group("period_for");
    group.bench_function("cached", |bencher| {
        bencher.iter(|| black_box(&open).at(&spec, &zone, black_box(WallMs(NOON + 1))));
    });
    group.bench_function("uncached", |bencher| {
        bencher.iter(|| period_for(black_box(&spec), &zone, black_box(WallMs(NOON))));
    });
    let daily = PeriodSpec::new(Unit::Day, ZONE).and_then(|spec| spec.with_anchor_time("02:30")).unwrap();
    group.bench_function("uncached, start in a gap", |bencher| {
        // 14 March 2021 has no 02:30 in New York.
        bencher.iter(|| period_for(black_box(&daily), &zone, black_box(WallMs(1_615_705_200_000))));
    });
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .sample_size(50);
    targets = try_consume, opening, period
}
criterion_main!(benches);

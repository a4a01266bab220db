use super::host::LedgerHost;
use super::leases::quota;
use super::log::{LogEvent, LoggedEntry};
use super::quota::{Unready, Zone, load, spec_of};
use super::row::Settings;
use super::rows::Batch;
use super::state::Ledger;
use super::tenant::{TenantAnswer, TenantFault, TenantOp, TenantRequest, TenantSettings, TenantUsage};
use crate::calendar::{iso_text, local_text};
use crate::clock::WallMs;
use crate::global::{LeaseAudit, QuotaLedger};
use crate::{Error, MAX_COUNT};

impl Ledger {
    /// Does what an operator asks for. What cannot be done is an answer too, and has changed nothing.
    ///
    /// # Errors
    ///
    /// The host's, when storage failed.
    pub fn tenant<H: LedgerHost>(
        &mut self,
        request: &TenantRequest,
        host: &mut H,
    ) -> Result<TenantAnswer, H::Fault> {
        if self.sealed {
            return Ok(TenantAnswer::from(Unready::Unreadable));
        }
        let wall = host.exact();
        let now = self.look(Some(wall), host);
        let mut batch = Batch::default();
        let answer = self.do_tenant(request, wall, &mut batch, host).unwrap_or_else(TenantAnswer::from);
        self.commit(batch, now, host)?;
        Ok(answer)
    }

    fn do_tenant<H: LedgerHost>(
        &mut self,
        request: &TenantRequest,
        wall: WallMs,
        batch: &mut Batch,
        host: &mut H,
    ) -> Result<TenantAnswer, Unready> {
        let policy = request.policy.as_str();
        match &request.op {
            TenantOp::Get => self.get(policy).map(TenantAnswer::Settings),
            TenantOp::Put { limit, period } => {
                let settings = Settings { limit: *limit, period: period.clone() };
                self.put(policy, settings, wall, batch, host)
            }
            TenantOp::Delete => self.delete(policy, wall, batch),
            TenantOp::Usage => self.usage(policy, wall, host).map(TenantAnswer::Usage),
            TenantOp::Audit => self.audit(policy, host).map(|audit| TenantAnswer::Audit(Box::new(audit))),
            TenantOp::Log => Ok(TenantAnswer::Log(self.log.entries().map(LoggedEntry::from).collect())),
            TenantOp::Reopen { used } => self.reopen(policy, *used, wall, batch, host),
        }
    }

    fn get(&self, policy: &str) -> Result<TenantSettings, Unready> {
        let quota = self.quotas.get(policy);
        if quota.is_some_and(|quota| !quota.is_readable()) {
            return Err(Unready::Unreadable);
        }
        let own = quota.and_then(|quota| quota.settings.as_ref());
        let spec = spec_of(own, self.owned.quota(policy)).ok_or(Unready::Unknown)?;
        let (limit, period) = (spec.limit(), spec.period().clone());
        Ok(TenantSettings { policy: policy.to_owned(), limit, period, configured: own.is_some() })
    }

    fn put<H: LedgerHost>(
        &mut self,
        policy: &str,
        settings: Settings,
        wall: WallMs,
        batch: &mut Batch,
        host: &mut H,
    ) -> Result<TenantAnswer, Unready> {
        let own = self.owned.quota(policy);
        let quota = quota(&mut self.quotas, policy, own.is_some()).ok_or(Unready::Unknown)?;
        if !quota.is_readable() {
            return Err(Unready::Unreadable);
        }
        if own.is_none() && quota.settings.is_none() {
            return Err(Unready::Unknown);
        }
        if settings.limit.is_some_and(|limit| limit > MAX_COUNT) {
            return Ok(refused(&Error::spec("limit", format!("is above {MAX_COUNT}"))));
        }
        let Some(spec) = spec_of(Some(&settings), own) else {
            let path = if settings.limit.is_none() { "limit" } else { "period" };
            return Ok(refused(&Error::spec(path, "is required: the policy is not configured any more")));
        };
        if let Err(error) = load(spec.period().time_zone(), host) {
            return Ok(refused(&error));
        }
        if quota.settings.as_ref() != Some(&settings) {
            quota.change(Some(settings.clone()));
            batch.put_settings(policy, settings.clone());
            let Settings { limit, period } = settings;
            self.record(policy, LogEvent::Settings { limit, period }, wall, batch);
        }
        self.get(policy).map(TenantAnswer::Settings)
    }

    fn delete(&mut self, policy: &str, wall: WallMs, batch: &mut Batch) -> Result<TenantAnswer, Unready> {
        let is_configured = self.owned.quota(policy).is_some();
        let quota = quota(&mut self.quotas, policy, is_configured).ok_or(Unready::Unknown)?;
        if !quota.is_readable() {
            return Err(Unready::Unreadable);
        }
        if quota.settings.is_some() {
            quota.change(None);
            batch.delete_settings(policy);
            self.record(policy, LogEvent::Deleted, wall, batch);
        }
        Ok(TenantAnswer::Deleted)
    }

    fn usage<H: LedgerHost>(
        &mut self,
        policy: &str,
        wall: WallMs,
        host: &mut H,
    ) -> Result<TenantUsage, Unready> {
        let (ledger, zone) = self.open_quota(policy, host)?;
        usage(ledger, zone, wall).map_err(Unready::Reading)
    }

    fn audit<H: LedgerHost>(&mut self, policy: &str, host: &mut H) -> Result<LeaseAudit, Unready> {
        let (ledger, _) = self.open_quota(policy, host)?;
        Ok(ledger.audit().unwrap_or_else(|| nothing_granted(ledger.spec().limit())))
    }

    fn reopen<H: LedgerHost>(
        &mut self,
        policy: &str,
        used: u64,
        wall: WallMs,
        batch: &mut Batch,
        host: &mut H,
    ) -> Result<TenantAnswer, Unready> {
        if used > MAX_COUNT {
            return Ok(refused(&Error::spec("used", format!("is above {MAX_COUNT}"))));
        }
        let (ledger, zone) = self.open_quota(policy, host)?;
        let answer = ledger.reopen(wall, used).map_err(Unready::Reading)?;
        let now = usage(ledger, zone, wall);
        self.store_answer(policy, answer, wall, batch);
        let now = now.map_err(Unready::Reading)?;
        self.record(policy, LogEvent::Reopened { serial: now.serial, used }, wall, batch);
        Ok(TenantAnswer::Usage(now))
    }

    fn open_quota<H: LedgerHost>(
        &mut self,
        policy: &str,
        host: &mut H,
    ) -> Result<(&mut QuotaLedger<Zone>, &Zone), Unready> {
        let (settings, spec) = (self.settings, self.owned.quota(policy));
        let quota = quota(&mut self.quotas, policy, spec.is_some()).ok_or(Unready::Unknown)?;
        quota.open(spec, &settings, host)
    }
}

fn usage(ledger: &QuotaLedger<Zone>, zone: &Zone, wall: WallMs) -> Result<TenantUsage, Error> {
    let usage = ledger.usage(wall)?;
    let (start, end) = (WallMs(usage.start_ms), WallMs(usage.end_ms));
    let name = ledger.spec().period().time_zone();
    Ok(TenantUsage {
        limit: usage.limit,
        used: usage.used,
        outstanding: usage.outstanding,
        remaining: usage.remaining,
        serial: usage.serial,
        slot: usage.slot,
        start: iso_text(zone, start)?,
        end: iso_text(zone, end)?,
        start_ms: usage.start_ms,
        end_ms: usage.end_ms,
        reset_local: format!("{} {name}", local_text(zone, end)?),
        held: usage.held,
        partial: usage.partial,
    })
}

/// The audit of a quota that no period was opened of.
const fn nothing_granted(limit: u64) -> LeaseAudit {
    LeaseAudit {
        serial: 0,
        limit,
        granted: 0,
        spent: 0,
        returned: 0,
        forfeited: 0,
        outstanding: 0,
        carried: 0,
        consistent: true,
        faults: Vec::new(),
        leases: Vec::new(),
        settled: 0,
    }
}

fn refused(error: &Error) -> TenantAnswer {
    TenantAnswer::Refused(vec![TenantFault::from(error)])
}

impl From<Unready> for TenantAnswer {
    fn from(why: Unready) -> Self {
        let detail = match why {
            Unready::Unknown => return Self::Unknown,
            Unready::Unreadable => "what is stored of it could not be read or written".to_owned(),
            Unready::Full => "it has too many holders".to_owned(),
            Unready::Zone(error) | Unready::Reading(error) => error.to_string(),
        };
        Self::Unavailable { detail }
    }
}

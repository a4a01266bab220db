// A period's slot as arithmetic: the local time it stands for, and the slot after it. No zone is asked.

import type { PeriodSpec } from '../../engine';
import { DAY_MS } from './words';

/** `Date.UTC` takes the years 0 to 99 for 1900 to 1999. */
function utc(year: number, month: number, day: number): number {
  const at = new Date(0);
  at.setUTCFullYear(year, month - 1, day);
  return at.getTime();
}

const daysIn = (year: number, month: number): number => new Date(utc(year, month + 1, 0)).getUTCDate();

function timeOfDay(spec: PeriodSpec): number {
  const [hour = 0, minute = 0, second = 0] = (spec.anchorTime ?? '00:00').split(':').map(Number);
  return ((hour * 60 + minute) * 60 + second) * 1_000;
}

/** Year, month and day that a slot begins with, the day not yet clamped. */
function wanted(spec: PeriodSpec, slot: string): { year: number; month: number; day: number } {
  const [year = 1, month = 1, day = 1] = slot.split('-').map(Number);
  if (spec.unit === 'month') return { year, month, day: spec.anchorDay ?? 1 };
  if (spec.unit === 'year') return { year, month: spec.anchorMonth ?? 1, day: spec.anchorDay ?? 1 };
  return { year, month, day };
}

/** The local time at which the slot is to begin. */
export function anchorOf(spec: PeriodSpec, slot: string): number {
  const { year, month, day } = wanted(spec, slot);
  return utc(year, month, Math.min(day, daysIn(year, month))) + timeOfDay(spec);
}

/** True where the month is too short for the anchor's day. */
export function isClamped(spec: PeriodSpec, slot: string): boolean {
  const { year, month, day } = wanted(spec, slot);
  return day > daysIn(year, month);
}

const padded = (value: number, width: number): string => String(value).padStart(width, '0');

/** The slot after it, whether it exists or not. */
export function successor(spec: PeriodSpec, slot: string): string {
  const [year = 1, month = 1, day = 1] = slot.split('-').map(Number);
  if (spec.unit === 'year') return padded(year + 1, 4);
  if (spec.unit === 'month') return month === 12 ? `${padded(year + 1, 4)}-01` : `${padded(year, 4)}-${padded(month + 1, 2)}`;
  const next = new Date(utc(year, month, day) + (spec.unit === 'week' ? 7 : 1) * DAY_MS);
  return `${padded(next.getUTCFullYear(), 4)}-${padded(next.getUTCMonth() + 1, 2)}-${padded(next.getUTCDate(), 2)}`;
}

/** Slots between two that follow each other: those that nobody lived through. */
export function missingBetween(spec: PeriodSpec, before: string, after: string): string[] {
  const missing: string[] = [];
  for (let slot = successor(spec, before); slot < after && missing.length < 40; slot = successor(spec, slot)) missing.push(slot);
  return missing;
}

/** How long the slot would be if no clock were ever changed. */
export const usualMs = (spec: PeriodSpec, slot: string): number => anchorOf(spec, successor(spec, slot)) - anchorOf(spec, slot);

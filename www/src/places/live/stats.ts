// Numbers over many answers.

/** The smallest value that at least this part of all values does not pass (nearest rank). */
export function quantile(values: readonly number[], part: number): number | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const rank = Math.min(sorted.length, Math.max(1, Math.ceil(part * sorted.length)));
  return sorted[rank - 1] ?? null;
}

export interface Latency {
  median: number | null;
  p95: number | null;
}

export const latencyOf = (values: readonly number[]): Latency => ({ median: quantile(values, 0.5), p95: quantile(values, 0.95) });

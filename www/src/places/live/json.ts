// Reads what came as JSON without believing it: what is not as expected is absent.

export type Members = Record<string, unknown>;

export const members = (value: unknown): Members | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : null;

export const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

export const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);

export const num = (value: unknown): number | null => (typeof value === 'number' && Number.isFinite(value) ? value : null);

export const texts = (value: unknown): string[] => list(value).filter((one): one is string => typeof one === 'string');

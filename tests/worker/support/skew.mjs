// Moves the wall clock of a running workerd.

export { SkewedClock, skewLibrary, skewUnavailable } from '../../../scripts/lib/skew.mjs';

// The zones that can be chosen, and how one is found by a part of its name.

/** Newer names of zones that browsers list under an older one. */
const RENAMED = [
  'Africa/Asmara', 'America/Nuuk', 'America/Atikokan', 'America/Argentina/Buenos_Aires', 'America/Indiana/Indianapolis', 'America/Kentucky/Louisville',
  'Asia/Ho_Chi_Minh', 'Asia/Kathmandu', 'Asia/Kolkata', 'Asia/Yangon', 'Atlantic/Faroe', 'Europe/Kyiv', 'Pacific/Chuuk', 'Pacific/Kanton', 'Pacific/Pohnpei',
];

function isKnown(zone: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat('en-US', { timeZone: zone }));
  } catch {
    return false;
  }
}

/** Every zone that this browser knows, by name, UTC first. */
export function allZones(): string[] {
  const listed = new Set(Intl.supportedValuesOf('timeZone'));
  for (const zone of RENAMED) if (!listed.has(zone) && isKnown(zone)) listed.add(zone);
  listed.delete('UTC');
  return ['UTC', ...[...listed].sort()];
}

/** Small letters without accents, and all that parts words as a space. */
export const plain = (text: string): string =>
  text.normalize('NFD').replace(/\p{Mn}/gu, '').toLowerCase().replace(/[^a-z0-9+]+/g, ' ').trim();

/** How well it fits, less is better: the place begins so, some word begins so, it is somewhere. */
function rank(zone: string, sought: string): number | null {
  const name = plain(zone);
  if (!sought.split(' ').every((word) => name.includes(word))) return null;
  const place = plain(zone.split('/').at(-1) ?? zone);
  if (place.startsWith(sought)) return 0;
  return ` ${name}`.includes(` ${sought}`) ? 1 : 2;
}

/** The zones that have every word of `text` somewhere in their name, best first. */
export function findZones(zones: readonly string[], text: string): string[] {
  const sought = plain(text);
  if (!sought) return [...zones];
  return zones
    .map((zone) => ({ zone, fits: rank(zone, sought) }))
    .filter((each): each is { zone: string; fits: number } => each.fits !== null)
    .sort((a, b) => a.fits - b.fits)
    .map(({ zone }) => zone);
}

/** The zone that a typed text names, or the only one that it fits; otherwise the text itself, for the core to judge. */
export function zoneNamed(zones: readonly string[], text: string): string {
  const sought = plain(text);
  const named = zones.find((zone) => plain(zone) === sought);
  if (named) return named;
  const found = sought && !/[+\-−]\d/.test(text) ? findZones(zones, text) : [];
  return found.length === 1 && found[0] !== undefined ? found[0] : text.trim();
}

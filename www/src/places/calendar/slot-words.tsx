// Text in which the names of periods are not broken at their hyphens.

export function SlotWords({ text }: { text: string }) {
  return <>{text.split(/(\d{4}-\d\d(?:-\d\d)?)/).map((part, at) => (at % 2 ? <span key={at} class="whole">{part}</span> : part))}</>;
}

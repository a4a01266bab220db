export function Calendar() {
  return <div class="place"><header><h1>Calendar</h1></header></div>;
}

export function Clocks() {
  return <div class="place"><header><h1>Clocks</h1></header></div>;
}

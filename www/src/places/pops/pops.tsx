export function Pops() {
  return <div class="place"><header><h1>Pops</h1></header></div>;
}

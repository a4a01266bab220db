export function Live() {
  return <div class="place"><header><h1>Live</h1></header></div>;
}

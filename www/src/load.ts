// Fetches what lies beside the page: wasm files, and the style of a place that is opened later.

/** A file server that does not know the type of wasm is no reason to fail, or to warn. */
export async function wasmFile(name: string): Promise<Response | ArrayBuffer> {
  const response = await fetch(new URL(name, document.baseURI));
  if (!response.ok) throw new Error(`${name}: HTTP ${response.status}`);
  const isTyped = response.headers.get('content-type')?.startsWith('application/wasm');
  return isTyped ? response : response.arrayBuffer();
}

/** Does it once, and again only after it has failed. */
export function once<T>(work: () => Promise<T>): () => Promise<T> {
  let doing: Promise<T> | undefined;
  return () => {
    doing ??= work().catch((error: unknown) => {
      doing = undefined;
      throw error;
    });
    return doing;
  };
}

/** Adds a style sheet, and waits until it holds: nothing is drawn without it. */
export function styleSheet(name: string): Promise<void> {
  return new Promise((ready, failed) => {
    const link = document.createElement('link');
    link.rel = 'stylesheet';
    link.href = new URL(name, document.baseURI).href;
    link.addEventListener('load', () => ready());
    link.addEventListener('error', () => {
      link.remove();
      failed(new Error(`${name} could not be loaded`));
    });
    document.head.append(link);
  });
}

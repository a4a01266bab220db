// Fetches a wasm file that lies beside the page.

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

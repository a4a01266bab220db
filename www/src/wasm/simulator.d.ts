// The types behind the name `sluicegate-simulator`, for which the build puts the wasm-bindgen module of feature `page`.

export * from '../../../src/page/types';
export default function init(options: { module_or_path: Response | ArrayBuffer }): Promise<unknown>;

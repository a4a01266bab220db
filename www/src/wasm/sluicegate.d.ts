// The types behind the name `sluicegate-wasm`, for which the build puts the npm package for the web.

export * from '../../../src/web/types';
export default function init(options: { module_or_path: Response | ArrayBuffer }): Promise<unknown>;

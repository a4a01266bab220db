// uPlot in a figure: it follows the width, the theme and the data, and words say what it shows.

import uPlot from 'uplot';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { colours } from '../theme';

interface Props {
  /** What the picture shows, for whoever cannot see it. */
  label: string;
  height: number;
  /** Made anew when the theme changes; size is filled in. */
  options: () => Omit<uPlot.Options, 'width' | 'height'>;
  data: uPlot.AlignedData;
  /** Changes when `options` would give something else. */
  version?: string | number;
  children?: ComponentChildren;
}

export function Plot({ label, height, options, data, version = 0, children }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef(data);
  latest.current = data;

  useEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const width = () => Math.max(200, element.clientWidth);
    const made = new uPlot({ ...options(), width: width(), height }, latest.current, element);
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: width(), height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [version, height, colours.value]);

  useEffect(() => plot.current?.setData(data), [data]);

  return (
    <figure class="plot">
      <div ref={box} role="img" aria-label={label} />
      {children && <figcaption>{children}</figcaption>}
    </figure>
  );
}

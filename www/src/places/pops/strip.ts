// A lane's picture: what one point of presence let through and refused, and what was wrong with it, over true time.

import { colour } from '../../theme';
import { FLAGS, type PopColumns } from './history';

/** As the style sheet has it. */
const STRIP_PX = 40;
/** The band of its epochs, at the lower edge. */
const BAND_PX = 7;

interface Colours {
  admitted: string;
  refused: string;
  wrong: string;
  band: [string, string];
  mark: string;
}

export function stripColours(name: '--tolerant' | '--exact'): Colours {
  return { admitted: colour(name), refused: colour('--edge'), wrong: colour('--wrong'), band: [colour('--line'), colour('--edge')], mark: colour('--ink') };
}

/** Draws samples as they come, on a canvas as long as the run. */
export class Strip {
  #context: CanvasRenderingContext2D;
  #colours: Colours;
  #perSample: number;
  #ratio: number;
  #drawn = 0;
  /** What each pixel column holds so far: several samples can share one. */
  #column = { at: -1, admitted: 0, refused: 0, unavailable: 0 };

  constructor(canvas: HTMLCanvasElement, samples: number, colours: Colours) {
    this.#ratio = Math.max(1, devicePixelRatio);
    canvas.width = Math.max(1, Math.round(canvas.clientWidth * this.#ratio));
    canvas.height = STRIP_PX * this.#ratio;
    this.#context = canvas.getContext('2d')!;
    this.#colours = colours;
    this.#perSample = canvas.width / samples;
  }

  /** `most`: as many units in one sample fill the lane's height. */
  draw(pop: PopColumns, most: number): void {
    for (; this.#drawn < pop.admitted.length; this.#drawn += 1) this.#sample(pop, this.#drawn, most);
  }

  #sample(pop: PopColumns, index: number, most: number): void {
    const context = this.#context;
    const left = Math.floor(index * this.#perSample);
    const width = Math.max(1, Math.floor((index + 1) * this.#perSample) - left);
    if (left !== this.#column.at) this.#column = { at: left, admitted: 0, refused: 0, unavailable: 0 };
    const column = this.#column;
    column.admitted = Math.max(column.admitted, pop.admitted[index] ?? 0);
    column.refused = Math.max(column.refused, pop.refused[index] ?? 0);
    column.unavailable = Math.max(column.unavailable, pop.unavailable[index] ?? 0);

    const bottom = (STRIP_PX - BAND_PX - 1) * this.#ratio;
    const middle = Math.round(bottom * 0.56);
    context.clearRect(left, 0, width, bottom);
    const bar = (units: number, room: number) => (units === 0 ? 0 : Math.max(2 * this.#ratio, Math.round(Math.min(1, units / most) * room)));
    context.fillStyle = this.#colours.admitted;
    const up = bar(column.admitted, middle);
    context.fillRect(left, middle - up, width, up);
    context.fillStyle = this.#colours.refused;
    context.fillRect(left, middle + 1, width, bar(column.refused, bottom - middle - 1));
    if (column.unavailable) {
      context.fillStyle = this.#colours.wrong;
      context.fillRect(left, middle + 1, width, bar(column.unavailable, bottom - middle - 1));
    }
    this.#band(pop, index, left, width);
  }

  /** Its epoch, in two alternating shades; gaps and hatches where it is out of step. */
  #band(pop: PopColumns, index: number, left: number, width: number): void {
    const context = this.#context;
    const top = (STRIP_PX - BAND_PX) * this.#ratio;
    const height = BAND_PX * this.#ratio;
    const flags = pop.flags[index] ?? 0;
    const epoch = pop.epoch[index];
    context.clearRect(left, top, width, height);
    if (epoch !== null && epoch !== undefined && !(flags & FLAGS.gone)) {
      context.fillStyle = this.#colours.band[epoch % 2 === 0 ? 0 : 1];
      context.fillRect(left, top, width, height);
    }
    if (flags & FLAGS.cutOff) {
      context.fillStyle = this.#colours.wrong;
      context.fillRect(left, top, width, Math.round(height / 2));
    }
    if (flags & (FLAGS.clockFrozen | FLAGS.objectFrozen)) {
      context.fillStyle = this.#colours.mark;
      const half = Math.round(height / 2);
      if (Math.floor(left / (3 * this.#ratio)) % 2 === 0) context.fillRect(left, top + half, width, half);
    }
  }
}

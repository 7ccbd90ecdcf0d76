// Which things stand between two heights, without looking at all of them.

const SMALLEST = 512;

/**
 * Things in bins of doubling height, each in the smallest bin that holds it whole: as many entries as things, however
 * far they reach.
 */
export class Bins {
  /** @param reach gives [top, bottom] of a thing */
  constructor(things, reach) {
    this.levels = [];
    this.reach = reach;
    for (const thing of things) {
      const [top, bottom] = reach(thing);
      let size = SMALLEST;
      let level = 0;
      while (Math.floor(top / size) !== Math.floor(bottom / size) && level < 40) {
        size *= 2;
        level += 1;
      }
      while (this.levels.length <= level) this.levels.push(new Map());
      const at = Math.floor(top / size);
      const bin = this.levels[level].get(at);
      if (bin === undefined) this.levels[level].set(at, [thing]);
      else bin.push(thing);
    }
  }

  /** The things that reach into [top, bottom]. */
  between(top, bottom) {
    const things = [];
    this.levels.forEach((bins, level) => {
      const size = SMALLEST * 2 ** level;
      const [first, last] = [Math.floor(top / size), Math.floor(bottom / size)];
      const keys =
        last - first < bins.size ? range(first, last) : [...bins.keys()].filter((k) => k >= first && k <= last);
      for (const key of keys) {
        for (const thing of bins.get(key) ?? []) {
          const [from, to] = this.reach(thing);
          if (to >= top && from <= bottom) things.push(thing);
        }
      }
    });
    return things;
  }
}

function range(first, last) {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i);
}

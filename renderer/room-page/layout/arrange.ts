import { bestFit, capacity } from '../../kit/media/best-fit.ts'

/** Position of a tile, in CSS pixels from the area's corner. */
export interface Place {
  left: number
  top: number
  width: number
  height: number
}

/** Returns the style of an element at a position. */
export const placeStyle = ({ left, top, width, height }: Place): Record<string, string> => ({
  left: `${left}px`,
  top: `${top}px`,
  width: `${width}px`,
  height: `${height}px`,
})

/** Positions of all tiles. */
export interface Arrangement {
  places: Map<string, Place>
  /** Position of the number of hidden tiles; null: all are shown. */
  more: Place | null
  hidden: number
}

/** Aspect ratio of every tile. */
export const tileRatio = 16 / 9
const gap = 8
/** Size of the strip with the number of further tiles. */
const strip = { width: 240, height: 34 }
/** Minimum width of a tile: below it, faces cannot be recognised. */
const minTile = 132
/** Width of tiles beside the large one, and below it: three of them fit on an upright phone. */
const besideWidth = { least: 132, most: 240, share: 0.2 }
const belowWidth = { least: 100, most: 200, share: 0.3 }

/**
 * Arranges tiles in an area without scrolling: a grid of equal ones, or one large one with the others beside or below
 * it.
 * @param ids in order of importance: the last are hidden first
 * @param large id of the large tile; null: a grid
 * @param beyond number of further tiles that are never placed, only counted
 */
export function arrange(
  width: number,
  height: number,
  ids: readonly string[],
  large: string | null,
  beyond = 0,
): Arrangement {
  const hidden = ids.length + beyond
  if (ids.length === 0 || width <= 0 || height <= 0) return { places: new Map(), more: null, hidden }
  if (large === null || !ids.includes(large)) return grid({ left: 0, top: 0, width, height }, ids, beyond)
  const others = ids.filter((id) => id !== large)
  const whole = { left: 0, top: 0, width, height }
  if (others.length + beyond === 0) return { places: new Map([[large, whole]]), more: null, hidden: 0 }
  const beside = width >= height
  const { least, most, share } = beside ? besideWidth : belowWidth
  const small = Math.max(least, Math.min(most, width * share))
  const area = beside
    ? { left: width - small, top: 0, width: small, height }
    : { left: 0, top: height - small / tileRatio, width, height: small / tileRatio }
  const arranged = row(area, others, beyond, small, beside)
  arranged.places.set(
    large,
    beside ? { ...whole, width: width - small - gap } : { ...whole, height: height - small / tileRatio - gap },
  )
  return arranged
}

/** Arranges a grid; if some tiles are hidden, a strip below it shows their number. */
function grid(area: Place, ids: readonly string[], beyond: number): Arrangement {
  const fitting = capacity(area.width, area.height, tileRatio, gap, minTile, ids.length)
  if (beyond === 0 && fitting === ids.length) return { places: cells(area, ids), more: null, hidden: 0 }
  const height = area.height - strip.height - gap
  const shown = ids.slice(0, capacity(area.width, height, tileRatio, gap, minTile, ids.length))
  const width = Math.min(strip.width, area.width)
  const left = Math.round(area.left + (area.width - width) / 2)
  const places = cells({ ...area, height }, shown)
  const bottom = Math.max(area.top, ...Array.from(places.values(), (place) => place.top + place.height))
  return {
    places,
    more: { left, top: Math.floor(bottom + gap), width, height: strip.height },
    hidden: ids.length + beyond - shown.length,
  }
}

function cells(area: Place, ids: readonly string[]): Map<string, Place> {
  const { columns, rows, width, height } = bestFit(ids.length, area.width, area.height, tileRatio, gap)
  const top = area.top + (area.height - rows * height - (rows - 1) * gap) / 2
  return new Map(
    ids.map((id, index): [string, Place] => {
      const line = Math.floor(index / columns)
      // A shorter last line is centred.
      const inLine = Math.min(columns, ids.length - line * columns)
      const left = area.left + (area.width - inLine * width - (inLine - 1) * gap) / 2
      return [
        id,
        {
          left: Math.round(left + (index % columns) * (width + gap)),
          top: Math.round(top + line * (height + gap)),
          width,
          height,
        },
      ]
    }),
  )
}

function row(area: Place, ids: readonly string[], beyond: number, small: number, upright: boolean): Arrangement {
  const height = small / tileRatio
  const step = (upright ? height : small) + gap
  const most = Math.max(1, Math.floor(((upright ? area.height : area.width) + gap) / step))
  // One more place for the number of tiles that are only counted.
  const shown = Math.min(most, ids.length + (beyond > 0 ? 1 : 0))
  const start = ((upright ? area.height : area.width) - shown * step + gap) / 2
  const places = Array.from(
    { length: shown },
    (_, index): Place => ({
      left: Math.round(upright ? area.left : area.left + start + index * step),
      top: Math.round(upright ? area.top + start + index * step : area.top),
      width: Math.floor(small),
      height: Math.floor(height),
    }),
  )
  return assign(ids, beyond, places)
}

/** Assigns the places; if there are too few, the last one shows the number of hidden tiles. */
function assign(ids: readonly string[], beyond: number, places: readonly Place[]): Arrangement {
  const enough = beyond === 0 && places.length >= ids.length
  const shown = enough ? ids : ids.slice(0, places.length - 1)
  return {
    places: new Map(shown.flatMap((id, index) => (places[index] === undefined ? [] : [[id, places[index]]]))),
    more: enough ? null : (places.at(-1) ?? null),
    hidden: ids.length + beyond - shown.length,
  }
}

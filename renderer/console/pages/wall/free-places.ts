import {
  isOnGrid,
  placesOf,
  placesOverlap,
  type WallArrangement,
  wallCells,
  type WallPlace,
} from '../../../../shared/domain/wall-layout.ts'
import { limits } from '../../../../shared/limits.ts'

/** Sizes of a new place, in cells, largest first. */
const newSizes = [4, 3, 2, 1]

/** Replaces a place; undefined if the new one exceeds the grid or overlaps another. */
export function withPlace(places: readonly WallPlace[], index: number, place: WallPlace): WallPlace[] | undefined {
  if (!isOnGrid(place) || places.some((other, at) => at !== index && placesOverlap(other, place))) return undefined
  return places.with(index, place)
}

/** Adds a place; undefined if there is no space. */
export function withNewPlace(places: readonly WallPlace[]): WallPlace[] | undefined {
  if (places.length >= limits.wallTiles) return undefined
  for (const size of newSizes) {
    for (let y = 0; y + size <= wallCells; y++) {
      for (let x = 0; x + size <= wallCells; x++) {
        const place = { x, y, w: size, h: size }
        if (!places.some((other) => placesOverlap(other, place))) return [...places, place]
      }
    }
  }
  return undefined
}

/** Returns the initial places of a free layout: the present ones, or equal ones for a number of tiles. */
export function initialPlaces(arrangement: WallArrangement, tiles: number): WallPlace[] {
  if (arrangement.places.length > 0) return arrangement.places
  const present = placesOf(arrangement)
  if (present !== undefined && present.length > 0) return [...present]
  const columns = [1, 2, 3, 4].find((count) => count * count >= tiles) ?? 6
  const size = wallCells / columns
  return Array.from({ length: columns * columns }, (_, index) => ({
    x: (index % columns) * size,
    y: Math.floor(index / columns) * size,
    w: size,
    h: size,
  }))
}

const arrows: Readonly<Record<string, readonly [across: number, down: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
}

/** Returns the direction of an arrow key in steps across and down; undefined for other keys. */
export function arrowOf(key: string): readonly [across: number, down: number] | undefined {
  return arrows[key]
}

/** Returns the index of the nearest tile in the direction of an arrow key; undefined: none. */
export function nextInDirection(places: readonly WallPlace[], from: number, key: string): number | undefined {
  const start = places[from]
  const arrow = arrowOf(key)
  if (start === undefined || arrow === undefined) return undefined
  const [across, down] = arrow
  let nearest: number | undefined
  let least = Number.POSITIVE_INFINITY
  for (const [index, place] of places.entries()) {
    const right = place.x + place.w / 2 - start.x - start.w / 2
    const below = place.y + place.h / 2 - start.y - start.h / 2
    const along = right * across + below * down
    // Lateral distance counts double, so that a tile in the same row precedes a diagonal one.
    const aside = Math.abs(right * down) + Math.abs(below * across)
    if (along <= 0 || along + 2 * aside >= least) continue
    least = along + 2 * aside
    nearest = index
  }
  return nearest
}
